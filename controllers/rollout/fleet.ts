import { SortedList } from '../../base/ordered.ts';
import { Grouping, type Groups, rankOf } from './grouping.ts';
import { type RolloutNode, viewOf } from './node.ts';
import type { Course, Placer } from './placing.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import { type Key, memoize } from '../../kube/cache/contract.ts';
import { type Caches, comesBefore, type Observer } from './observe.ts';
import type { Rules } from './rules.ts';

type Reading = Pick<Observer, 'rules' | 'serves'> & { caches: Pick<Caches, 'rollouts' | 'nodes' | 'nodeConfigs'> };

/** A node that a rollout selects and leaves to an older one. */
export interface Conflict {
  node: string;
  /** The older one's name. */
  rollout: string;
}

const byNode = (a: Conflict, b: Conflict): number => (a.node < b.node ? -1 : a.node > b.node ? 1 : 0);

/** The nodes that a rollout has, from look to look. Who follows them says what has changed; a plan reads. */
export class Fleet {
  readonly #nodes = new Map<string, RolloutNode>();
  readonly #conflicts = new Map<string, Conflict>();
  readonly #conflictsInOrder = new SortedList<Conflict>(byNode);
  /** Conflicts by name of the older rollout. */
  readonly #holders = new Map<string, number>();
  #grouping: Grouping | undefined;

