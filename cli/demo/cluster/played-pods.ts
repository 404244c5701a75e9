import type { PodStatus } from 'kubernetes-types/core/v1.js';
import type { Clock, Millis } from '../../../base/clock.ts';
import { rfc3339 } from '../../../base/clock.ts';
import type { Pod } from '../../../controllers/daemonset/types.ts';
import { pods } from '../../../kube/api/resources.ts';
import type { Client } from '../../../kube/client/client.ts';

/** From the moment a pod has a node to the moment its containers run, or fail to. */
const START_MS: Millis = 300;
/** An image that no played node can pull ends with it. */
export const MISSING_TAG = ':missing';

/** The kubelets of a demo, as far as pods need them: a pod that has a node runs a moment later, or waits for an image that is not there. */
export class PlayedPods {
  readonly #client: Pick<Client, 'patch'>;
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  /** By UID, those that were seen on a node. A demo has some hundred. */
  readonly #known = new Set<string>();

  constructor(client: Pick<Client, 'patch'>, clock: Pick<Clock, 'now' | 'after'>) {
    this.#client = client;
    this.#clock = clock;
  }

  see({ metadata, spec }: Pod): void {
    const { uid = '', name = '', namespace = '' } = metadata;
    if ((spec?.nodeName ?? '') === '' || this.#known.has(uid)) return;
    this.#known.add(uid);
    this.#clock.after(START_MS, () => {
      const status = statusOf(spec?.containers ?? [], rfc3339(this.#clock.now()));
      // A pod that is gone by now needs no status. Should another write fail, the story waits for its pod in vain, and says so.
      this.#client
        .patch(pods, { name, namespace }, { metadata: { uid }, status }, { type: 'merge', subresource: 'status' })
        .catch(() => {});
    });
  }
}

function statusOf(containers: readonly { name: string; image?: string }[], at: string): PodStatus {
  const runs = containers.every(({ image = '' }) => !image.endsWith(MISSING_TAG));
  const condition = (type: string, holds: boolean) => ({ type, status: holds ? 'True' : 'False', lastTransitionTime: at });
  return {
    phase: runs ? 'Running' : 'Pending',
    startTime: at,
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', runs),
      condition('Ready', runs),
    ],
    containerStatuses: containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      ready: runs,
      started: runs,
      restartCount: 0,
      state: runs
        ? { running: { startedAt: at } }
        : { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } },
    })),
  };
}
