import { nodes, type KubeObject } from '../../kube/api/object.ts';
import { Reflector, type ReflectorOptions, type Sink } from '../../kube/cache/reflector.ts';
import { watchObject } from '../../kube/client/watch-object.ts';
import { AGENT_ANNOTATION, fleetNode, type FleetNode } from './fleet-node.ts';
import { jsonText } from '../output/structured.ts';
import { UsageError } from '../failure.ts';
import { formatOf, peopleFor } from '../output/output.ts';
import { tableLines } from '../output/table.ts';
import { nodeColumns, nodeData } from './node-view.ts';
import type { Watched, FleetCarrier } from './carrier.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';
import type { Millis } from '../../base/clock.ts';

/** Nodes that are seen within this time share a table: the first list comes as one. */
const GATHER_MS: Millis = 100;

/**
 * Prints every node, then a line whenever one changes in what is shown of it, until the person ends it. A node that is deleted gets a line
 * with the state `deleted`. Time that passes on a trial is no change.
 * @throws the signal's reason
 */
export async function watchFleet(context: Context, args: Args, fleet: FleetCarrier, names: readonly string[]): Promise<never> {
  const format = formatOf(args);
  if (format !== 'table' && format !== 'wide' && format !== 'json')
    throw new UsageError('nodes: --watch works with -o table, wide and json; see dkc nodes --help');
  const { clock, signal, stdout } = context;
  const shown = new Map<string, string>();
  const people = peopleFor(context, args);
  let changed = new Map<string, FleetNode | undefined>();
  let widths: number[] = [];
  let titled = people.headers === false;
  const print = (): void => {
    const batch = [...changed].toSorted(([a], [b]) => (a < b ? -1 : 1));
    changed = new Map();
    if (format === 'json') {
      for (const [name, node] of batch) stdout.write(jsonText(node ? nodeData(node) : { node: name, state: 'deleted' }, 0));
      return;
    }
    const there = batch.flatMap(([, node]) => (node ? [node] : []));
    const lines = tableLines(nodeColumns(clock.now()), there, { ...people, headers: !titled }, widths);
    ({ widths } = lines);
    titled = true;
    stdout.write(lines.text);
    for (const [name, node] of batch) if (!node) stdout.write(`${name.padEnd(widths[0] ?? 0)}   deleted\n`);
  };
  const onSeen = (name: string, node: FleetNode | undefined): void => {
    const now = node && JSON.stringify([nodeData(node), node.agent?.trial !== null, node.ready, node.kubeletVersion, node.agent?.version]);
    if (shown.get(name) === now) return;
    if (now === undefined) shown.delete(name);
    else shown.set(name, now);
    if (changed.size === 0) clock.after(GATHER_MS, print);
    changed.set(name, node);
  };
  await fleet.watch(names.length > 0 ? names : selected(args), onSeen, signal);
  signal.throwIfAborted();
  throw new Error('the watch was closed');
}

function selected(args: Args): { labelSelector?: string } {
  const labelSelector = args.text('selector');
  return labelSelector === undefined ? {} : { labelSelector };
}

/** Up to here each node gets a watch; past it one watch of all nodes costs the server less. */
const MAX_SINGLE_WATCHES = 20;

type OnSeen = (name: string, node: FleetNode | undefined) => void;
type Deps = Omit<ReflectorOptions, 'resource' | 'client'> & { client: Pick<Client, 'list' | 'listEach' | 'watch'> };

/** Reports nodes as they are and as they change, until the signal aborts. Failures of the server are retried. @throws what `onSeen` throws */
export async function watchNodes(deps: Deps, watched: Watched, onSeen: OnSeen, signal: AbortSignal): Promise<void> {
  const byName = 'length' in watched;
  if (byName && watched.length <= MAX_SINGLE_WATCHES) {
    const one = (name: string): Promise<void> =>
      watchObject(deps, nodes, { name }, { onSeen: ({ object }) => onSeen(name, object && fleetNode(object)) }, signal);
    await Promise.all(watched.map(one));
    return;
  }
  const names = byName ? new Set(watched) : undefined;
  const selection = byName || watched.labelSelector === undefined ? {} : { labelSelector: watched.labelSelector };
  const sink = new NodeSink((name, node) => (names?.has(name) === false ? undefined : onSeen(name, node)), names);
  await new Reflector<KubeObject>({ ...deps, resource: nodes, selection }, sink).run(signal);
}

/** Keeps of each Node what this view reads, and passes every change on. */
class NodeSink implements Sink<KubeObject> {
  readonly #onSeen: OnSeen;
  /** undefined: expected, and not seen yet. */
  #nodes: Map<string, KubeObject | undefined>;

  /** @param expected - those of them that the first list lacks are reported as gone */
  constructor(onSeen: OnSeen, expected: ReadonlySet<string> | undefined) {
    this.#onSeen = onSeen;
    this.#nodes = new Map([...(expected ?? [])].map((name) => [name, undefined]));
  }

  keep({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
    const { spec, status } = rest as { spec?: { configSource?: unknown }; status?: Readonly<Record<string, unknown>> };
    const { name, uid, resourceVersion, annotations } = metadata;
    const kept = { name, uid, resourceVersion, annotations: { [AGENT_ANNOTATION]: annotations?.[AGENT_ANNOTATION] } };
    const { config, conditions, nodeInfo } = status ?? {};
    return { apiVersion, kind, metadata: kept, spec: { configSource: spec?.configSource }, status: { config, conditions, nodeInfo } } as KubeObject; // prettier-ignore
  }

  held(name: string): KubeObject | undefined {
    return this.#nodes.get(name);
  }

  async replace(items: readonly KubeObject[]): Promise<void> {
    const gone = this.#nodes;
    this.#nodes = new Map();
    for (const item of items) {
      const name = item.metadata.name ?? '';
      gone.delete(name);
      this.#nodes.set(name, item);
      this.#onSeen(name, fleetNode(item));
    }
    for (const name of gone.keys()) this.#onSeen(name, undefined);
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): 'applied' {
    const name = object.metadata.name ?? '';
    if (type === 'DELETED') this.#nodes.delete(name);
    else this.#nodes.set(name, this.keep(object));
    this.#onSeen(name, type === 'DELETED' ? undefined : fleetNode(object));
    return 'applied';
  }

  reached(): void {}
}
