import { type Fleet, FLEET_VERSION, type PageNode, type PageRollout } from './contract.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { InTurns } from '../../base/waiting.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import { type Caches, hasPrecedenceOver } from '../rollout/observe.ts';
import { Precedence, selectionOf } from '../rollout/fleet.ts';
import { viewOf } from '../rollout/node.ts';
import type { Rules } from '../rollout/rules.ts';
import type { NodeConfigRollout } from '../rollout/types.ts';
import { memoize } from '../../kube/cache/contract.ts';
import type { NodeDetailInput } from './node-detail.ts';
import { pageNode, pageRollout, standingsKey } from './views.ts';

/** Max changes that are kept. A client that is further behind gets the whole picture. */
const MAX_CHANGES = 10_000;

interface Entry<T> {
  value: T;
  /** Number of the change that set the value. */
  seq: number;
}

interface Change {
  of: 'nodes' | 'rollouts';
  name: string;
}

/**
 * What the page shows, with the number of each object's last change: a client that has everything up to a change gets the newer objects, each once in its
 * newest state, however long it was away. So nothing is queued for a client, and an update costs as much as there are changes, not nodes. Pure.
 */
export class FleetModel {
  readonly #nodes = new Map<string, Entry<PageNode>>();
  readonly #rollouts = new Map<string, Entry<PageRollout>>();
  /** Changes in order; the first has the number #forgotten + 1. */
  #changes: Change[] = [];
  #forgotten = 0;

  /** Number of the last change; 0 before the first. */
  get seq(): number {
    return this.#forgotten + this.#changes.length;
  }

  node(name: string): PageNode | undefined {
    return this.#nodes.get(name)?.value;
  }

  setNode(value: PageNode): void {
    const known = this.#nodes.get(value.name)?.value;
    if (known !== undefined && nodeColumns.every((column) => known[column] === value[column])) return;
    this.#nodes.set(value.name, { value, seq: this.#note('nodes', value.name) });
  }

  setRollout(value: PageRollout): void {
    const known = this.#rollouts.get(value.name)?.value;
    if (known === value || (known !== undefined && JSON.stringify(known) === JSON.stringify(value))) return;
    this.#rollouts.set(value.name, { value, seq: this.#note('rollouts', value.name) });
  }

