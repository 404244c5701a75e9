import assert from 'node:assert/strict';
import type { StatefulSetSpec, StatefulSetStatus } from 'kubernetes-types/apps/v1.js';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import type { Claim, Pod, StatefulSet } from '../../../../controllers/statefulset/types.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { persistentVolumeClaims, statefulSets } from '../../../../kube/api/resources.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { controllerOf } from '../../../../kube/controller/owner-refs.ts';
import { Stage as Cluster } from '../daemonset/stage.ts';
import { isDecided } from '../world.ts';
import type { Revision, World } from '../world.ts';
import { claimsOf, setsOf } from '../../../suites/real/cluster/set-world.ts';

export interface SetOptions {
  /** @default 'web' */
  name?: string;
  /** @default 'app:1' */
  image?: string;
  /** @default 3 */
  replicas?: number;
  /** Pods at once instead of one by one. */
  parallel?: boolean;
  /** Names of claim templates. The pods then need no scheduler. */
  claims?: readonly string[];
  /** Merged over the template's pod spec. */
  pod?: Partial<PodSpec>;
  /** Of the template, besides what sets are known by. */
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  spec?: Partial<Omit<StatefulSetSpec, 'template' | 'selector'>>;
}

/** Counters of a status, by short names. */
export interface Figures {
  replicas?: number;
  ready?: number;
  current?: number;
  updated?: number;
}

const QUIET_MS = 1_000;
const WITHIN_MS = 90_000;

/** A namespace and a node of a story's own, and what an admin does with StatefulSets there. Every write is in the caches when its call returns. */
export class Stage {
  readonly name: string;
  readonly notes: string[] = [];
  /** Pods that were made and that are gone, in their order: `made web-0`. */
  readonly events: string[] = [];
  readonly client: Client;
  readonly cluster: Cluster;
  readonly #world: World;
  readonly #watch: { remove(): void };

  static async open(world: World, name: string): Promise<Stage> {
    const stage = new Stage(world, await Cluster.open(world, name));
    await stage.cluster.nodes(1);
    return stage;
  }

  private constructor(world: World, cluster: Cluster) {
    this.#world = world;
    this.cluster = cluster;
    this.client = world.client;
    this.name = cluster.name;
    const tell = (what: string) => (pod: Readonly<Pod>) => {
      if (pod.metadata.namespace === this.name) this.events.push(`${what} ${pod.metadata.name}`);
    };
    this.#watch = world.pods.addHandlers(`stage ${this.name}`, { added: tell('made'), deleted: tell('gone') });
  }

  close(): void {
    this.#watch.remove();
  }

  note(text: string): void {
    this.notes.push(text);
  }

  // Sets

  create(options: SetOptions = {}): Promise<StatefulSet> {
    return this.createSet(this.manifest(options));
  }

  async createSet(set: StatefulSet): Promise<StatefulSet> {
    return this.#written(await this.client.create<StatefulSet>(statefulSets, set));
  }

