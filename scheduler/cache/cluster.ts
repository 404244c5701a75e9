import type { Millis } from '../../base/clock.ts';
import type { Node, NodeAspect } from '../types.ts';
import type { NamespaceLabels } from '../pod/selectors.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { CarriedTerms } from './carried-terms.ts';
import { changedAspects, Images, imagesOf, NodeState, sameImages, TaintSets, taintsKey, zoneOf } from './node-state.ts';
import { PodGroups } from './pod-groups.ts';
import { Topologies } from './topology.ts';

/** A pod that counts on a node: `assumed` from the decision until the watch shows the pod on its node, `added` from then on. */
export interface Placed {
  readonly info: PodInfo;
  readonly state: NodeState;
  readonly at: 'assumed' | 'added';
  /** Of an assumed pod: when the API server bound it. Undefined: binding is in progress. */
  readonly boundAt: Millis | undefined;
}

export type NodeChange = 'added' | ReadonlySet<NodeAspect>;

/** The caller's view of the cluster is wrong. */
export class ClusterError extends Error {
  override name = 'ClusterError';
}

/** Number of changes whose slots are remembered; a reader that is further behind reads all slots. */
const REMEMBERED = 1 << 16;

/**
 * The scheduler's cache of the cluster: nodes, their usage, and assumed pods. One live structure without snapshots: decisions are synchronous, and changes come
 * between them.
 */
export class Cluster {
  readonly #byName = new Map<string, NodeState>();
  readonly #slots: (NodeState | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  readonly #pods = new Map<string, Placed>();
  readonly #taintSets = new TaintSets();
  readonly #log = new Int32Array(REMEMBERED);
  #order: readonly NodeState[] | undefined;
  /** Number of pods by priority: mostly a handful of different ones. */
  readonly #priorities = new Map<number, number>();
  #nodeCount = 0;
  #version = 0;
  readonly groups = new PodGroups();
  readonly carried = new CarriedTerms();
  readonly images = new Images();
  readonly topologies = new Topologies();
  readonly namespaceLabels: NamespaceLabels;

  /** @param namespaceLabels - for terms that select namespaces by their labels */
  constructor(namespaceLabels: NamespaceLabels = () => undefined) {
    this.namespaceLabels = namespaceLabels;
  }

  /** Incremented by every change that scheduling depends on. */
  get version(): number {
    return this.#version;
  }

  /** Number of nodes whose objects exist. */
  get nodeCount(): number {
    return this.#nodeCount;
  }

  get podCount(): number {
    return this.#pods.size;
  }

