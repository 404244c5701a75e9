import type { PersistentVolumeClaim } from 'kubernetes-types/core/v1.js';
import { persistentVolumeClaims, persistentVolumes, type Kube } from '../../../kube/api/resources.ts';
import type { Client } from '../../../kube/client/client.ts';

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
