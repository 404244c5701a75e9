import type { Millis } from '../../base/clock.ts';
import type { Lister } from '../../kube/cache/contract.ts';
import { BY_NODE, nodeValue } from './observe.ts';
import { nameOf, nodePodsOf, nowhere, targetNode } from './pods.ts';
import { type NodeState, nodeStateOf } from './node-state.ts';
import { Summary } from './summary.ts';
import { type Rules, selects } from './rules.ts';
import { placementSteps, selectorSteps } from '../common/set-size.ts';
import type { Node, Pod } from '../common/types.ts';
import type { Decide } from './placement/node-decision.ts';

/** What the counter reads from the caches. */
export interface StatusCounterCaches {
  nodes: Pick<Lister<Node>, 'get' | 'list'>;
  pods: Pick<Lister<Pod>, 'indexed'>;
}

interface SetCount {
  /** What all states depend on besides their nodes: when it changes, all states are recomputed. */
  readonly basis: string;
  readonly summary: Summary;
  readonly states: Map<string, NodeState>;
  /** Nodes to recompute. */
  readonly dirty: Set<string>;
  /** The set's pods that its selector does not match any more, by node. */
  readonly unselected: Map<string, readonly Readonly<Pod>[]>;
  /** Orphans that the last pass adopted, by node. They count for one pass only: the cache will show whether the adoption succeeded. */
  adopted: ReadonlyMap<string, readonly Readonly<Pod>[]>;
}

export interface Counted {
  summary: Summary;
  unselected: readonly Readonly<Pod>[];
}

/** Steps of evaluation in one turn of the event loop: some 10 ms. */
const MAX_TURN_STEPS = 50_000;
/** What a node takes besides the requirements of selector and template; where the controller places pods, it sums up those of the node. */
const STEPS_OF_NODE = { scheduler: 20, controller: 250 };

function nodesOfTurn({ set: { spec }, placement }: Rules): number {
  const steps = STEPS_OF_NODE[placement] + selectorSteps(spec?.selector) + placementSteps(spec?.template.spec);
  return Math.ceil(MAX_TURN_STEPS / steps);
}

const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, at) => one === others[at]);

/**
 * Keeps the summary of each set while nodes and pods change, so that a change costs the recount of one node and not of all. The caller must pass on every
 * change of the caches in the turn in which it happens; the result always equals a full recount.
 */
export class StatusCounter {
  readonly #caches: StatusCounterCaches;
  readonly #nodesInTurn: (rules: Rules) => number;
  readonly sets = new Map<string, SetCount>();
  /** Nodes where each set has pods, by UID; also of sets that were never counted. */
  readonly #places = new Map<string, Set<string>>();

  /** @param nodesInTurn - nodes that one call may recompute. @default as many as take some 10 ms */
  constructor(caches: StatusCounterCaches, nodesInTurn: (rules: Rules) => number = nodesOfTurn) {
    this.#caches = caches;
    this.#nodesInTurn = nodesInTurn;
  }

  /** Number of sets that are counted. */
  get size(): number {
    return this.sets.size;
  }

  /** Called when a node is added, deleted or changed. */
  nodeChanged(node: string): void {
    for (const { dirty } of this.sets.values()) dirty.add(node);
  }

  /** Called when a pod of this set on this node (or made for it) is added, deleted or changed. */
  podChanged(uid: string, node: string | undefined): void {
    const place = node ?? '';
    const account = this.sets.get(uid);
    account?.dirty.add(place);
    this.#note(uid, place, account !== undefined || this.#podsAt(uid, place).length > 0);
  }

  /** Called when the set is deleted. */
  forget(uid: string): void {
    this.sets.delete(uid);
    for (const place of this.#places.get(uid) ?? []) this.#note(uid, place, this.#podsAt(uid, place).length > 0);
  }

  /**
   * Brings the summary of a set up to date.
   * @param adopted - orphans that the set adopts in this pass
   * @returns undefined when more nodes are to be recomputed than one turn of the event loop has time for: the next call goes on
   */
  count(rules: Rules, hash: string, decide: Decide, now: Millis, adopted: readonly Readonly<Pod>[] = []): Counted | undefined {
    const { metadata } = rules.set;
    const uid = metadata.uid ?? '';
    const basis = [metadata.generation, rules.templateGeneration, hash].join(' ');
    let account = this.sets.get(uid);
    if (account?.basis !== basis) {
      account = {
        basis,
        summary: new Summary(),
        states: new Map(),
        dirty: this.#everything(uid),
        unselected: new Map(),
        adopted: new Map(),
      };
      this.sets.set(uid, account);
    }
    const { summary, states, dirty } = account;
    for (const { changesAt, nodePods } of summary.pendingNodes.values())
      if (changesAt !== undefined && changesAt <= now) dirty.add(nodePods.node);
    const extra = Map.groupBy(adopted, (pod) => targetNode(pod) ?? '');
    for (const node of [...account.adopted.keys(), ...extra.keys()])
      if (!areSame(account.adopted.get(node) ?? [], extra.get(node) ?? [])) dirty.add(node);
    account.adopted = extra;
    let left = this.#nodesInTurn(rules);
    for (const node of dirty) {
      if (left-- === 0) return undefined;
      dirty.delete(node);
      const before = states.get(node);
      if (before !== undefined) summary.remove(before);
      const after = this.stateOf(rules, hash, decide, now, node, account, extra.get(node) ?? []);
      if (after === undefined) states.delete(node);
      else {
        summary.add(after);
        states.set(node, after);
      }
    }
    return { summary, unselected: [...account.unselected.values()].flat() };
  }

  /** @returns undefined when neither the node nor a pod for it exists */
  stateOf(
    rules: Rules,
    hash: string,
    decide: Decide,
    now: Millis,
    node: string,
    { unselected }: SetCount,
    adopted: readonly Readonly<Pod>[],
  ): NodeState | undefined {
    const isSelected = selects(rules);
    const uid = rules.set.metadata.uid ?? '';
    const there = this.#podsAt(uid, node);
    if (there.length === 0) this.#note(uid, node, false);
    const own = there.every(isSelected) ? there : there.filter(isSelected);
    if (own.length === there.length) unselected.delete(node);
    else
      unselected.set(
        node,
        there.filter((pod) => !isSelected(pod)),
      );
    const pods = adopted.length === 0 ? own : [...own, ...adopted];
    if (node === '') return pods.length === 0 ? undefined : nodeStateOf(rules, hash, nowhere(pods), now);
    const object = this.#caches.nodes.get(node);
    if (object === undefined && pods.length === 0) return undefined;
    const known = object === undefined ? undefined : { object, decision: decide(object) };
    return nodeStateOf(rules, hash, nodePodsOf(node, known, pods), now);
  }

  #everything(uid: string): Set<string> {
    return new Set([...this.#caches.nodes.list().map(nameOf), ...(this.#places.get(uid) ?? [])]);
  }

  #podsAt(uid: string, place: string): readonly Readonly<Pod>[] {
    return this.#caches.pods.indexed(BY_NODE, nodeValue(uid, place));
  }

  #note(uid: string, place: string, there: boolean): void {
    const places = this.#places.get(uid);
    if (there && places === undefined) this.#places.set(uid, new Set([place]));
    else if (there) places?.add(place);
    else if (places?.delete(place) === true && places.size === 0) this.#places.delete(uid);
  }
}
