import { SortedList } from '../../base/ordered.ts';
import { Grouping, type Groups } from './grouping.ts';
import type { RolloutNode } from './node.ts';
import type { Course, Placer } from './placing.ts';

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
  /** How many times a ConfigMap is used by nodes, by name. */
  readonly #uses = new Map<string, number>();
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
    for (const name of namesUsedBy(node)) add(this.#uses, name, 1);
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
      for (const used of namesUsedBy(node)) add(this.#uses, used, -1);
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

  /** Whether a node is assigned this ConfigMap, runs it, or goes back to it. */
  uses(configMap: string): boolean {
    return this.#uses.has(configMap);
  }

  /** Where its nodes stand now. What is asked the same way as the last time costs what has changed since. */
  groups(place: Placer, course: Course): Groups {
    if (this.#grouping?.serves(place, course) !== true) this.#grouping = new Grouping(place, course, this.#nodes);
    this.#grouping.bringUpToDate(course);
    return this.#grouping;
  }
}

const namesUsedBy = ({ wanted, assigned, active, lastKnownGood }: RolloutNode): string[] =>
  [wanted, assigned, active, lastKnownGood].flatMap((source) => (source === null ? [] : [source.name]));

function add(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
