import { Grouping, type Groups, rankOf } from './grouping.ts';
import { type RolloutNode, viewOf } from './node.ts';
import type { PlacementContext, Placer } from './grouping-rules.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import { type Key, memoize } from '../../kube/cache/contract.ts';
import { type Caches, hasPrecedenceOver, type ObserveDeps } from './observe.ts';
import type { Rules } from './rules.ts';
import { firstNamesOf } from './text.ts';

type Reading = Pick<ObserveDeps, 'rules' | 'serves'> & { caches: Pick<Caches, 'rollouts' | 'nodes' | 'nodeConfigs'> };

/** Nodes that a rollout leaves to older ones, which select them too. @member nodes, holders - names, as text for messages */
export interface Conflicts {
  count: number;
  nodes: string;
  holders: string;
}

/**
 * Numbers of the nodes of the cluster, and the rollout that has each node. All rollouts share the numbers, so that thousands of rollouts with thousands of
 * nodes need only a bit for each pair.
 */
class NodeNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #holders: string[] = [];
  readonly #free: number[] = [];
  #changes = 0;

  /** Number of times that a node got another holder. */
  get changes(): number {
    return this.#changes;
  }

  get(node: string): number | undefined {
    return this.#numbers.get(node);
  }

  numberOf(node: string): number {
    const number = this.#numbers.get(node) ?? this.#free.pop() ?? this.#names.length;
    this.#numbers.set(node, number);
    this.#names[number] = node;
    return number;
  }

  nameOf(number: number): string {
    return this.#names[number] ?? '';
  }

  holderOf(number: number): string {
    return this.#holders[number] ?? '';
  }

  setHolder(number: number, rollout: string): void {
    if (this.#holders[number] === rollout) return;
    this.#holders[number] = rollout;
    this.#changes += 1;
  }

  /** Frees the number of a deleted node, which no set may contain any more, for another node. */
  delete(node: string): void {
    const number = this.#numbers.get(node);
    if (number === undefined) return;
    this.#numbers.delete(node);
    this.#free.push(number);
  }
}

/** Nodes by their numbers, a bit each. */
class NodeSet {
  #bits = new Uint32Array(0);
  #size = 0;