  /** @param nodes - what it begins with */
  constructor(nodes: Iterable<RolloutNode> = []) {
    for (const node of nodes) this.set(node);
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(node: string): RolloutNode | undefined {
    return this.#nodes.get(node);
  }

  /** A node that the rollout has, as it is now. */
  set(node: RolloutNode): void {
    const before = this.#nodes.get(node.node);
    if (before === node) return;
    this.delete(node.node);
    this.#nodes.set(node.node, node);
    this.#grouping?.changed(node.node);
  }

  /** A node that it leaves to an older rollout. */
  setConflict(node: string, rollout: string): void {
    this.delete(node);
    const conflict = { node, rollout };
    this.#conflicts.set(node, conflict);
    this.#conflictsInOrder.add(conflict);
    add(this.#holders, rollout, 1);
  }

  /** A node that it has no more, in whatever way it had it. */
  delete(name: string): void {
    const node = this.#nodes.get(name);
    if (node !== undefined) {
      this.#nodes.delete(name);
      this.#grouping?.changed(name);
    }
    const conflict = this.#conflicts.get(name);
    if (conflict !== undefined) {
      this.#conflicts.delete(name);
      this.#conflictsInOrder.remove(conflict);
      add(this.#holders, conflict.rollout, -1);
    }
  }

  /** By name of the node. */
  get conflicts(): readonly Conflict[] {
    return this.#conflictsInOrder.items;
  }

  /** Names of the older rollouts that have its nodes. */
  get holders(): string[] {
    return [...this.#holders.keys()].toSorted();
  }

  /** Where its nodes stand now; undefined: there are more to place. What is asked the same way as the last time costs what has changed since. */
  groups(place: Placer, course: Course): Groups | undefined {
    if (this.#grouping?.serves(place, course) !== true) this.#grouping = new Grouping(place, course, this.#nodes);
    return this.#grouping.bringUpToDate(course) ? this.#grouping : undefined;
  }
}

function add(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

/** All rollouts, the one that has the nodes first: its place among them decides which nodes are a rollout's own. */
class Precedence {
  readonly rules: readonly Rules[];
  /** By uid. Places with the same version have the same nodes. */
  readonly #places = new Map<string, { at: number; version: number }>();
  readonly #firsts = new WeakMap<object, number>();
  readonly #version: number;
  /** Selectors that nodes were matched with. */
  matches = 0;

  /** @param before - the one that it follows: a place keeps its version where it, and all that go before it, select the same nodes as then */
  constructor(rules: readonly Rules[], before: Precedence | undefined) {
    this.rules = rules;
    this.#version = before === undefined ? 0 : before.#version + 1;
    let isSame = true;
    for (const [at, one] of rules.entries()) {
      isSame &&= before?.rules[at] !== undefined && selectionOf(before.rules[at]) === selectionOf(one);
      this.#places.set(one.uid, { at, version: (isSame ? before?.place(one).version : undefined) ?? this.#version });
    }
  }

  place({ uid }: Rules): { at: number; version: number } {
    return this.#places.get(uid) ?? { at: this.rules.length, version: this.#version };
  }

  /** The rollout that has a node before this one, as of a cache: all rollouts that select a node ask once. */
  holderOf(node: Readonly<KubeObject>, rules: Rules): Rules | undefined {
    let first = this.#firsts.get(node);
    if (first === undefined) {
      const { labels } = node.metadata;
      const found = this.rules.findIndex(({ problems, selector }) => problems.length === 0 && matchesLabels(selector, labels));
      first = found < 0 ? this.rules.length : found;
      this.matches += first + 1;
      this.#firsts.set(node, first);
    }
    return first < this.place(rules).at ? this.rules[first] : undefined;
  }
}

/** Which nodes a rollout keeps from younger ones follows from this. */
export const selectionOf = memoize(({ uid, problems, rollout }: Rules): string =>
  JSON.stringify([uid, problems.length === 0, rollout.spec?.nodeSelector]),
);

interface Followed {
  fleet: Fleet;
  /** Of its place. */
  version: number;
  /** Names of nodes to read before the next plan. */
  changed: Set<string>;
}

/** Nodes that one look reads, and selectors that it matches them with: those of a large fleet are read in several, so that no turn of the event loop is long. */
const MAX_READS = 500;
const MAX_MATCHES = 50_000;

/** The fleets of all rollouts. A look reads the nodes that changed since the last one; all of them where what the rollout selects has changed. */
export class Fleets {
  readonly #followed = new Map<Key, Followed>();
  #precedence: Precedence | undefined;
  #isCurrent = false;

  /** A node that this rollout selects, or selected, changed: tell it in the turn in which the cache changes. */
  changed(rollout: Key, node: string): void {
    this.#followed.get(rollout)?.changed.add(node);
  }

  /** A rollout came, goes, or selects other nodes: likewise. */
  selectionChanged(): void {
    this.#isCurrent = false;
  }

  forget(rollout: Key): void {
    this.#followed.delete(rollout);
  }

  /** All rollouts that are not being deleted, the oldest first, as when the selection of one changed last. */
  inOrder(by: Pick<Reading, 'caches' | 'rules'>): readonly Rules[] {
    return this.#precedenceOf(by).rules;
  }

  #precedenceOf({ caches, rules }: Pick<Reading, 'caches' | 'rules'>): Precedence {
    if (this.#precedence !== undefined && this.#isCurrent) return this.#precedence;
    const there = caches.rollouts.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    this.#isCurrent = true;
    return (this.#precedence = new Precedence(there.toSorted((a, b) => (comesBefore(a, b) ? -1 : 1)).map(rules), this.#precedence));
  }

  /**
   * Reads nodes that changed, a part of them where they are many.
   * @returns the fleet; undefined: there are more to read
   */
  read(rules: Rules, by: Reading): Fleet | undefined {
    const { caches, serves } = by;
    const precedence = this.#precedenceOf(by);
    const { version } = precedence.place(rules);
    let followed = this.#followed.get(rules.name);
    if (followed?.version !== version) {
      const all = caches.nodes.list().map(({ metadata }) => metadata.name ?? '');
      followed = { fleet: new Fleet(), version, changed: new Set(all) };
      this.#followed.set(rules.name, followed);
    }
    const { fleet, changed } = followed;
    let reads = 0;
    const until = precedence.matches + MAX_MATCHES;
    for (const name of changed) {
      if (reads++ === MAX_READS || precedence.matches >= until) return undefined;
      changed.delete(name);
      const object = caches.nodes.get(name);
      if (object === undefined || !matchesLabels(rules.selector, object.metadata.labels)) {
        fleet.delete(name);
        continue;
      }
      const holder = precedence.holderOf(object, rules);
      if (holder === undefined) {
        fleet.set(viewOf(object, caches.nodeConfigs.get(name), serves));
        // Remembered: the turn that places all nodes is short of it.
        rankOf(name, rules.uid);
      } else fleet.setConflict(name, holder.name);
    }
    return fleet;
  }
}
