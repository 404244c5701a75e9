import { type PayloadRef, type SpecSource, specSourceProblems } from '../../agent/checkpoint/source.ts';
import { describeError } from '../../base/errors.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { configMaps } from '../../kube/api/object.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { agentDefaults } from '../../agent/options.ts';
import { printable } from '../output/printable.ts';
import { type Command, fine, type Flag } from '../command.ts';
import { connectFlags, namespaceFlag, namespaceFor, withClient } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import { formatFlag } from '../output/output.ts';
import { fleetOf, noteMissingCarrier } from './carrier.ts';
import { allFlag, chosenNodes, nodePositional, selectorFlag } from './node-names.ts';
import { type Goal, goals } from './wait.ts';
import { waitAndReport } from './report-wait.ts';
import { showAssignments, writeAll } from './write-assignments.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Args } from '../args/args.ts';
import type { Millis } from '../../base/clock.ts';

const MINUTE: Millis = 60_000;
/** Default timeouts: a trial takes ten healthy minutes by default, after a download and a restart. */
const TIMEOUT_MS: Readonly<Record<Goal, Millis>> = { trusted: 20 * MINUTE, active: 5 * MINUTE };

const carriers = ['auto', 'node', 'nodeconfig'] as const;

const dryRunFlag: Flag = {
  name: 'dry-run',
  type: 'string',
  value: 'WHERE',
  implied: 'server',
  choices: ['server', 'true', 'false'],
  text: 'server-side dry run: check everything, change nothing',
};

export const assign: Command = {
  describe: `Assigns the kubelet configuration in a ConfigMap to nodes. Each node's agent downloads it, validates it, restarts its kubelet with it and puts it on trial.

The assignment is written to the NodeConfig with the name of the node, which is created where it is missing. A Node that has spec.configSource or has reported status.config (API servers up to 1.25) and no NodeConfig keeps using these; --carrier=nodeconfig moves it to a NodeConfig. -v prints what the API server supports.

With --wait, exits with 0 when every node trusts it: the kubelet was healthy for the whole trial, ten minutes by default. Exits with 1, and the reason, as soon as a node rejects or condemns it, or on timeout, so a loop over nodes stops at the first failure. --wait=active exits when the nodes run it, before their trial has ended.`,
  examples: [
    { run: 'dkc assign node-a --configmap dkc-system/web --key kubelet --wait', what: 'one node, until it trusts it' },
    { run: 'dkc assign node/node-a node-b,node-c --configmap dkc-system/web --key kubelet', what: 'three nodes' },
    { run: 'dkc assign -l pool=web --configmap dkc-system/web --key kubelet --dry-run', what: 'which nodes would be changed' },
    {
      run: 'dkc assign --all --configmap dkc-system/web --key kubelet --carrier=nodeconfig',
      what: 'move nodes from Node.spec.configSource',
    },
    {
      run: 'for n in node-a node-b; do dkc assign $n --configmap dkc-system/web --key kubelet --wait || break; done',
      what: 'one node at a time',
    },
  ],
  flags: [
    { name: 'configmap', type: 'string', value: 'NS/NAME', required: true, completes: 'configmap', text: 'the ConfigMap' },
    {
      name: 'key',
      type: 'string',
      value: 'KEY',
      required: true,
      completes: 'configmap-key',
      text: 'data key that holds the KubeletConfiguration',
    },
    selectorFlag,
    allFlag,
    {
      name: 'wait',
      type: 'string',
      value: 'UNTIL',
      implied: 'trusted',
      choices: goals,
      text: 'wait until the nodes trust it, or with =active until they run it',
    },
    { name: 'timeout', type: 'duration', value: 'TIME', defaultText: '20m, with --wait=active 5m', text: 'maximum wait' },
    {
      name: 'carrier',
      type: 'string',
      value: 'OBJECT',
      choices: carriers,
      default: 'auto',
      text: 'object that carries the assignment',
    },
    dryRunFlag,
    namespaceFlag,
    ...connectFlags,
    formatFlag,
  ],
  positionals: [nodePositional],
  async run(context, args) {
    const configMap = args.text('configmap') ?? '';
    const source = specSourceOf(configMap, await namespaceFor(context, args, configMap), args.text('key') ?? '');
    const choice = chosenNodes('assign', args);
    const goal = goals.find((goal) => goal === args.text('wait'));
    const dryRun = dryRunOf('assign', args, goal !== undefined);
    return withClient(context, args, async (client) => {
      const fleet = await fleetOf(context, args, client);
      const { found, notes } = await configMapNow(client, source, context.signal);
      const { done, failed, before } = await writeAll(context, fleet, choice, source, { dryRun, carrier: carrierOf(args) });
      await showAssignments(context, args, done, found);
      // If a node failed, the error is printed without the notes.
      if (failed.length > 0) throw failed[0];
      for (const note of notes) context.stderr.write(`dkc: note: ${note}\n`);
      if (dryRun) context.stderr.write('dkc: note: dry run, nothing was changed\n');
      if (goal === undefined) return fine;
      const wanted = { wanted: source, goal, ...(found ? { version: found } : {}) };
      return waitAndReport(context, { client, fleet }, wanted, before, args.ms('timeout') ?? TIMEOUT_MS[goal]);
    });
  },
};

