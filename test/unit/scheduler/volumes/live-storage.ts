import { eventually } from '../../../support/eventually.ts';
import { RealTime } from '../../../support/real-time.ts';
import type { TestContext } from 'node:test';
import type { LocalApi } from '../../../../apiserver/local-api.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { type KubeObject, nodes, persistentVolumeClaims, persistentVolumes, type Resource } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import { Informers } from '../../../../kube/cache/informers.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { Claim, ClusterEvent, Node, Volume } from '../../../../scheduler/types.ts';
import { type PodInfo, podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { ClaimBinder } from '../../../../scheduler/volumes/bind.ts';
import type { VolumeDecision } from '../../../../scheduler/volumes/contract.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { CachedStorage, servedStorageKinds, type StorageCaches, storageCachesOf } from '../../../../scheduler/volumes/view.ts';
import type { PodBuilder } from '../builders.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

/** Storage on the embedded API server: the caches, the binder, and (when asked) someone who makes volumes and binds claims, as kube-controller-manager does. */
export class LiveStorage {
  readonly api: LocalApi;
  readonly client: Client;
  readonly caches: StorageCaches;
  readonly view: CachedStorage;
  readonly binder: ClaimBinder;
  readonly #time = new RealTime();
  /** What the binder gave back. */
  readonly freed: ClusterEvent[] = [];
  /** Where the provisioner puts volumes: the zone by which they are reached; undefined: it gives the node up. */
  zoneOfMade: string | undefined = 'a';
  readonly #nodes: { get(name: string): Readonly<Node> | undefined };
  readonly #over = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  private constructor(api: LocalApi, client: Client, wrapped: Client, informers: Informers, caches: StorageCaches, timeoutMs: number) {
    this.api = api;
    this.client = client;
    this.caches = caches;
    const nodeCache = informers.of<Node>(nodes);
    this.#nodes = nodeCache;
    this.view = new CachedStorage(caches, () => []);
    const { claims, volumes } = caches;
    this.binder = new ClaimBinder({
      client: wrapped,
      view: this.view,
      caches: { claims, volumes, nodes: nodeCache },
      clock: this.#time,
      timeoutMs,
      freed: (event) => this.freed.push(event),
    });
    this.#running.push(informers.run(this.#over.signal));
  }

  static async start(
    t: TestContext,
    { timeoutMs = 60_000, binds = true, wrap = (client: Client): Client => client } = {},
  ): Promise<LiveStorage> {
    const api = localApi(realClock);
    const client = localClient(api);
    const informers = new Informers({ client, clock: realClock, random: seededRandom(2), log: silentLog, frozen: true });
    const caches = storageCachesOf(informers, await servedStorageKinds(client));
    const world = new LiveStorage(api, client, wrap(client), informers, caches, timeoutMs);
    t.after(() => world.#stop());
    await informers.whenSynced(world.#over.signal);
    if (binds) world.#bindClaims();
    return world;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Adds objects as they are, waits until the caches show them, and says of volumes that they are free. */
  async add(...manifests: readonly Manifest[]): Promise<void> {
    const cacheOf: Record<string, { get(key: string): unknown } | undefined> = {
      PersistentVolume: this.caches.volumes,
      PersistentVolumeClaim: this.caches.claims,
      StorageClass: this.caches.classes,
      Node: this.#nodes,
    };
    for (const manifest of manifests) {
      const { kind } = manifest;
      const { metadata } = this.api.add(manifest);
      const cache = cacheOf[kind];
      if (kind === 'PersistentVolume') await this.#status(persistentVolumes, { metadata }, { phase: 'Available' });
      await this.until(`${kind} ${metadata.name} is seen`, () => {
        const seen = cache?.get(objectKey({ metadata })) as Volume | undefined;
        return seen !== undefined && (kind !== 'PersistentVolume' || seen.status?.phase === 'Available');
      });
    }
  }

  /** What the rules decide for the pod on the node. */
  decide(of: PodBuilder, node: string): { pod: PodInfo; decision: VolumeDecision } {
    const pod = podInfoOf(of.build());
    const needs = volumeRules.needs(pod, this.view);
    const found = this.#nodes.get(node);
    if (needs === undefined || found === undefined) throw new RangeError('nothing to decide');
    if ('reasons' in needs) throw new RangeError(needs.reasons.join());
    const on = { node: found, pods: [] };
    const refused = volumeRules.filter(needs, on, this.view);
    if (refused !== undefined) throw new RangeError(refused.reasons.join());
    return { pod, decision: volumeRules.decide(needs, on, this.view) };
  }

  claim(name: string): Claim {
    return this.#stored(persistentVolumeClaims, `default/${name}`) as Claim;
  }

  volume(name: string): Volume {
    return this.#stored(persistentVolumes, name) as Volume;
  }

  async until(what: string, holds: () => boolean, timeoutMs = 60_000): Promise<void> {
    await eventually(what, holds, timeoutMs);
  }

  /** How many of the binder's wait for time to pass. */
  get sleepers(): number {
    return this.#time.sleepers;
  }

  #stored({ resource }: Resource, key: string): KubeObject {
    const found = this.api.hooks.storage.get(`/${resource}`, key);
    if (found === undefined) throw new Error(`there is no ${resource} ${key}`);
    return found;
  }

  /** Somebody else's controllers, in their shortest form. */
  #bindClaims(): void {
    const { claims, volumes } = this.caches;
    const look = (): void => {
      for (const claim of claims.list()) {
        if (claim.spec?.volumeName) continue;
        const volume = volumes.list().find(({ spec }) => spec?.claimRef?.uid === claim.metadata.uid);
        const node = claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];
        if (volume) this.#running.push(this.#bind(claim, volume).catch(() => {}));
        else if (node !== undefined) this.#running.push(this.#make(claim).catch(() => {}));
      }
    };
    claims.addHandlers('controllers', { added: look, updated: look });
    volumes.addHandlers('controllers', { added: look, updated: look });
  }

  async #bind({ metadata }: Readonly<Claim>, volume: Readonly<Volume>): Promise<void> {
    const volumeName = volume.metadata.name;
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
    await this.client.patch(
      persistentVolumeClaims,
      refOf(metadata),
      { metadata: { annotations }, spec: { volumeName } },
      { type: 'merge' },
    );
    await this.#status(persistentVolumeClaims, { metadata }, { phase: 'Bound' });
    await this.#status(persistentVolumes, volume, { phase: 'Bound' });
  }

  async #make({ metadata, spec }: Readonly<Claim>): Promise<void> {
    if (this.zoneOfMade === undefined) {
      const annotations = { 'volume.kubernetes.io/selected-node': null };
      await this.client.patch(persistentVolumeClaims, refOf(metadata), { metadata: { annotations } }, { type: 'merge' });
      return;
    }
    const matchExpressions = [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [this.zoneOfMade] }];
    await this.client.create<Volume>(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `made-for-${metadata.name}` },
      spec: {
        accessModes: spec?.accessModes ?? [],
        capacity: { storage: spec?.resources?.requests?.['storage'] ?? '1Gi' },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...refOf(metadata), uid: metadata.uid ?? '' },
        storageClassName: spec?.storageClassName ?? '',
        csi: { driver: 'driver', volumeHandle: metadata.uid ?? '' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
  }

  async #status(resource: Resource, { metadata }: Pick<KubeObject, 'metadata'>, status: object): Promise<void> {
    await this.client.patch(resource, refOf(metadata), { status }, { type: 'merge', subresource: 'status' });
  }

  async #stop(): Promise<void> {
    this.#over.abort(new Error('over'));
    await Promise.allSettled(this.#running);
    await this.client.close();
    this.api.stop();
  }
}

function refOf({ name = '', namespace }: KubeObject['metadata']): { name: string; namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace };
}

/** As people write them. */
type Manifest = Record<string, unknown> & { kind: string };

export const liveVolume = (name: string, more: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, storageClassName: 'late', hostPath: { path: '/data' }, ...more },
});

export const liveClaim = (name: string, more: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'late', ...more },
});

export const liveClass = (provisioner = 'kubernetes.io/no-provisioner'): Manifest => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'late' },
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
});

export const liveNode = (name: string, zone: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
});