  removeNode(name: string): void {
    if (this.#nodes.delete(name)) this.#note('nodes', name);
  }

  removeRollout(name: string): void {
    if (this.#rollouts.delete(name)) this.#note('rollouts', name);
  }

  /** @param time - RFC 3339 */
  fleet(time: string): Fleet {
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    const values = <T extends { name: string }>(of: Map<string, Entry<T>>): T[] => [...of.values()].map(({ value }) => value).sort(byName);
    return { version: FLEET_VERSION, time, nodes: values(this.#nodes), rollouts: values(this.#rollouts) };
  }

  /**
   * What is newer than a change, as of the first step. @param seq - of the last change that the client has; undefined: it has nothing @param time - RFC 3339
   */
  since(seq: number | undefined, time: string): InTurns<Message> {
    const head = { seq: this.seq, time };
    if (seq === undefined || seq < this.#forgotten || seq > this.seq) {
      const all = <T>(of: Map<string, Entry<T>>): T[] => [...of.values()].map(({ value }) => value);
      return encode({ ...head, full: true, nodes: all(this.#nodes), goneNodes: [], rollouts: all(this.#rollouts), goneRollouts: [] });
    }
    const nodes: PageNode[] = [];
    const rollouts: PageRollout[] = [];
    const gone = { nodes: new Set<string>(), rollouts: new Set<string>() };
    for (let at = seq - this.#forgotten; at < this.#changes.length; at++) {
      const { of, name } = this.#changes[at] as Change;
      const entry = of === 'nodes' ? this.#nodes.get(name) : this.#rollouts.get(name);
      if (entry === undefined) gone[of].add(name);
      // An object that changed again later is sent with its last change.
      else if (entry.seq !== this.#forgotten + at + 1) continue;
      else if (of === 'nodes') nodes.push(entry.value as PageNode);
      else rollouts.push(entry.value as PageRollout);
    }
    return encode({ ...head, full: false, nodes, goneNodes: [...gone.nodes], rollouts, goneRollouts: [...gone.rollouts] });
  }

  #note(of: Change['of'], name: string): number {
    this.#changes.push({ of, name });
    // Drops half at once, so that the amortized cost is small.
    if (this.#changes.length > MAX_CHANGES) {
      this.#forgotten += MAX_CHANGES / 2;
      this.#changes = this.#changes.slice(MAX_CHANGES / 2);
    }
    return this.seq;
  }
}

/** Members of a node in the order of a row. */
const nodeColumns = [
  'name',
  'state',
  'rollout',
  'standing',
  'ready',
  'cordoned',
  'maintenance',
  'zone',
  'pool',
  'kubeletVersion',
  'agentVersion',
  'wanted',
  'assigned',
  'active',
  'lastKnownGood',
  'trialEndsAt',
  'error',
  'drift',
] as const satisfies readonly (keyof PageNode)[];

/** A picture or a change, before nodes are packed. */
interface Unpacked {
  seq: number;
  time: string;
  /** The whole picture: an object that is not in it does not exist. */
  full: boolean;
  nodes: readonly PageNode[];
  goneNodes: readonly string[];
  rollouts: readonly PageRollout[];
  goneRollouts: readonly string[];
}

/** Data of an event of `/fleet/events`: each has its own table of strings, so that it can be read without earlier events. */
export interface Message extends Omit<Unpacked, 'nodes'> {
  version: typeof FLEET_VERSION;
  columns: readonly string[];
  strings: readonly string[];
  /** One row for a node: for each column an index of `strings`. */
  nodes: readonly (readonly number[])[];
}

/** Nodes packed in one step. */
const PACKED = 2_000;

/** Packs nodes as rows of indices: many nodes share most of their strings. Pure. */
function* encode({ nodes, ...rest }: Unpacked): InTurns<Message> {
  const indices = new Map<string, number>();
  const indexOf = (text: string): number => {
    let index = indices.get(text);
    if (index === undefined) indices.set(text, (index = indices.size));
    return index;
  };
  const rows: number[][] = [];
  for (const node of nodes) {
    if (rows.length % PACKED === PACKED - 1) yield;
    rows.push(nodeColumns.map((column) => indexOf(node[column])));
  }
  return { version: FLEET_VERSION, ...rest, columns: nodeColumns, strings: [...indices.keys()], nodes: rows };
}

/** Characters of JSON written in one step, and the rest of the current item: some 10 ms. */
const STEP_TEXT = 2 ** 19;

/** The JSON of an object between two texts, in UTF-8: long lists take several steps. The lists and their items must not change meanwhile. */
export function* jsonInTurns(object: object, { before = '', after = '' } = {}): InTurns<Uint8Array> {
  const written: Uint8Array[] = [];
  let [texts, length]: [string[], number] = [[before], 0];
  const write = (text: string): boolean => {
    texts.push(text);
    length += text.length;
    if (length < STEP_TEXT) return false;
    written.push(Buffer.from(texts.join('')));
    [texts, length] = [[], 0];
    return true;
  };
  for (const [at, [name, member]] of Object.entries(object).entries() as Iterable<[number, [string, unknown]]>) {
    write(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:${Array.isArray(member) ? '[' : JSON.stringify(member)}`);
    if (!Array.isArray(member)) continue;
    for (const [nth, item] of member.entries()) if (write(`${nth === 0 ? '' : ','}${JSON.stringify(item)}`)) yield;
    write(']');
  }
  return Buffer.concat([...written, Buffer.from(`${texts.join('')}}${after}`)]);
}

/** Max work of one turn of a refresh, in selectors evaluated; the cost of a rollout, and the fixed cost of a node. */
const MAX_WORK = 50_000;
const ROLLOUT_WORK = 200;
const NODE_WORK = 100;

type PageCaches = { [K in 'rollouts' | 'nodes' | 'nodeConfigs']: Pick<Caches[K], 'get' | 'list'> };

/**
 * Keeps the model in step with the caches. A change only marks a name as dirty; the rest is computed when the page is read, so that a page without readers
 * costs only a set of names.
 */
export class FleetPicture {
  readonly model = new FleetModel();
  readonly #caches: PageCaches;
  readonly #serves: ServerFacts;
  readonly #rules: (rollout: Readonly<NodeConfigRollout>) => Rules;
  readonly #dirty = new Set<string>();
  /** Names of rollouts whose view must be computed. */
  readonly #dirtyRollouts = new Set<string>();
  /** Computed once for each version of a rollout, as are its rules. */
  readonly #pageRollout = memoize(pageRollout);
  readonly #standingsKey = memoize(standingsKey);
  #rolloutsChanged = true;
  /** Rollouts of which all is computed that {@link #noteRollouts} compares. */
  readonly #read = new WeakSet<Readonly<NodeConfigRollout>>();
  /** Rules of all rollouts, in order of precedence. */
  #ordered: ReadonlyMap<string, Rules> = new Map();
  /** Of the rollouts that are not being deleted. */
  #precedence = new Precedence([]);
  #selections: string | undefined;
  /** By name of the rollout: what determines the standing of its nodes. */
  #standings: ReadonlyMap<string, string> = new Map();

  /** @param by.rules - called often: memoize it */
  constructor(by: { caches: PageCaches; serves: ServerFacts; rules: (rollout: Readonly<NodeConfigRollout>) => Rules }) {
    this.#caches = by.caches;
    this.#serves = by.serves;
    this.#rules = by.rules;
  }

  /** A Node or a NodeConfig of this name has changed. */
  nodeChanged({ metadata }: Readonly<KubeObject>): void {
    this.#dirty.add(metadata.name ?? '');
  }

  rolloutChanged(): void {
    this.#rolloutsChanged = true;
  }

  /**
   * Updates the model from the caches, only a part of it when much has changed.
   * @returns false: there is more to do, in another turn of the event loop
   */
  refresh(): boolean {
    if (this.#rolloutsChanged && !this.#readRollouts()) return false;
    if (this.#rolloutsChanged) this.#noteRollouts();
    let left = MAX_WORK;
    for (const name of this.#dirtyRollouts) {
      if (left <= 0) return false;
      this.#dirtyRollouts.delete(name);
      const rules = this.#ordered.get(name);
      if (rules === undefined) this.model.removeRollout(name);
      else this.model.setRollout(this.#pageRollout(rules));
      left -= ROLLOUT_WORK;
    }
    for (const name of this.#dirty) {
      if (left <= 0) return false;
      this.#dirty.delete(name);
      left -= NODE_WORK + this.#refreshNode(name);
    }
    return true;
  }

  /** @returns undefined: there is no such node, as of the last refresh */
  nodeDetailInput(name: string): NodeDetailInput | undefined {
    const [object, page] = [this.#caches.nodes.get(name), this.model.node(name)];
    if (object === undefined || page === undefined) return undefined;
    return { page, node: viewOf(object, this.#caches.nodeConfigs.get(name), this.#serves), rules: this.#ordered.get(page.rollout) };
  }

  /** @returns false: there are more rollouts to read, in other turns */
  #readRollouts(): boolean {
    let left = MAX_WORK;
    for (const rollout of this.#caches.rollouts.list()) {
      if (this.#read.has(rollout)) continue;
      if (left <= 0) return false;
      left -= ROLLOUT_WORK;
      this.#read.add(rollout);
      selectionOf(this.#rules(rollout));
      this.#standingsKey(rollout);
    }
    return true;
  }

  /** Marks rollouts that changed as dirty, and the nodes whose holder or standing may have changed. */
  #noteRollouts(): void {
    this.#rolloutsChanged = false;
    const before = this.#ordered;
    const inOrder = this.#caches.rollouts.list().toSorted((a, b) => (hasPrecedenceOver(a, b) ? -1 : 1));
    this.#ordered = new Map(inOrder.map((rollout) => [rollout.metadata.name ?? '', this.#rules(rollout)]));
    this.#precedence = new Precedence(
      [...this.#ordered.values()].filter(({ rollout }) => rollout.metadata.deletionTimestamp === undefined),
    );
    for (const name of before.keys()) if (!this.#ordered.has(name)) this.#dirtyRollouts.add(name);
    for (const [name, rules] of this.#ordered) if (before.get(name) !== rules) this.#dirtyRollouts.add(name);
    const selections = [...this.#ordered.values()]
      .map((rules) => `${selectionOf(rules)}${rules.rollout.metadata.deletionTimestamp ?? ''}`)
      .join();
    const standings = new Map([...this.#ordered].map(([name, { rollout }]) => [name, this.#standingsKey(rollout)]));
    const isOther = selections !== this.#selections;
    const moved = new Set([...standings].flatMap(([name, standing]) => (standing === this.#standings.get(name) ? [] : [name])));
    this.#selections = selections;
    this.#standings = standings;
    if (!isOther && moved.size === 0) return;
    for (const { metadata: { name = '' } } of this.#caches.nodes.list())
      if (isOther || moved.has(this.model.node(name)?.rollout ?? '')) this.#dirty.add(name); // prettier-ignore
  }

  /** @returns number of selectors evaluated */
  #refreshNode(name: string): number {
    const object = this.#caches.nodes.get(name);
    if (object === undefined) {
      this.model.removeNode(name);
      return 0;
    }
    const { matches } = this.#precedence;
    const view = viewOf(object, this.#caches.nodeConfigs.get(name), this.#serves);
    this.model.setNode(pageNode(view, this.#precedence.holderOf(object)));
    return this.#precedence.matches - matches;
  }
}

/** Pause between two turns of a refresh, or two steps of other work, in ms. */
export const PAUSE_MS: Millis = 1;

/** Completes a refresh, in several turns of the event loop so that other work is not delayed. */
export async function upToDate(picture: Pick<FleetPicture, 'refresh'>, clock: Pick<Clock, 'sleep'>): Promise<void> {
  while (!picture.refresh()) await clock.sleep(PAUSE_MS);
}

/** The result of work whose steps are turns of the event loop. */
export async function pausing<T>(work: InTurns<T>, clock: Pick<Clock, 'sleep'>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await clock.sleep(PAUSE_MS);
  }
}