  manifest({
    name = 'web',
    image = 'app:1',
    replicas = 3,
    parallel,
    claims = [],
    pod = {},
    labels = {},
    annotations,
    spec = {},
  }: SetOptions = {}): StatefulSet {
    const app = this.cluster.appLabels(name);
    const here = claims.length === 0 ? { nodeSelector: { story: this.name } } : { nodeName: this.cluster.node(0) };
    return {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace: this.name, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        replicas,
        serviceName: name,
        ...(parallel === true ? { podManagementPolicy: 'Parallel' } : {}),
        selector: { matchLabels: app },
        ...(claims.length === 0 ? {} : { volumeClaimTemplates: claims.map(claimTemplate) }),
        ...spec,
        template: {
          metadata: { labels: { ...app, ...labels } },
          spec: { terminationGracePeriodSeconds: 5, ...here, ...pod, containers: [{ name: 'main', image }] },
        },
      },
    };
  }

  async patch(patch: unknown, name = 'web', type: 'strategic' | 'merge' = 'strategic'): Promise<StatefulSet> {
    const ref = { name, namespace: this.name };
    return this.#written(await this.client.patch<StatefulSet>(statefulSets, ref, patch, { type }));
  }

  image(image: string, name = 'web'): Promise<StatefulSet> {
    return this.patch({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } }, name);
  }

  scale(replicas: number, name = 'web'): Promise<StatefulSet> {
    return this.patch({ spec: { replicas } }, name);
  }

  partition(partition: number, name = 'web'): Promise<StatefulSet> {
    return this.patch({ spec: { updateStrategy: { rollingUpdate: { partition } } } }, name);
  }

  /** Something that changes nothing, and makes controllers look at the set. Revisions have the annotations of their set: so a label. */
  nudge(look = 'again', name = 'web'): Promise<StatefulSet> {
    return this.patch({ metadata: { labels: { look } } }, name);
  }

  async remove(propagationPolicy: 'Background' | 'Foreground' | 'Orphan', name = 'web'): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
    await this.client.delete(statefulSets, { name, namespace: this.name }, { body });
    await this.until(`set ${name} is gone`, () => setsOf(this.#world).get(`${this.name}/${name}`) === undefined);
  }

  set(name = 'web'): Readonly<StatefulSet> {
    const set = setsOf(this.#world).get(`${this.name}/${name}`);
    assert.ok(set, `there is no set ${name}`);
    return set;
  }

  // Pods, revisions and claims

  pods(): Readonly<Pod>[] {
    return this.cluster.pods();
  }

  /** Those that the set owns. */
  own(name = 'web'): Readonly<Pod>[] {
    const { uid } = this.set(name).metadata;
    return this.pods().filter((pod) => controllerOf(pod)?.uid === uid);
  }

  pod(ordinal: number, name = 'web'): Readonly<Pod> {
    const pod = this.pods().find(({ metadata }) => metadata.name === `${name}-${ordinal}`);
    assert.ok(pod, `there is no pod ${name}-${ordinal}`);
    return pod;
  }

  /** A pod as somebody would make it by hand, on the node of the story. */
  byHand(name: string, labels = this.cluster.appLabels('web')): Promise<Pod> {
    const spec = { nodeName: this.cluster.node(0), containers: [{ name: 'main', image: 'app:0' }], terminationGracePeriodSeconds: 5 };
    return this.cluster.createPod({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: this.name, labels }, spec });
  }

  patchPod(pod: Readonly<Pod>, patch: unknown): Promise<void> {
    return this.cluster.patchPod(pod, patch);
  }

  /** See `test/support/hollow/behaviour.ts`. */
  behave(pod: Readonly<Pod>, text: string | undefined): Promise<void> {
    return this.cluster.behave(pod, text);
  }

  /** Until it is gone. */
  async deletePod(pod: Readonly<Pod>): Promise<void> {
    await this.cluster.deletePod(pod);
    await this.until(`${pod.metadata.name} is gone`, () => this.cluster.isGone(pod));
  }

  /** Until there is another in its place: what is shown until then may be what was shown before. */
  async replacePod(pod: Readonly<Pod>): Promise<void> {
    await this.cluster.deletePod(pod);
    await this.replaced(pod);
  }

  /** Until there is another in the place of `pod`. */
  replaced(pod: Readonly<Pod>): Promise<void> {
    const { name, uid } = pod.metadata;
    return this.until(`${name} is replaced`, () => this.pods().some(({ metadata }) => metadata.name === name && metadata.uid !== uid));
  }

  revisions(): Readonly<Revision>[] {
    return this.cluster.revisions();
  }

  claims(): Readonly<Claim>[] {
    return claimsOf(this.#world).list(this.name);
  }

  /** By force: as if nothing used it any more. */
  async deleteClaim(name: string): Promise<void> {
    const ref = { name, namespace: this.name };
    const uid = this.claims().find(({ metadata }) => metadata.name === name)?.metadata.uid;
    await this.client.delete(persistentVolumeClaims, ref);
    await this.client.patch(persistentVolumeClaims, ref, { metadata: { uid, finalizers: null } }, { type: 'merge' });
    await this.until(`claim ${name} is gone`, () => this.claims().every(({ metadata }) => metadata.uid !== uid));
  }

  // Waiting

  /** Looks at each change; @throws after 90 s, naming `what` and how things stand */
  async until(what: string, holds: () => boolean): Promise<void> {
    for (const end = performance.now() + WITHIN_MS; !holds();) {
      if (performance.now() > end) throw new Error(`${this.name}: it did not happen: ${what}; ${this.#situation()}`);
      await this.#world.changed(this.name, 1_000);
    }
  }

  /** The set's status says so, for its present generation; and then nothing changes for a while. */
  async shows(figures: Figures, name = 'web'): Promise<void> {
    await this.#comesTo(`${name} shows ${JSON.stringify(figures)}`, () => {
      const seen = figuresOf(this.#current(name));
      return seen !== undefined && Object.entries(figures).every(([field, value]) => seen[field as keyof Figures] === value);
    });
  }

  /** All of the set's pods are of its template and ready, none is left that ends, and the rollout counts as complete. */
  async rolledOut(name = 'web'): Promise<void> {
    await this.#comesTo(`${name} is rolled out`, () => {
      const status = this.#current(name);
      const { replicas, ready, current, updated } = figuresOf(status) ?? {};
      const wanted = this.set(name).spec?.replicas;
      const isComplete = status?.currentRevision === status?.updateRevision && replicas === wanted && ready === wanted;
      return isComplete && current === wanted && updated === wanted && this.own(name).length === wanted;
    });
  }

  /** It holds when nothing changes any more: before, a status may say so that is about to change. */
  async #comesTo(what: string, holds: () => boolean): Promise<void> {
    do {
      await this.until(what, holds);
      await this.quiet();
    } while (!holds());
  }

  /** Nothing changes for a while, every set that stays has been looked at since its last change, and no pod waits for a first word of its scheduler. */
  async quiet(): Promise<void> {
    const isCurrent = () => {
      if (!this.pods().every(isDecided)) return false;
      const sets = setsOf(this.#world).list(this.name);
      return sets.every(
        ({ metadata: { generation, deletionTimestamp }, status }) =>
          deletionTimestamp !== undefined || status?.observedGeneration === generation,
      );
    };
    for (const end = performance.now() + WITHIN_MS; ;) {
      if ((await this.#world.isQuiet(this.name, QUIET_MS)) && isCurrent()) return;
      if (performance.now() > end) throw new Error(`${this.name}: it does not come to rest; ${this.#situation()}`);
    }
  }

  #current(name: string): Readonly<StatefulSetStatus> | undefined {
    const { metadata, status } = this.set(name);
    return status?.observedGeneration === metadata.generation ? status : undefined;
  }

  #situation(): string {
    const sets = setsOf(this.#world)
      .list(this.name)
      .map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(status)}`);
    const pods = this.pods().map(
      ({ metadata, status }) => `${metadata.name} ${status?.phase}${metadata.deletionTimestamp === undefined ? '' : ' ending'}`,
    );
    return [...sets, ...pods].join(', ');
  }

  async #written<T extends KubeObject>(set: T): Promise<T> {
    await this.#world.hasSeen(statefulSets, set);
    return set;
  }
}

function figuresOf(status: Readonly<StatefulSetStatus> | undefined): Required<Figures> | undefined {
  if (status === undefined) return undefined;
  const { replicas, readyReplicas: ready = 0, currentReplicas: current = 0, updatedReplicas: updated = 0 } = status;
  return { replicas, ready, current, updated };
}

const claimTemplate = (name: string): Claim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'any', resources: { requests: { storage: '1Gi' } } },
});
