import { describeError } from '../../base/errors.ts';
import { type Command, type Context, type Exit, fine, wrong } from '../command.ts';
import { connectFlags, withClient } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import { checkWatch, formatFlag, formatOf, peopleFor, show, table, tableLines } from '../output/output.ts';
import { printable, jsonText } from '../output/printable.ts';
import { type FleetCarrier, fleetOf, noteMissingCarrier, type Watched } from './carrier.ts';
import { type FleetNode, fleetState, isSettled } from '../../controllers/fleet/fleet-node.ts';
import { nodeColumns, nodeData } from './node-view.ts';
import { nodeNames, selectorFlag, selectorText } from './node-names.ts';
import type { Args } from '../args/args.ts';
import type { Millis } from '../../base/clock.ts';

/** Maximum number of nodes named in the line of --check; the others are counted. */
const MAX_NAMED = 5;
/** Concurrent reads of nodes by name. */
const AT_ONCE = 8;

export const nodesCommand: Command = {
  describe: `Shows assigned, active and last-known-good config per node, as the nodes report it to the API server.

STATE is one of: trusted (runs the assigned config, which passed its trial); trial (runs it on trial, with the time left); pending (not applied yet); refused (the agent rejected it, the previous config still runs); condemned (the assigned config failed its trial or was rolled back, another config runs); fell-back (the assigned config could not be used at boot, another config runs); error (sync failed, for example because the ConfigMap is missing); local (nothing is assigned); no-agent (no agent has reported for this node). ASSIGNED is what the spec of the node's NodeConfig says, or of the Node itself where that carries the assignment: see CARRIER in -o wide.

With --check, exits with 1 unless every node is trusted or local.`,
  examples: [
    { run: 'dkc nodes', what: 'all nodes' },
    { run: 'dkc nodes -l pool=web -o wide', what: 'nodes with a label, with Ready and versions of kubelet and agent' },
    { run: 'dkc nodes -w', what: 'live, until Ctrl-C' },
    { run: 'dkc nodes --check', what: 'for monitoring: exit 1 unless all are trusted or local' },
    { run: `dkc nodes -o json | jq '.[] | select(.state == "condemned")'`, what: 'for scripts' },
  ],
  flags: [
    selectorFlag,
    { name: 'watch', alias: 'w', type: 'boolean', text: 'keep watching, and print a line for each node that changes' },
    { name: 'check', type: 'boolean', text: 'exit with 1 unless every node is trusted or local' },
    ...connectFlags,
    formatFlag,
  ],
  positionals: [{ name: 'node', text: 'only these nodes; also node/NAME and A,B', many: true, completes: 'node' }],
  run: (context, args) => {
    const names = nodeNames('nodes', args.many('node'));
    const labelSelector = selectorText('nodes', args);
    if (names.length > 0 && labelSelector !== undefined)
      throw new UsageError('nodes: a name and a selector cannot be combined; see dkc nodes --help');
    const watches = args.on('watch');
    if (watches && args.on('check')) throw new UsageError('nodes: --watch and --check cannot be combined; see dkc nodes --help');
    return withClient(context, args, async (client) => {
      const fleet = await fleetOf(context, args, client);
      if (watches) return watchFleet(context, args, fleet, names.length > 0 ? names : labelSelector === undefined ? {} : { labelSelector });
      const { found, failed } = names.length > 0 ? await readAll(context, fleet, names) : { found: await fleet.list(context.signal, labelSelector), failed: [] }; // prettier-ignore
      await showNodes(context, args, found);
      for (const error of failed.slice(1)) context.stderr.write(`dkc: ${printable(describeError(error))}\n`);
      if (failed.length > 0) throw failed[0];
      noteMissingCarrier(context, args, fleet);
      return args.on('check') ? checked(found) : fine;
    });
  },
};

/** The named nodes that exist, in order, and the errors of the others. */
async function readAll(
  { signal }: Context,
  fleet: FleetCarrier,
  names: readonly string[],
): Promise<{ found: FleetNode[]; failed: unknown[] }> {
  const found: FleetNode[] = [];
  const failed: unknown[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = await Promise.allSettled(names.slice(at, at + AT_ONCE).map((name) => fleet.read(name, signal)));
    for (const one of some) {
      if (one.status === 'fulfilled') found.push(one.value);
      else failed.push(one.reason);
    }
  }
  signal.throwIfAborted();
  return { found, failed };
}

function showNodes(context: Context, args: Args, found: readonly FleetNode[]): Promise<void> {
  const now = context.clock.now();
  return show(context, args, {
    data: found.map(nodeData),
    people: (how) => (found.length === 0 ? 'No nodes.\n' : table(nodeColumns(now), found, how)),
  });
}

function checked(found: readonly FleetNode[]): Exit {
  const bad = found.filter((node) => !isSettled(fleetState(node)));
  if (bad.length === 0) return fine;
  const named = bad.slice(0, MAX_NAMED).map((node) => `${node.node} (${fleetState(node)})`);
  const more = bad.length > MAX_NAMED ? ` and ${bad.length - MAX_NAMED} more` : '';
  return wrong(`${bad.length}/${found.length} nodes are not trusted or local: ${named.join(', ')}${more}`);
}

/** Nodes reported within this time are printed as one table, such as the first list. */
const GATHER_MS: Millis = 100;

/**
 * Prints every node, then a line whenever a shown value of a node changes, until the user interrupts. A deleted node gets a line
 * with the state `deleted`. The remaining time of a trial does not count as a change.
 * @throws the signal's reason
 */
async function watchFleet(context: Context, args: Args, fleet: FleetCarrier, watched: Watched): Promise<never> {
  checkWatch(args, 'nodes');
  const format = formatOf(args);
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
  await fleet.watch(watched, onSeen, signal);
  signal.throwIfAborted();
  throw new Error('the watch was closed');
}
