import type { PersistentVolumeClaim, PodStatus } from 'kubernetes-types/core/v1.js';
import { type Clock, type Millis, rfc3339 } from '../../../base/clock.ts';
import type { Pod } from '../../../controllers/common/types.ts';
import { type Kube, persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';

/** Time from the binding of a pod until its containers run or fail to start. */
const START_MS: Millis = 300;
/** Suffix of images that fake nodes cannot pull. */
export const MISSING_TAG = ':missing';

/** Fake kubelets, as far as pods need them: a bound pod runs a moment later, or waits for an image that does not exist. */
export class PlayedPods {
  readonly #client: Pick<Client, 'patch'>;
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  /** UIDs of pods seen on a node. A demo has a few hundred. */
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
      // A pod that is deleted by now needs no status. After any other failed write the scenario times out waiting for the pod, and reports this.
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

/** Fake volume provisioner and resizer: each claim gets its volume at once, and more capacity as soon as it requests more. */
export class PlayedStorage {
  readonly #client: Pick<Client, 'create' | 'patch'>;
  /** Capacity given to each claim, by UID. */
  readonly #given = new Map<string, string>();

  constructor(client: Pick<Client, 'create' | 'patch'>) {
    this.#client = client;
  }

  /** Called for each write of a claim. If one of the writes here fails, the scenario times out waiting for the claim, and reports this. */
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