export const unassign: Command = {
  describe: `Removes the assignment of nodes: they return to their local configuration.

With --wait, exits with 0 when every node runs its local configuration, and with 1 on timeout.`,
  examples: [
    { run: 'dkc unassign node-a --wait', what: 'one node' },
    { run: 'dkc unassign -l pool=web --dry-run', what: 'which nodes would be changed' },
  ],
  flags: [
    selectorFlag,
    allFlag,
    { name: 'wait', type: 'boolean', text: 'wait until the nodes run their local configuration' },
    { name: 'timeout', type: 'duration', default: '5m', value: 'TIME', text: 'maximum wait' },
    dryRunFlag,
    ...connectFlags,
    formatFlag,
  ],
  positionals: [nodePositional],
  async run(context, args) {
    const choice = chosenNodes('unassign', args);
    const dryRun = dryRunOf('unassign', args, args.on('wait'));
    return withClient(context, args, async (client) => {
      const fleet = await fleetOf(context, args, client);
      const { done, failed, before } = await writeAll(context, fleet, choice, null, { dryRun });
      await showAssignments(context, args, done, undefined);
      if (failed.length > 0) throw failed[0];
      noteMissingCarrier(context, args, fleet);
      if (dryRun) context.stderr.write('dkc: note: dry run, nothing was changed\n');
      if (!args.on('wait')) return fine;
      return waitAndReport(context, { client, fleet }, { wanted: null, goal: 'active' }, before, args.ms('timeout') ?? TIMEOUT_MS.active);
    });
  },
};

function carrierOf(args: Args): 'node' | 'nodeconfig' | undefined {
  const given = args.text('carrier');
  return given === 'node' || given === 'nodeconfig' ? given : undefined;
}

/** @throws {UsageError} if combined with --wait: a dry run changes nothing, so there is nothing to wait for */
function dryRunOf(command: string, args: Args, waits: boolean): boolean {
  const dryRun = (args.text('dry-run') ?? 'false') !== 'false';
  if (dryRun && waits) throw new UsageError(`${command}: --dry-run and --wait cannot be combined; see dkc ${command} --help`);
  return dryRun;
}

/** @throws {UsageError} in the words of the API server */
function specSourceOf(configMap: string, flag: string | undefined, kubeletConfigKey: string): SpecSource {
  const parts = configMap.split('/');
  const [namespace = '', name = ''] = parts.length === 1 && flag !== undefined ? [flag, configMap] : parts;
  if (name === '' || parts.length > 2)
    throw new UsageError(
      `assign: --configmap must be NAMESPACE/NAME, or NAME with -n NAMESPACE or a context that has one; see dkc assign --help`,
    );
  if (flag !== undefined && namespace !== flag) throw new UsageError(`assign: --configmap names namespace ${namespace}, and -n ${flag}`);
  const [problem] = specSourceProblems({ namespace, name, kubeletConfigKey });
  if (problem !== undefined) throw new UsageError(`assign: ${problem}`);
  return { namespace, name, kubeletConfigKey };
}

export interface ConfigMapNow {
  /** Absent: the ConfigMap does not exist or cannot be read. */
  found?: PayloadRef;
  /** The server reports that the ConfigMap does not exist. */
  isMissing?: boolean;
  /** Lines for stderr. */
  notes: string[];
}

/** Reads the ConfigMap. A missing one may be assigned, since nodes wait for it, so problems become notes instead of errors. */
export async function configMapNow(client: Pick<Client, 'get'>, source: SpecSource, signal: AbortSignal): Promise<ConfigMapNow> {
  const { namespace, name, kubeletConfigKey } = source;
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  const { configmapNamespace } = agentDefaults;
  if (namespace !== configmapNamespace)
    note(`agents read ConfigMaps only in ${configmapNamespace} unless started with --configmap-namespace; this one is in ${namespace}`);
  try {
    const { metadata, data, binaryData } = await client.get(configMaps, { namespace, name }, { signal });
    const hasKey = (bag: unknown): boolean => isJsonObject(bag) && Object.hasOwn(bag, kubeletConfigKey);
    if (hasKey(binaryData))
      note(`ConfigMap ${namespace}/${name} has ${kubeletConfigKey} as binaryData, which agents do not read: its file is not UTF-8 text`);
    else if (!hasKey(data)) note(`ConfigMap ${namespace}/${name} has no key ${kubeletConfigKey} yet`);
    return { notes, found: { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' } };
  } catch (error) {
    if (signal.aborted) throw error;
    const isMissing = isNotFound(error);
    if (isMissing) note(`ConfigMap ${namespace}/${name} does not exist yet; the nodes keep their current configuration until it does`);
    else note(`ConfigMap ${namespace}/${name} could not be read: ${printable(describeError(error))}`);
    return { notes, isMissing };
  }
}
