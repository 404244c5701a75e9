import { jsonText } from '../output/structured.ts';
import { UsageError } from '../failure.ts';
import { formatOf, peopleFor } from '../output/output.ts';
import { tableLines } from '../output/table.ts';
import { nodeColumns, nodeData } from './node-view.ts';
import type { FleetCarrier } from './carrier.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
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
