import assert from 'node:assert/strict';
import type { Taint } from 'kubernetes-types/core/v1.js';
import type { Millis } from '../../../base/clock.ts';
import type { Pod } from '../../../controllers/common/types.ts';
import { controllerRevisions, coreEvents, type KubeObject, namespaces, nodes, pods, type Resource } from '../../../kube/api/object.ts';
import type { Informer } from '../../../kube/cache/contract.ts';
import type { Client, PatchType } from '../../../kube/client/client.ts';
import { type HollowNode, hollowNodes } from '../hollow/hollow-node.ts';
import { behave } from '../hollow/hollow-nodes.ts';
import { isDecided, type Revision, type World } from './world.ts';

/** What a stage reads of a DaemonSet or StatefulSet. */
export interface WorkloadSet extends KubeObject {
  status?: { observedGeneration?: number; conditions?: { type: string; status: string; reason?: string }[] };
}

/** What a kind of workload brings to its stage. */
export interface Kind<S extends WorkloadSet> {
  resource: Resource;
  cache(world: World): Informer<S>;
  /** This long nothing may change for a step to be over. */
  quietMs: Millis;
}

const WITHIN_MS: Millis = 90_000;

/**
 * A namespace and nodes for one story, and what an admin does there with sets of one kind. Every write is in the caches when its call returns.
 */
export abstract class Stage<S extends WorkloadSet> {
  readonly name: string;
  /** What the story itself found out, for the comparison. */
  readonly notes: string[] = [];
  readonly client: Client;
  protected readonly world: World;
  readonly #kind: Kind<S>;

  protected constructor(world: World, name: string, kind: Kind<S>) {
    this.world = world;
    this.client = world.client;
    this.name = name;
    this.#kind = kind;
  }

  protected async makeNamespace(): Promise<void> {
    await this.client.create<KubeObject>(namespaces, { metadata: { name: this.name } });
  }

  /** No more is noted after this. */
  close(): void {}

  note(text: string): void {
    this.notes.push(text);
  }

  // Nodes

  node(n: number): string {
    return `${this.name}-${n}`;
  }

  /** Makes nodes number 0 and up. */
  async nodes(count: number, over: Omit<HollowNode, 'name'> = {}, from = 0): Promise<void> {
    const labels = { story: this.name, ...over.labels };
    await this.world.fleet.add(hollowNodes(from + count, this.name, { ...over, labels }).slice(from));
  }

  async removeNode(n: number): Promise<void> {
    await this.world.fleet.remove([this.node(n)]);
  }

  async label(n: number, labels: Record<string, string | null>): Promise<void> {
    await this.#patchNode(n, { metadata: { labels } });
  }

  /** Gives the node these taints, and no others: `KEY=VALUE:EFFECT` or `KEY:EFFECT`. */
  async taint(n: number, ...texts: string[]): Promise<void> {
    await this.#patchNode(n, { spec: { taints: texts.length === 0 ? null : texts.map(taintOf) } });
  }

  async cordon(n: number, unschedulable = true): Promise<void> {
    await this.#patchNode(n, { spec: { unschedulable } });
  }

  /** Its kubelet does nothing any more, or works again. Resolves once the kubelets know: of pods they may learn sooner. */
  async kubelet(n: number, what: 'dead' | 'alive'): Promise<void> {
    await this.#patchNode(n, behave(what === 'dead' ? what : undefined));
    const { fleet, clock } = this.world;
    for (const end = clock.monotonic() + WITHIN_MS; fleet.isDead(this.node(n)) !== (what === 'dead');) {
      if (clock.monotonic() > end) throw new Error(`the kubelet of ${this.node(n)} is not ${what}`);
      await this.world.changed(this.name, 20);
    }
  }