  has(number: number): boolean {
    return ((this.#bits[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0;
  }

  add(number: number): void {
    if (this.has(number)) return;
    const word = number >>> 5;
    if (word >= this.#bits.length) {
      const larger = new Uint32Array(Math.max(word + 1, 2 * this.#bits.length));
      larger.set(this.#bits);
      this.#bits = larger;
    }
    this.#bits[word] = (this.#bits[word] ?? 0) | (1 << (number & 31));
    this.#size += 1;
  }

  /** @returns whether it was there */
  delete(number: number): boolean {
    if (!this.has(number)) return false;
    const word = number >>> 5;
    this.#bits[word] = (this.#bits[word] ?? 0) & ~(1 << (number & 31));
    this.#size -= 1;
    return true;
  }

  /** Numbers may be deleted during the iteration. */
  *[Symbol.iterator](): Iterator<number> {
    for (let word = 0; word < this.#bits.length && this.#size > 0; word++)
      for (let left = this.#bits[word] ?? 0; left !== 0; left &= left - 1) yield word * 32 + 31 - Math.clz32(left & -left);
  }
}

/** The nodes that a rollout has, kept between reconciles. {@link Fleets} applies changes; a plan reads. */
export class Fleet {
  readonly #nodes = new Map<string, RolloutNode>();
  readonly #numbers: NodeNumbers;
  /** Nodes that are left to older rollouts. */
  readonly #conflicts = new NodeSet();
  #conflictSummary: { changes: number; conflicts: Conflicts } | undefined;
  #grouping: Grouping | undefined;

  /** @param nodes - the initial nodes */
  constructor(nodes: Iterable<RolloutNode> = [], numbers = new NodeNumbers()) {
    this.#numbers = numbers;
    for (const node of nodes) this.set(node);
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(node: string): RolloutNode | undefined {
    return this.#nodes.get(node);
  }

  /** Adds or updates a node of the rollout. */
  set(node: RolloutNode): void {
    const before = this.#nodes.get(node.node);
    if (before === node) return;
    this.delete(node.node);
    this.#nodes.set(node.node, node);
    this.#grouping?.changed(node.node);
  }

  /** Marks a node as left to an older rollout. */
  setConflict(node: string, rollout: string): void {
    const number = this.#numbers.numberOf(node);
    this.#numbers.setHolder(number, rollout);
    if (this.#conflicts.has(number)) return;
    this.delete(node);
    this.#conflicts.add(number);
    this.#conflictSummary = undefined;
  }

  /** Removes a node, whether the rollout had the node or left it to an older one. */
  delete(name: string): void {
    if (this.#nodes.delete(name)) this.#grouping?.changed(name);
    const number = this.#numbers.get(name);
    if (number !== undefined && this.#conflicts.delete(number)) this.#conflictSummary = undefined;
  }

  get conflicts(): Conflicts {
    const { changes } = this.#numbers;
    if (this.#conflictSummary?.changes !== changes) this.#conflictSummary = { changes, conflicts: this.#summarizeConflicts() };
    return this.#conflictSummary.conflicts;
  }

  #summarizeConflicts(): Conflicts {
    const numbers = [...this.#conflicts];
    const holders = new Set(numbers.map((number) => this.#numbers.holderOf(number)));
    const nodes = numbers.map((number) => this.#numbers.nameOf(number));
    return { count: nodes.length, nodes: firstNamesOf(nodes), holders: firstNamesOf([...holders]) };
  }

  /** The nodes in groups; undefined: there are more to place. A call with the same placer and context as the last one costs only what changed since. */
  groups(place: Placer, context: PlacementContext): Groups | undefined {
    if (this.#grouping?.serves(place, context) !== true) this.#grouping = new Grouping(place, context, this.#nodes);
    return this.#grouping.bringUpToDate(context) ? this.#grouping : undefined;
  }
}

/** All rollouts in order of precedence: a node belongs to the first rollout that selects it. */
export class Precedence {
  readonly rules: readonly Rules[];
  /** By uid. Positions with the same version have the same nodes. */
  readonly #positions = new Map<string, { at: number; version: number }>();
  readonly #firsts = new WeakMap<object, number>();
  readonly #version: number;
  /** Number of selectors that were evaluated. */
  matches = 0;

  /** @param before - the previous order: a position keeps its version if it, and all positions before it, select the same nodes as then */
  constructor(rules: readonly Rules[], before?: Precedence) {
    this.rules = rules;
    this.#version = before === undefined ? 0 : before.#version + 1;
    let isSame = true;
    for (const [at, one] of rules.entries()) {
      isSame &&= before?.rules[at] !== undefined && selectionOf(before.rules[at]) === selectionOf(one);
      this.#positions.set(one.uid, { at, version: (isSame ? before?.position(one).version : undefined) ?? this.#version });
    }
  }

  position({ uid }: Pick<Rules, 'uid'>): { at: number; version: number } {
    return this.#positions.get(uid) ?? { at: this.rules.length, version: this.#version };
  }

  /** undefined: there is no rollout with this uid. */
  named(uid: string): Rules | undefined {
    return this.rules[this.position({ uid }).at];
  }

  /** The rollout that has a node. Computed once per object of the cache, for all rollouts that select it. */
  holderOf(node: Readonly<KubeObject>): Rules | undefined {
    let first = this.#firsts.get(node);
    if (first === undefined) {
      const { labels } = node.metadata;
      const found = this.rules.findIndex(({ problems, selector }) => problems.length === 0 && matchesLabels(selector, labels));
      first = found < 0 ? this.rules.length : found;
      this.matches += first + 1;
      this.#firsts.set(node, first);
    }
    return this.rules[first];
  }

  /** The same, if that rollout comes before `rules`. */
  holderBefore(rules: Rules, node: Readonly<KubeObject>): Rules | undefined {
    const holder = this.holderOf(node);
    return holder !== undefined && this.position(holder).at < this.position(rules).at ? holder : undefined;
  }
}

/** What determines which nodes a rollout keeps from younger ones. */
export const selectionOf = memoize(({ uid, problems, rollout }: Rules): string =>
  JSON.stringify([uid, problems.length === 0, rollout.spec?.nodeSelector]),
);

interface Followed {
  fleet: Fleet;
  /** Of the rollout's position. */
  version: number;
  /** Nodes to read before the next plan. */
  changed: NodeSet;
}

/** Max nodes that one reconcile reads, and max selectors that it evaluates: a large fleet is read in several, so that no turn of the event loop is long. */
const MAX_READS = 500;
const MAX_MATCHES = 50_000;

/** The fleets of all rollouts. A reconcile reads the nodes that changed since the last one, or all nodes when the selection changed. */
export class Fleets {
  readonly #followed = new Map<Key, Followed>();
  readonly #numbers = new NodeNumbers();
  #precedence: Precedence | undefined;
  #isCurrent = false;

  /** Called when a node that this rollout selects, or selected, changes: in the turn in which the cache changes. */
  changed(rollout: Key, node: string): void {
    this.#followed.get(rollout)?.changed.add(this.#numbers.numberOf(node));
  }

  /** Called when a Node was deleted: in the same turn. */
  nodeDeleted(node: string): void {
    const number = this.#numbers.get(node);
    if (number === undefined) return;
    for (const { fleet, changed } of this.#followed.values()) {
      changed.delete(number);
      fleet.delete(node);
    }
    this.#numbers.delete(node);
  }

  /** Called when a rollout is added or deleted, or selects other nodes: in the same turn. */
  selectionChanged(): void {
    this.#isCurrent = false;
  }

  forget(rollout: Key): void {
    this.#followed.delete(rollout);
  }

  /** All rollouts that are not being deleted, the oldest first; computed again after a call of {@link selectionChanged}. */
  inOrder({ caches, rules }: Pick<Reading, 'caches' | 'rules'>): Precedence {
    if (this.#precedence !== undefined && this.#isCurrent) return this.#precedence;
    const there = caches.rollouts.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    this.#isCurrent = true;
    return (this.#precedence = new Precedence(there.toSorted((a, b) => (hasPrecedenceOver(a, b) ? -1 : 1)).map(rules), this.#precedence));
  }

  /**
   * Reads nodes that changed, a part of them where they are many.
   * @returns the fleet; undefined: there are more to read
   */
  read(rules: Rules, by: Reading): Fleet | undefined {
    const { caches, serves } = by;
    const precedence = this.inOrder(by);
    const { fleet, changed } = this.#follow(rules, precedence, caches);
    let reads = 0;
    const until = precedence.matches + MAX_MATCHES;
    for (const number of changed) {
      if (reads++ === MAX_READS || precedence.matches >= until) return undefined;
      changed.delete(number);
      const name = this.#numbers.nameOf(number);
      const object = caches.nodes.get(name);
      if (object === undefined || !matchesLabels(rules.selector, object.metadata.labels)) {
        fleet.delete(name);
        continue;
      }
      const holder = precedence.holderBefore(rules, object);
      if (holder === undefined) {
        fleet.set(viewOf(object, caches.nodeConfigs.get(name), serves));
        // Caches the rank, so that the turn that places all nodes need not compute all ranks.
        rankOf(name, rules.uid);
      } else fleet.setConflict(name, holder.name);
    }
    return fleet;
  }

  #follow(rules: Rules, precedence: Precedence, { nodes }: Pick<Caches, 'nodes'>): Followed {
    const { version } = precedence.position(rules);
    const known = this.#followed.get(rules.name);
    if (known?.version === version) return known;
    const changed = new NodeSet();
    for (const { metadata } of nodes.list()) changed.add(this.#numbers.numberOf(metadata.name ?? ''));
    const followed = { fleet: new Fleet([], this.#numbers), version, changed };
    this.#followed.set(rules.name, followed);
    return followed;
  }
}
