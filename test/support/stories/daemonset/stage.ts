import assert from 'node:assert/strict';
import type { DaemonSetSpec } from 'kubernetes-types/apps/v1.js';
import type { PodSpec, Taint } from 'kubernetes-types/core/v1.js';
import type { DaemonSet, Pod } from '../../../../controllers/daemonset/types.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { controllerRevisions, daemonSets, namespaces, nodes, pods } from '../../../../kube/api/resources.ts';
import type { Client, PatchType } from '../../../../kube/client/client.ts';
import { eventually } from '../../contracts/eventually.ts';
import { hollowNodes } from '../../hollow/hollow-node.ts';
import type { HollowNode } from '../../hollow/hollow-node.ts';
import { behave } from '../../hollow/hollow-nodes.ts';
import { isDecided } from '../world.ts';
import type { Revision, World } from '../world.ts';

export interface SetOptions {
  /** @default 'web' */
  name?: string;
  /** @default 'app:1' */
  image?: string;
  /** Merged over the template's pod spec. */
  pod?: Partial<PodSpec>;
  /** Labels of the template besides `app: NAME`. */
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  spec?: Partial<Omit<DaemonSetSpec, 'template' | 'selector'>>;
}

/** Counters of a status, by short names. */
export interface Figures {
  desired?: number;
  current?: number;
  ready?: number;
  available?: number;
  updated?: number;
  misscheduled?: number;
}

/** This long nothing may change for a step to be over: more than a second, so that pods made in different steps differ in age. */
const QUIET_MS = 1_100;
const WITHIN_MS = 90_000;

/** A namespace and nodes of a story's own, and what an admin does with kubectl there. Every write is in the caches when its call returns. */
export class Stage {
  readonly name: string;
  /** What the story itself found out, for the comparison. */
  readonly notes: string[] = [];
  readonly client: Client;
  readonly #world: World;

  static async open(world: World, name: string): Promise<Stage> {
    await world.client.create<KubeObject>(namespaces, { metadata: { name } });
    return new Stage(world, name);
  }