  async #patchNode(n: number, patch: unknown): Promise<void> {
    await this.client.patch(nodes, { name: this.node(n) }, patch, { type: 'merge' });
  }

  // Sets

  async createSet(set: S): Promise<S> {
    return this.#written(this.#kind.resource, await this.client.create<S>(this.#kind.resource, set));
  }

  /**
   * What a set is known by. With the story in it: a kube-controller-manager of 1.20 takes revisions without an owner for its sets' in whichever namespace
   * they are, when their labels match.
   */
  appLabels(name: string): Record<string, string> {
    return { app: name, story: this.name };
  }

  /**
   * Something that changes nothing, and makes controllers look at the set. Revisions have the annotations of their set: so a
   * label. Later kube-controller-managers look at a DaemonSet whose node changes only where a pod is to be made or deleted.
   */
  nudge(look = 'again', name = 'web'): Promise<S> {
    return this.patch({ metadata: { labels: { look } } }, name);
  }

  async patch(patch: unknown, name = 'web', type: PatchType = 'strategic'): Promise<S> {
    const { resource } = this.#kind;
    return this.#written(resource, await this.client.patch<S>(resource, { name, namespace: this.name }, patch, { type }));
  }

  image(image: string, name = 'web'): Promise<S> {
    return this.patch({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } }, name);
  }

  /** Gives it another image, and waits until it is rolled out. */
  async rolls(image: string, name = 'web'): Promise<void> {
    await this.image(image, name);
    await this.rolledOut(name);
  }

  /** As `kubectl rollout undo --to-revision=N` does: the revision's data is a patch of the set. */
  async undo(revision: number): Promise<void> {
    const found = this.revisions().find((one) => one.revision === revision);
    assert.ok(found, `there is no revision ${revision}`);
    await this.patch(found.data);
  }

  /** All of the set's pods are of its template and serve, and none is left that ends. */
  abstract rolledOut(name?: string): Promise<void>;

  /** Sets our annotations, `dkc.dev/NAME`; null takes one away. */
  annotate(values: Record<string, string | null>, name = 'web'): Promise<S> {
    const annotations = Object.fromEntries(Object.entries(values).map(([key, value]) => [`dkc.dev/${key}`, value]));
    return this.patch({ metadata: { annotations } }, name, 'merge');
  }

  /** Resolves once a condition of the set reads so: `Stalled True NotReady`. */
  async condition(text: string, name = 'web'): Promise<void> {
    const [type, ...rest] = text.split(' ');
    await this.until(`${name} says ${text}`, () => {
      const { conditions = [] } = this.status(name) ?? {};
      return conditions.some((one) => one.type === type && `${one.status} ${one.reason}` === rest.join(' '));
    });
  }

  /** Image of each pod that is not terminating, by the pods' nodes and names. */
  images(): string[] {
    return this.pods()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .toSorted((a, b) => byPlace(a).localeCompare(byPlace(b)))
      .map(({ spec }) => spec?.containers[0]?.image ?? '');
  }

  async remove(propagationPolicy: 'Background' | 'Foreground' | 'Orphan', name = 'web'): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
    await this.client.delete(this.#kind.resource, { name, namespace: this.name }, { body });
    await this.until(`set ${name} is gone`, () => this.#sets.get(`${this.name}/${name}`) === undefined);
  }

  get #sets(): Informer<S> {
    return this.#kind.cache(this.world);
  }

  sets(): Readonly<S>[] {
    return this.#sets.list(this.name);
  }

  set(name = 'web'): Readonly<S> {
    const set = this.#sets.get(`${this.name}/${name}`);
    assert.ok(set, `there is no set ${name}`);
    return set;
  }

  /** The set's status, once it is of its present generation. */
  protected status(name: string): NonNullable<Readonly<S>['status']> | undefined {
    const { metadata, status } = this.set(name);
    return status?.observedGeneration === metadata.generation ? status : undefined;
  }

  // Pods and revisions

  pods(): Readonly<Pod>[] {
    return this.world.pods.list(this.name);
  }

  async createPod(pod: Pod): Promise<Pod> {
    return this.#written(pods, await this.client.create<Pod>(pods, pod));
  }

  /** A pod as somebody would make it by hand, on node `n`. */
  byHand(name: string, labels = this.appLabels('web'), n = 0): Promise<Pod> {
    const spec = { nodeName: this.node(n), containers: [{ name: 'main', image: 'app:0' }], terminationGracePeriodSeconds: 5 };
    return this.createPod({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: this.name, labels }, spec });
  }

  async patchPod(pod: Readonly<Pod>, patch: unknown): Promise<void> {
    await this.#written(pods, await this.client.patch<Pod>(pods, this.#ref(pod), patch, { type: 'merge' }));
  }

  /** See `test/support/hollow/behaviour.ts`. */
  behave(pod: Readonly<Pod>, text: string | undefined): Promise<void> {
    return this.patchPod(pod, behave(text));
  }

  /** Deletes the pod, and resolves once it is terminating. */
  async terminate(pod: Readonly<Pod>): Promise<void> {
    await this.client.delete(pods, this.#ref(pod));
    const isTerminating = () => this.#held(pod)?.metadata.deletionTimestamp !== undefined;
    await this.until(`pod ${pod.metadata.name} ends`, () => this.isGone(pod) || isTerminating());
  }

  deletePod(pod: Readonly<Pod>): Promise<void> {
    return this.terminate(pod);
  }

  /** What the cache has of just this pod. */
  #held({ metadata }: Readonly<Pod>): Readonly<Pod> | undefined {
    return this.pods().find((pod) => pod.metadata.uid === metadata.uid);
  }

  isGone(pod: Readonly<Pod>): boolean {
    return this.#held(pod) === undefined;
  }

  revisions(): Readonly<Revision>[] {
    return this.world.revisions.list(this.name).toSorted((a, b) => a.revision - b.revision);
  }

  revisionNumbers(): number[] {
    return this.revisions().map(({ revision }) => revision);
  }

  async createRevision(revision: Revision): Promise<void> {
    await this.#written(controllerRevisions, await this.client.create<Revision>(controllerRevisions, revision));
  }

  async patchRevision(revision: Readonly<Revision>, patch: unknown): Promise<void> {
    const type = 'merge';
    await this.#written(controllerRevisions, await this.client.patch<Revision>(controllerRevisions, this.#ref(revision), patch, { type }));
  }

  async deleteRevision(revision: Readonly<Revision>): Promise<void> {
    await this.client.delete(controllerRevisions, this.#ref(revision));
    await this.until('the revision goes', () => this.revisions().every(({ metadata }) => metadata.uid !== revision.metadata.uid));
  }

  // Waiting

  /** Looks at each change; @throws after 90 s, naming `what` and how things stand */
  async until(what: string, holds: () => boolean): Promise<void> {
    const { clock } = this.world;
    for (const end = clock.monotonic() + WITHIN_MS; !holds();) {
      if (clock.monotonic() > end) throw new Error(`${this.name}: it did not happen: ${what}; ${this.#situation()}`);
      await this.world.changed(this.name, 1_000);
    }
  }

  /** Resolves once there is an event of this reason in the namespace. @throws after 90 s */
  async reported(reason: string): Promise<void> {
    const { clock } = this.world;
    const isThere = async (): Promise<boolean> => {
      const { items } = await this.client.list<KubeObject>(coreEvents, { namespace: this.name });
      return items.some((event) => event['reason'] === reason);
    };
    // The caches do not have events: that the namespace changes says nothing of them.
    for (const end = clock.monotonic() + WITHIN_MS; !(await isThere());) {
      if (clock.monotonic() > end) throw new Error(`${this.name}: no event ${reason}; ${this.#situation()}`);
      await this.world.changed(this.name, 200);
    }
  }

  /** It holds when nothing changes any more: before, a status may say so that is about to change. */
  protected async comesTo(what: string, holds: () => boolean): Promise<void> {
    do {
      await this.until(what, holds);
      await this.quiet();
    } while (!holds());
  }

  /**
   * Nothing changes for a while, every set that stays has been looked at since its last change, and no pod waits for a first word of its scheduler.
   * @param observed - false where a controller never writes the status
   */
  async quiet({ observed = true } = {}): Promise<void> {
    const { clock } = this.world;
    const isCurrent = () =>
      this.pods().every(isDecided) &&
      this.sets().every(
        ({ metadata: { deletionTimestamp, generation }, status }) =>
          !observed || deletionTimestamp !== undefined || status?.observedGeneration === generation,
      );
    for (const end = clock.monotonic() + WITHIN_MS; ;) {
      if ((await this.world.isQuiet(this.name, this.#kind.quietMs)) && isCurrent()) return;
      if (clock.monotonic() > end) throw new Error(`${this.name}: it does not come to rest; ${this.#situation()}`);
    }
  }

  #situation(): string {
    const sets = this.sets().map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(status)}`);
    const pods = this.pods().map(({ metadata: { name, deletionTimestamp }, spec, status }) => {
      const ending = deletionTimestamp === undefined ? '' : ' terminating';
      return `${name}@${spec?.nodeName} ${status?.phase}${ending}`;
    });
    return [...sets, ...pods].join(', ');
  }

  #ref({ metadata: { name = '' } }: Readonly<KubeObject>): { name: string; namespace: string } {
    return { name, namespace: this.name };
  }

  async #written<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    await this.world.hasSeen(resource, object);
    return object;
  }
}

const byPlace = ({ spec, metadata }: Readonly<Pod>): string => `${spec?.nodeName} ${metadata.name}`;

function taintOf(text: string): Taint {
  const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
  return { key, effect, ...(value === '' ? {} : { value }) };
}
