import { describeError } from '../../base/errors.ts';
import { configMaps } from '../../kube/api/object.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { specSourceProblems } from '../../agent/checkpoint/verify-names.ts';
import { agentDefaults } from '../../agent/options.ts';
import { fine, wrong, type Command, type Context, type Exit } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { UsageError } from '../failure.ts';
import { formatFlag, show, table } from '../output.ts';
import { printable } from '../printable.ts';
import { progress } from '../progress.ts';
import { fleetCarrier, type FleetCarrier } from './carrier.ts';
import { sourceCell } from './source-cell.ts';
import { waitForNodes } from './wait.ts';
import { withClient } from './with-client.ts';
import type { Settling, Wanted } from './settle.ts';
import type { FleetNode } from './fleet-node.ts';
import type { Args } from '../args.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';
import type { Client } from '../../kube/client/client.ts';

const nodePositional = { name: 'node', text: 'names of nodes', required: true, many: true, completes: 'node' } as const;

export const assign: Command = {
  describe: `Tells nodes to use the kubelet configuration in a ConfigMap. Each node's agent downloads it, judges it and takes it over, or says why not.

With --wait, ends when every node uses it (0), or one has refused or failed it, or the time is over (1).`,
  examples: [
    { run: 'dkc assign node-a --configmap dkc-system/web --key kubelet', what: 'one node' },
    { run: 'dkc assign node-a node-b --configmap dkc-system/web --key kubelet --wait', what: 'two, and watch them' },
  ],
  flags: [
    { name: 'configmap', type: 'string', value: 'NS/NAME', required: true, text: 'the ConfigMap' },
    { name: 'key', type: 'string', value: 'KEY', required: true, text: 'which of its data keys holds the KubeletConfiguration' },
    { name: 'wait', type: 'boolean', text: 'wait until the nodes use it' },
    { name: 'timeout', type: 'duration', default: '5m', value: 'TIME', text: 'longest wait' },
    ...connectFlags,
    formatFlag,
  ],
  positionals: [nodePositional],
  async run(context, args) {
    const source = specSourceOf(args.text('configmap') ?? '', args.text('key') ?? '');
    return withClient(context, args, async (client) => {
      const { found, notes } = await lookAt(client, source, context.signal);
      const { done, failed, fleet, before } = await writeAll(context, client, args.many('node'), source);
      await showAssignments(context, args, done, found);
      // Beside an error they would only be in its way.
      if (failed.length > 0) throw failed[0];
      for (const note of notes) context.stderr.write(`dkc: note: ${note}\n`);
      return args.on('wait')
        ? await waitForAll(context, fleet, { wanted: source, ...(found ? { version: found } : {}) }, before, args.ms('timeout') ?? 0)
        : fine;
    });
  },
};

export const unassign: Command = {
  describe: 'Takes the assignment of nodes away: they go back to their local configuration.',
  examples: [{ run: 'dkc unassign node-a', what: 'one node' }],
  flags: [...connectFlags, formatFlag],
  positionals: [nodePositional],
  run: (context, args) =>
    withClient(context, args, async (client) => {
      const { done, failed } = await writeAll(context, client, args.many('node'), null);
      await showAssignments(context, args, done, undefined);
      if (failed.length > 0) throw failed[0];
      return fine;
    }),
};

/** @throws {UsageError} in the words of the API server */
function specSourceOf(configMap: string, kubeletConfigKey: string): SpecSource {
  const [namespace = '', name = '', ...more] = configMap.split('/');
  if (name === '' || more.length > 0) throw new UsageError(`assign: --configmap must be NAMESPACE/NAME; see dkc assign --help`);
  const [problem] = specSourceProblems({ namespace, name, kubeletConfigKey });
  if (problem !== undefined) throw new UsageError(`assign: ${problem}`);
  return { namespace, name, kubeletConfigKey };
}

interface Look {
  found?: { uid: string; resourceVersion: string };
  /** For stderr. */
  notes: string[];
}