  /** The lowest priority of all pods on nodes; Infinity without any. */
  get lowestPriority(): number {
    return Math.min(...this.#priorities.keys());
  }

  /** Number of different sets of taints. */
  get taintSetCount(): number {
    return this.#taintSets.size;
  }

  /** Slots in use are below this. */
  get slotCount(): number {
    return this.#slots.length;
  }

  /** The node in a slot: undefined also for a deleted node that still has pods. */
  at(slot: number): NodeState | undefined {
    const state = this.#slots[slot];
    return state?.node === undefined ? undefined : state;
  }

  node(name: string): NodeState | undefined {
    const state = this.#byName.get(name);
    return state?.node === undefined ? undefined : state;
  }

  /** Nodes in the order in which they are evaluated: zones in turn. */
  get order(): readonly NodeState[] {
    this.#order ??= interleaveZones([...this.#byName.values()].filter(({ node }) => node !== undefined));
    return this.#order;
  }

  placed(uid: string): Placed | undefined {
    return this.#pods.get(uid);
  }

  placedPods(): Iterable<Placed> {
    return this.#pods.values();
  }

  /** Calls back with each slot that changed after `seen`, at least once. */
  eachChangedSince(seen: number, each: (slot: number) => void): void {
    const behind = this.#version - seen;
    if (behind < Math.min(REMEMBERED, this.#slots.length)) {
      for (let at = seen + 1; at <= this.#version; at++) each(this.#log[at % REMEMBERED] ?? 0);
      return;
    }
    for (let slot = 0; slot < this.#slots.length; slot++) each(slot);
  }

  // ---- nodes

  /** @returns the aspects that changed; an empty set for a heartbeat */
  setNode(node: Readonly<Node>): NodeChange {
    const { name = '' } = node.metadata;
    const state = this.#stateOf(name);
    const before = state.node;
    state.node = node;
    if (before === undefined) {
      this.#nodeCount += 1;
      this.#read(state, node);
      return 'added';
    }
    const changed = changedAspects(before, node);
    const images = before.status?.images === node.status?.images || sameImages(state.images, imagesOf(node));
    if (changed.has('labels') || changed.has('taints')) this.#read(state, node);
    else if (changed.has('allocatable') || !images) {
      state.readAllocatable(node);
      this.#readImages(state, node);
      this.#touch(state);
    } else if (changed.has('features')) this.#touch(state);
    return changed;
  }

  /** Its pods count until they are deleted as well, but no pod is scheduled there any more. */
  removeNode(name: string): void {
    const state = this.#byName.get(name);
    if (state?.node === undefined) return;
    state.node = undefined;
    this.#nodeCount -= 1;
    this.#order = undefined;
    this.images.changed(state.images, new Map());
    state.images = new Map();
    state.taintSet = this.#taintSets.move(state.taintSet, undefined);
    this.topologies.changed(state.slot, undefined);
    state.shapeVersion = this.#touch(state);
    this.#dropIfEmpty(state);
  }

  /** The labels of a namespace changed, or a namespace was added. Readers of {@link carried} terms must then start again from the first term. */
  namespacesChanged(): void {
    this.groups.namespacesChanged();
  }

  // ---- pods

  /** Counts a pod on a node before it is bound. @throws {ClusterError} when it counts already, or there is no such node */
  assume(info: PodInfo, nodeName: string): void {
    if (this.#pods.has(info.uid)) throw new ClusterError(`pod ${info.key} is on a node already`);
    const state = this.node(nodeName);
    if (state === undefined) throw new ClusterError(`there is no node ${nodeName} for pod ${info.key}`);
    this.#put(info, state, 'assumed', undefined);
  }

  /** The API server accepted the Binding; only its watch event is outstanding. */
  bound(uid: string, now: Millis): void {
    const placed = this.#pods.get(uid);
    if (placed?.at === 'assumed') this.#pods.set(uid, { ...placed, boundAt: now });
  }

  /** Reverts {@link assume}. @returns whether the pod was assumed: a pod that was seen on its node stays */
  forget(uid: string): boolean {
    const placed = this.#pods.get(uid);
    if (placed?.at !== 'assumed') return false;
    this.#take(placed);
    return true;
  }

  /** The watch shows a pod on a node: an assumed pod is confirmed, also on another node than the assumed one. */
  addPod(info: PodInfo): void {
    this.#replace(info);
  }

  /** @returns whether the pod counted on another node. No API server allows such a move: the cache was wrong, and is corrected */
  updatePod(info: PodInfo): boolean {
    return this.#replace(info);
  }

  removePod(uid: string): PodInfo | undefined {
    const placed = this.#pods.get(uid);
    if (placed === undefined) return undefined;
    this.#take(placed);
    return placed.info;
  }

  /** Assumed pods whose binding was answered before `before` and that were never seen on their nodes. */
  unconfirmed(before: Millis): Placed[] {
    return [...this.#pods.values()].filter(({ at, boundAt }) => at === 'assumed' && boundAt !== undefined && boundAt <= before);
  }

  #replace(info: PodInfo): boolean {
    const placed = this.#pods.get(info.uid);
    const state = this.#stateOf(info.nodeName);
    if (placed !== undefined && placed.state === state && countsAlike(placed.info, info)) {
      // Requests, labels and all else that counts are the same: the node counts as unchanged.
      state.pods.set(info.uid, info);
      this.#pods.set(info.uid, { info, state, at: 'added', boundAt: undefined });
      return false;
    }
    if (placed !== undefined) this.#take(placed);
    this.#put(info, this.#stateOf(info.nodeName), 'added', undefined);
    return placed !== undefined && placed.state !== state;
  }

  #put(info: PodInfo, state: NodeState, at: Placed['at'], boundAt: Millis | undefined): void {
    state.put(info);
    this.#priorities.set(info.priority, (this.#priorities.get(info.priority) ?? 0) + 1);
    this.#pods.set(info.uid, { info, state, at, boundAt });
    this.groups.add(info, state.slot);
    this.carried.add(info, state.slot);
    this.#touch(state);
  }

  #take({ info, state }: Placed): void {
    state.take(info);
    const left = (this.#priorities.get(info.priority) ?? 0) - 1;
    if (left > 0) this.#priorities.set(info.priority, left);
    else this.#priorities.delete(info.priority);
    this.#pods.delete(info.uid);
    this.groups.remove(info, state.slot);
    this.carried.remove(info, state.slot);
    this.#touch(state);
    this.#dropIfEmpty(state);
  }

  #read(state: NodeState, node: Readonly<Node>): void {
    state.readAllocatable(node);
    this.#readImages(state, node);
    state.taintSet = this.#taintSets.move(state.taintSet, taintsKey(node));
    state.zone = zoneOf(node);
    this.#order = undefined;
    this.topologies.changed(state.slot, node.metadata.labels);
    state.shapeVersion = this.#touch(state);
  }

  #readImages(state: NodeState, node: Readonly<Node>): void {
    const images = imagesOf(node);
    this.images.changed(state.images, images);
    state.images = images;
  }

  #stateOf(name: string): NodeState {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    const state = new NodeState(slot, name);
    this.#slots[slot] = state;
    this.#byName.set(name, state);
    return state;
  }

  #dropIfEmpty(state: NodeState): void {
    if (state.node !== undefined || state.pods.size > 0) return;
    this.#byName.delete(state.name);
    this.#slots[state.slot] = undefined;
    this.#freeSlots.push(state.slot);
  }

  #touch(state: NodeState): number {
    this.#version += 1;
    this.#log[this.#version % REMEMBERED] = state.slot;
    state.version = this.#version;
    return this.#version;
  }
}

/** Whether all fields of a pod that count are the same. The caches share parts that did not change, so most comparisons are of references. */
function countsAlike(before: PodInfo, after: PodInfo): boolean {
  return (
    before.requests === after.requests &&
    before.terminating === after.terminating &&
    before.priority === after.priority &&
    sameText(before.labels, after.labels) &&
    sameText(before.ports, after.ports) &&
    sameText(before.pod.spec?.affinity, after.pod.spec?.affinity)
  );
}

function sameText(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Nodes of all zones in turn: the first of each zone, then the second of each, and so on; a zone without further nodes is skipped. Zones and their nodes keep
 * the given order.
 */
export function interleaveZones<T extends { readonly zone: string }>(nodes: Iterable<T>): T[] {
  const zones = new Map<string, T[]>();
  for (const node of nodes) {
    const zone = zones.get(node.zone);
    if (zone === undefined) zones.set(node.zone, [node]);
    else zone.push(node);
  }
  const order: T[] = [];
  const rows = [...zones.values()];
  for (let at = 0; ; at++) {
    const row = rows.flatMap((zone) => zone.slice(at, at + 1));
    if (row.length === 0) return order;
    order.push(...row);
  }
}
