import { SortedList } from '../../base/ordered.ts';
import { Grouping, type Groups, rankOf } from './grouping.ts';
import { type RolloutNode, viewOf } from './node.ts';
import type { Course, Placer } from './placing.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { Caches } from './observe.ts';
import type { Rules } from './rules.ts';

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

interface Followed {
  fleet: Fleet;
  /** Which nodes are its own follows from this. */
  selection: string;
  /** Names of nodes to read before the next plan. */
  changed: Set<string>;
}

/** Nodes that one look reads: those of a large fleet are read in several, so that no turn of the event loop is long. */
const MAX_READS = 500;

/** The fleets of all rollouts. A look reads the nodes that changed since the last one; all of them where what the rollout selects has changed. */
export class Fleets {
  readonly #followed = new Map<Key, Followed>();

  /** A node that this rollout selects, or selected, changed: tell it in the turn in which the cache changes. */
  changed(rollout: Key, node: string): void {
    this.#followed.get(rollout)?.changed.add(node);
  }

  forget(rollout: Key): void {
    this.#followed.delete(rollout);
  }

  /**
   * Reads nodes that changed, a part of them where they are many.
   * @param older - rollouts that have their nodes before this one, the oldest first
   * @returns the fleet; undefined: there are more to read
   */
  read(rules: Rules, older: readonly Rules[], caches: Pick<Caches, 'nodes' | 'nodeConfigs'>, serves: ServerFacts): Fleet | undefined {
    const selection = JSON.stringify([rules, ...older].map(({ name, uid, generation }) => [name, uid, generation]));
    let followed = this.#followed.get(rules.name);
    if (followed?.selection !== selection) {
      const all = caches.nodes.list().map(({ metadata }) => metadata.name ?? '');
      followed = { fleet: new Fleet(), selection, changed: new Set(all) };
      this.#followed.set(rules.name, followed);
    }
    const { fleet, changed } = followed;
    let reads = 0;
    for (const name of changed) {
      if (reads++ === MAX_READS) return undefined;
      changed.delete(name);
      const object = caches.nodes.get(name);
      const labels = object?.metadata.labels;
      const holder = older.find(({ selector }) => matchesLabels(selector, labels));
      if (object === undefined || !matchesLabels(rules.selector, labels)) fleet.delete(name);
      else if (holder === undefined) {
        fleet.set(viewOf(object, caches.nodeConfigs.get(name), serves));
        // Remembered: the turn that places all nodes is short of it.
        rankOf(name, rules.uid);
      } else fleet.setConflict(name, holder.name);
    }
    return fleet;
  }
}