  private constructor(world: World, name: string) {
    this.#world = world;
    this.client = world.client;
    this.name = name;
  }

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
    await this.#world.fleet.add(hollowNodes(from + count, this.name, { ...over, labels }).slice(from));
  }

  async removeNode(n: number): Promise<void> {
    await this.#world.fleet.remove([this.node(n)]);
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

  /** Its kubelet does nothing any more, or works again. */
  async kubelet(n: number, what: 'dead' | 'alive'): Promise<void> {
    await this.#patchNode(n, behave(what === 'dead' ? what : undefined));
    // Of pods it may hear sooner: those are to find it as it is now.
    const isHeard = () => this.#world.fleet.isDead(this.node(n)) === (what === 'dead');
    await eventually(`the kubelet of ${this.node(n)} is ${what}`, () => Promise.resolve(isHeard() ? true : undefined));
  }

  async #patchNode(n: number, patch: unknown): Promise<void> {
    await this.client.patch(nodes, { name: this.node(n) }, patch, { type: 'merge' });
  }

  // Sets

  create(options: SetOptions = {}): Promise<DaemonSet> {
    return this.createSet(this.manifest(options));
  }

  async createSet(set: DaemonSet): Promise<DaemonSet> {
    return this.#written(daemonSets, await this.client.create<DaemonSet>(daemonSets, set));
  }

  /**
   * What a set is known by. With the story in it: a kube-controller-manager of 1.20 takes revisions without an owner for its sets' in whichever namespace
   * they are, when their labels match.
   */
  appLabels(name: string): Record<string, string> {
    return { app: name, story: this.name };
  }

  /** A set for the nodes of this story. */
  manifest({ name = 'web', image = 'app:1', pod = {}, labels = {}, annotations, spec = {} }: SetOptions = {}): DaemonSet {
    const app = this.appLabels(name);
    return {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace: this.name, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        selector: { matchLabels: app },
        ...spec,
        template: {
          metadata: { labels: { ...app, ...labels } },
          spec: {
            terminationGracePeriodSeconds: 5,
            ...pod,
            nodeSelector: { story: this.name, ...pod.nodeSelector },
            containers: [{ name: 'main', image }],
          },
        },
      },
    };
  }

  async patch(patch: unknown, name = 'web', type: PatchType = 'strategic'): Promise<DaemonSet> {
    return this.#written(daemonSets, await this.client.patch<DaemonSet>(daemonSets, { name, namespace: this.name }, patch, { type }));
  }

  image(image: string, name = 'web'): Promise<DaemonSet> {
    return this.patch({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } }, name);
  }

  async remove(propagationPolicy: 'Background' | 'Foreground' | 'Orphan', name = 'web'): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
    await this.client.delete(daemonSets, { name, namespace: this.name }, { body });
    await this.until(`set ${name} is gone`, () => this.#world.sets.get(`${this.name}/${name}`) === undefined);
  }

  set(name = 'web'): Readonly<DaemonSet> {
    const set = this.#world.sets.get(`${this.name}/${name}`);
    assert.ok(set, `there is no set ${name}`);
    return set;
  }

  // Pods and revisions

  pods(): Readonly<Pod>[] {
    return this.#world.pods.list(this.name);
  }

  /** The one pod on node `n` (of set `app`) that does not end. */
  podOn(n: number, app = 'web'): Readonly<Pod> {
    const there = this.pods().filter(({ spec, metadata }) => spec?.nodeName === this.node(n) && metadata.deletionTimestamp === undefined);
    const [pod, ...more] = there.filter(({ metadata }) => metadata.labels?.['app'] === app);
    assert.ok(pod !== undefined && more.length === 0, `not one pod on node ${n}`);
    return pod;
  }

  async createPod(pod: Pod): Promise<Pod> {
    return this.#written(pods, await this.client.create<Pod>(pods, pod));
  }

  async patchPod(pod: Readonly<Pod>, patch: unknown): Promise<void> {
    await this.#written(pods, await this.client.patch<Pod>(pods, this.#ref(pod), patch, { type: 'merge' }));
  }

  /** See `test/support/hollow/behaviour.ts`. */
  behave(pod: Readonly<Pod>, text: string | undefined): Promise<void> {
    return this.patchPod(pod, behave(text));
  }

  async deletePod(pod: Readonly<Pod>): Promise<void> {
    await this.client.delete(pods, this.#ref(pod));
    const isEnding = () => this.#held(pod) === undefined || this.#held(pod)?.metadata.deletionTimestamp !== undefined;
    await this.until(`pod ${pod.metadata.name} ends`, isEnding);
  }

  /** What the cache has of just this pod. */
  #held({ metadata }: Readonly<Pod>): Readonly<Pod> | undefined {
    return this.pods().find((pod) => pod.metadata.uid === metadata.uid);
  }

  isGone(pod: Readonly<Pod>): boolean {
    return this.#held(pod) === undefined;
  }

  revisions(): Readonly<Revision>[] {
    return this.#world.revisions.list(this.name).toSorted((a, b) => a.revision - b.revision);
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
    for (const end = performance.now() + WITHIN_MS; !holds();) {
      if (performance.now() > end) throw new Error(`${this.name}: it did not happen: ${what}; ${this.#situation()}`);
      await this.#world.changed(this.name, 1_000);
    }
  }

  /** The set's status says so, for its present generation; and then nothing changes for a while. */
  async shows(figures: Figures, name = 'web'): Promise<void> {
    const wanted = Object.entries(figures);
    await this.#comesTo(`${name} shows ${JSON.stringify(figures)}`, () => {
      const { metadata, status } = this.set(name);
      if (status === undefined || status.observedGeneration !== metadata.generation) return false;
      const seen = figuresOf(status);
      return wanted.every(([field, value]) => seen[field as keyof Figures] === value);
    });
  }

  /** All of the set's pods are of its template and available, and none is left that ends. */
  async rolledOut(name = 'web'): Promise<void> {
    await this.#comesTo(`${name} is rolled out`, () => {
      const { metadata, status } = this.set(name);
      if (status === undefined || status.observedGeneration !== metadata.generation) return false;
      const { desired, available, updated } = figuresOf(status);
      const own = this.pods().filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
      return desired === available && desired === updated && own.length === desired + (status.numberMisscheduled ?? 0);
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
    const isCurrent = () =>
      this.pods().every(isDecided) &&
      this.#world.sets
        .list(this.name)
        .every(({ metadata, status }) => metadata.deletionTimestamp !== undefined || status?.observedGeneration === metadata.generation);
    for (const end = performance.now() + WITHIN_MS; ;) {
      if ((await this.#world.isQuiet(this.name, QUIET_MS)) && isCurrent()) return;
      if (performance.now() > end) throw new Error(`${this.name}: it does not come to rest; ${this.#situation()}`);
    }
  }

  #situation(): string {
    const sets = this.#world.sets.list(this.name).map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(status)}`);
    const pods = this.pods().map(({ metadata, spec, status }) => `${metadata.name}@${spec?.nodeName} ${status?.phase}`);
    return [...sets, ...pods].join(', ');
  }

  #ref({ metadata: { name = '' } }: Readonly<KubeObject>): { name: string; namespace: string } {
    return { name, namespace: this.name };
  }

  async #written<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    await this.#world.hasSeen(resource, object);
    return object;
  }
}

function figuresOf(status: NonNullable<DaemonSet['status']>): Required<Figures> {
  return {
    desired: status.desiredNumberScheduled,
    current: status.currentNumberScheduled,
    ready: status.numberReady,
    available: status.numberAvailable ?? 0,
    updated: status.updatedNumberScheduled ?? 0,
    misscheduled: status.numberMisscheduled,
  };
}

function taintOf(text: string): Taint {
  const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
  return { key, effect, ...(value === '' ? {} : { value }) };
}