/** The ConfigMap as it is now. Assigning one that is missing is allowed: the nodes wait for it. So there are only words about it. */
async function lookAt(client: Client, source: SpecSource, signal: AbortSignal): Promise<Look> {
  const { namespace, name, kubeletConfigKey } = source;
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(`ConfigMap ${namespace}/${name} ${text}`);
  const { configmapNamespace } = agentDefaults;
  if (namespace !== configmapNamespace)
    note(`can only be read by agents that are told so: --configmap-namespace is ${configmapNamespace} unless set, empty for any namespace`);
  try {
    const { metadata, data } = await client.get(configMaps, { namespace, name }, { signal });
    if (typeof data !== 'object' || data === null || !Object.hasOwn(data, kubeletConfigKey)) note(`has no key ${kubeletConfigKey} yet`);
    return { notes, found: { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' } };
  } catch (error) {
    if (isNotFound(error)) note('does not exist yet; the nodes keep what they have until it does');
    else note(`could not be looked at: ${printable(describeError(error))}`);
    return { notes };
  }
}

interface Written {
  fleet: FleetCarrier;
  before: FleetNode[];
  done: FleetNode[];
  failed: unknown[];
}

/** Writes node by node; one that fails does not keep the others from theirs. */
async function writeAll(context: Context, client: Client, names: readonly string[], source: SpecSource | null): Promise<Written> {
  const fleet = fleetCarrier({ client, clock: context.clock, random: context.random, log: context.log });
  const written: Written = { fleet, before: [], done: [], failed: [] };
  for (const name of new Set(names)) {
    try {
      written.before.push(await fleet.read(name, context.signal));
      written.done.push(await fleet.assign(name, source, context.signal));
    } catch (error) {
      written.failed.push(error);
      // The first one is thrown in the end and gets its line there.
      if (written.failed.length > 1) context.stderr.write(`dkc: ${printable(describeError(error))}\n`);
    }
  }
  return written;
}

async function showAssignments(
  context: Context,
  args: Args,
  done: readonly FleetNode[],
  found: { uid: string; resourceVersion: string } | undefined,
): Promise<void> {
  const full = ({ wanted }: FleetNode) =>
    wanted && {
      namespace: wanted.namespace,
      name: wanted.name,
      uid: found?.uid ?? null,
      resourceVersion: found?.resourceVersion ?? null,
      kubeletConfigKey: wanted.kubeletConfigKey,
    };
  await show(context, args, {
    data: done.map((node) => ({ node: node.node, carrier: node.carrier, source: full(node) })),
    people: (how) =>
      done.length === 0
        ? ''
        : table(
            [
              { title: 'NODE', value: ({ node }) => node },
              { title: 'ASSIGNED', value: ({ wanted }) => sourceCell(wanted, false) },
              { title: 'CARRIER', value: ({ carrier }) => carrier, wide: true },
            ],
            done,
            how,
          ),
  });
}

async function waitForAll(
  context: Context,
  fleet: FleetCarrier,
  wanted: Wanted,
  before: readonly FleetNode[],
  timeoutMs: number,
): Promise<Exit> {
  const bar = progress(context);
  const onProgress = (states: ReadonlyMap<string, Settling>): void => {
    const all = [...states];
    const waiting = all.find(([, state]) => state.at === 'waiting');
    const [name, state] = waiting ?? [];
    const last = state?.at === 'waiting' ? `, ${name ?? ''}: ${state.why}` : '';
    bar.draw(`${all.filter(([, { at }]) => at === 'settled').length} of ${all.length} nodes use it${last}`);
  };
  try {
    const ends = await waitForNodes(fleet, context.clock, { ...wanted, before, timeoutMs, onProgress }, context.signal);
    const bad = [...ends].flatMap(([node, end]) =>
      end.at === 'settled' ? [] : [`${node}: ${end.at === 'failed' ? end.error : `${end.why} when the time was over`}`],
    );
    return bad.length === 0 ? fine : wrong(`${bad.join('; ')}. \`dkc status\` and \`dkc history\` on the node say more`);
  } finally {
    bar.clear();
  }
}
