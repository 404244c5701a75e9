import { FLEET_VERSION, type Fleet, type PageNode, type PageRollout } from './contract.ts';
import { encode, nodeColumns, type Message } from './message.ts';

/** Names of removed objects that are remembered. A client that is further behind gets the whole picture. */
const MAX_REMOVED = 1_000;

interface Entry<T> {
  value: T;
  /** Number of the change that brought it. */
  seq: number;
}

/**
 * What the page shows, and which change brought what: a client that has seen everything up to one change gets what is newer, each object once in its
 * newest state, however long it was away. So nothing is queued for a client. Pure.
 */
export class FleetModel {
  #seq = 0;
  /** Removals up to here are forgotten. */
  #forgotten = 0;
  readonly #nodes = new Map<string, Entry<PageNode>>();
  readonly #rollouts = new Map<string, Entry<PageRollout>>();
  readonly #removed = { nodes: new Map<string, number>(), rollouts: new Map<string, number>() };

  /** Number of the last change; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  node(name: string): PageNode | undefined {
    return this.#nodes.get(name)?.value;
  }

  setNode(value: PageNode): void {
    const known = this.#nodes.get(value.name)?.value;
    if (known !== undefined && nodeColumns.every((column) => known[column] === value[column])) return;
    this.#nodes.set(value.name, { value, seq: ++this.#seq });
    this.#removed.nodes.delete(value.name);
  }

  setRollout(value: PageRollout): void {
    const known = this.#rollouts.get(value.name)?.value;
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(value)) return;
    this.#rollouts.set(value.name, { value, seq: ++this.#seq });
    this.#removed.rollouts.delete(value.name);
  }

  removeNode(name: string): void {
    if (this.#nodes.delete(name)) this.#remember(this.#removed.nodes, name);
  }

  removeRollout(name: string): void {
    if (this.#rollouts.delete(name)) this.#remember(this.#removed.rollouts, name);
  }

  /** @param time - RFC 3339 */
  fleet(time: string): Fleet {
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    const values = <T extends { name: string }>(of: Map<string, Entry<T>>): T[] => [...of.values()].map(({ value }) => value).sort(byName);
    return { version: FLEET_VERSION, time, nodes: values(this.#nodes), rollouts: values(this.#rollouts) };
  }

  /** What is newer than a change. @param seq - of the last change that the client has; undefined: it has nothing @param time - RFC 3339 */
  since(seq: number | undefined, time: string): Message {
    const from = seq === undefined || seq < this.#forgotten || seq > this.#seq ? undefined : seq;
    const isNew = ({ seq }: { seq: number }): boolean => from === undefined || seq > from;
    const gone = (of: Map<string, number>): string[] =>
      from === undefined ? [] : [...of].filter(([, seq]) => seq > from).map(([name]) => name);
    return encode({
      seq: this.#seq,
      time,
      full: from === undefined,
      nodes: [...this.#nodes.values()].filter(isNew).map(({ value }) => value),
      goneNodes: gone(this.#removed.nodes),
      rollouts: [...this.#rollouts.values()].filter(isNew).map(({ value }) => value),
      goneRollouts: gone(this.#removed.rollouts),
    });
  }

  #remember(removed: Map<string, number>, name: string): void {
    removed.set(name, ++this.#seq);
    const [oldest] = removed;
    if (removed.size <= MAX_REMOVED || oldest === undefined) return;
    removed.delete(oldest[0]);
    this.#forgotten = Math.max(this.#forgotten, oldest[1]);
  }
}
