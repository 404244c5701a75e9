import type { PersistentVolumeClaim, PodStatus } from 'kubernetes-types/core/v1.js';
import { type Clock, type Millis, rfc3339 } from '../../../base/clock.ts';
import type { Pod } from '../../../controllers/common/types.ts';
import { type Kube, persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/api/object.ts';
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

/** What provides volumes to a demo, and grows them: each claim gets a volume of its own at once, and more room as soon as it asks for it. */
export class PlayedStorage {
  readonly #client: Pick<Client, 'create' | 'patch'>;
  /** By UID of the claim, how much it was given. */
  readonly #given = new Map<string, string>();

  constructor(client: Pick<Client, 'create' | 'patch'>) {
    this.#client = client;
  }

  /** For each write of a claim. Should a write of its own fail, the story waits for its claim in vain, and says so. */
  see(claim: Kube<PersistentVolumeClaim>): void {
    const { uid = '' } = claim.metadata;
    const storage = claim.spec?.resources?.requests?.['storage'] ?? '';
    if (this.#given.get(uid) === storage) return;
    const isNew = !this.#given.has(uid);
    this.#given.set(uid, storage);
    (isNew ? this.#provide(claim, storage) : this.#grow(claim, storage)).catch(() => {});
  }

  async #provide({ metadata, spec }: Kube<PersistentVolumeClaim>, storage: string): Promise<void> {
    const { name = '', namespace = '', uid = '' } = metadata;
    const volume = `pv-${name}`;
    await this.#client.create(persistentVolumes, {
      metadata: { name: volume },
      spec: {
        capacity: { storage },
        accessModes: spec?.accessModes,
        storageClassName: spec?.storageClassName,
        claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid },
        csi: { driver: 'demo.dkc.dev', volumeHandle: volume },
      },
    });
    await this.#client.patch(
      persistentVolumeClaims,
      { name, namespace },
      { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }, spec: { volumeName: volume } },
      { type: 'merge' },
    );
    await this.#report(name, namespace, storage);
  }

  async #grow({ metadata: { name = '', namespace = '' } }: Kube<PersistentVolumeClaim>, storage: string): Promise<void> {
    await this.#client.patch(persistentVolumes, { name: `pv-${name}` }, { spec: { capacity: { storage } } }, { type: 'merge' });
    await this.#report(name, namespace, storage);
  }

  async #report(name: string, namespace: string, storage: string): Promise<void> {
    const status = { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage } };
    await this.#client.patch(persistentVolumeClaims, { name, namespace }, { status }, { type: 'merge', subresource: 'status' });
  }
}
