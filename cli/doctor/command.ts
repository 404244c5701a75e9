import { examineAll, type Finding, type Result, seen, type Topic, topic } from './check.ts';
import {
  ClusterInspector,
  inspectControllers,
  inspectUserCredentials,
  inspectDefinitions,
  inspectFleet,
  inspectHello,
  inspectRoles,
} from './inspect/cluster.ts';
import { accessOf as accessOrProblem } from './inspect/credentials.ts';
import { NodeInspector } from './inspect/node-inspector.ts';
import { agentFileFlag, nodeFlagsFor } from '../agent/flags.ts';
import { nodeOptionsOrDefaults } from '../agent/node-options.ts';
import { accessOf, kubeconfigPaths } from '../connect/connect.ts';
import { connectFlags, connectQueryOf, withClient } from '../connect/flags.ts';
import { type Column, formatFlag, type Paint, type People, show, table } from '../output/output.ts';
import { AGENT_CONFIG_FILE } from '../../agent/options.ts';
import { serverFacts } from '../../controllers/fleet/server-facts.ts';
import { ActionError, messageOf } from '../../base/errors.ts';
import { UsageError } from '../failure.ts';
import type { Args } from '../args/args.ts';
import { type Command, type Context, type Exit, fine, type Flag, wrong } from '../command.ts';
import type { Millis } from '../../base/clock.ts';
import { printable } from '../output/printable.ts';
import { inspectCommandLine, inspectDropIns, inspectHost, inspectPorts, inspectUnits } from './inspect/units.ts';
import { inspectDisk, inspectPermissions, inspectSettings, inspectStore } from './inspect/files.ts';
import { inspectCredentials, inspectServer } from './inspect/server.ts';
import { commandLineChecks, hostChecks } from './node/command-line.ts';
import { controllerChecks } from './cluster/controllers.ts';
import { definitionChecks } from './cluster/definitions.ts';
import { fleetChecks } from './cluster/fleet.ts';
import { roleChecks } from './cluster/roles.ts';
import { credentialChecks, nodeHints, userHints } from './node/credentials.ts';
import { diskChecks, permissionChecks, settingsChecks, storeChecks } from './node/files.ts';
import { portChecks } from './node/ports.ts';
import { helloChecks, serverChecks } from './node/server.ts';
import { dropInChecks } from './node/drop-ins.ts';
import { unitChecks } from './node/units.ts';

/** Topics on a node, in the order of the report: topics that others depend on come first. */
export const nodeTopics: readonly Topic<NodeInspector>[] = [
  topic(settingsChecks, inspectSettings),
  topic(unitChecks, inspectUnits),
  topic(dropInChecks, inspectDropIns),
  topic(commandLineChecks, inspectCommandLine),
  topic(hostChecks, inspectHost),
  topic(portChecks, inspectPorts),
  topic(diskChecks, inspectDisk),
  topic(permissionChecks, inspectPermissions),
  topic(storeChecks, inspectStore),
  topic(credentialChecks(nodeHints), inspectCredentials),
  topic(serverChecks, inspectServer),
];

/** Topics of a cluster. */
export const clusterTopics: readonly Topic<ClusterInspector>[] = [
  topic(credentialChecks(userHints), inspectUserCredentials),
  topic(helloChecks, inspectHello),
  topic(definitionChecks, inspectDefinitions),
  topic(roleChecks, inspectRoles),
  topic(fleetChecks, inspectFleet),
  topic(controllerChecks, inspectControllers),
];

/** Maximum time for gathering the facts of one topic. */
const NODE_MS: Millis = 15_000;
/** Longer, since some topics list all nodes. */
const CLUSTER_MS: Millis = 60_000;

/** Connection flags that need --cluster: all but --kubeconfig. */
const clusterFlags: readonly Flag[] = connectFlags.filter(({ name }) => name !== 'kubeconfig');

export const doctor: Command = {
  describe: [
    'Checks this node for problems that keep dkc from working, and prints a remedy for each. Changes nothing, and works with the agent stopped and the API server down. ' +
      'A check that cannot be run is skipped, and its detail says why; most checks need root.',
    'With --cluster it checks a cluster instead, as the user of a kubeconfig: the CustomResourceDefinitions, roles and policies of dkc, the agents and kubelet versions of the nodes, and the controllers.',
    'Exits with 0 if all is fine or there are only warnings, with 1 if a check failed, with 3 if no check could be run.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc doctor', what: 'problems on this node' },
    { run: 'dkc doctor --cluster', what: 'problems of a cluster, from any machine with a kubeconfig' },
    { run: 'dkc doctor -o wide', what: 'also what each check expects' },
    { run: `dkc doctor -o json | jq '.[] | select(.result == "failed")'`, what: 'for scripts' },
  ],
  flags: [
    { name: 'cluster', type: 'boolean', text: 'check a cluster instead of this node' },
    formatFlag,
    ...clusterFlags,
    ...nodeFlagsFor(['node-name', 'kubeconfig', 'dynamic-config-dir', 'local-config', 'effective-config', 'kubelet-version', 'policy'], {
      kubeconfig: 'kubeconfig of the agent; with --cluster, your own (default: $KUBECONFIG, then ~/.kube/config)',
    }),
  ],
  positionals: [],
  async run(context, args) {
    if (args.on('cluster')) return ofCluster(context, args);
    const apart = clusterFlags.find(({ name }) => args.value(name) !== undefined);
    if (apart) throw new UsageError(`doctor: --${apart.name} requires --cluster; see dkc doctor --help`);
    return report(context, args, nodeTopics, { inspector: await nodeInspector(context, args), timeoutMs: NODE_MS, of: 'this node' });
  },
};

/** @throws if the API server does not respond: then no check is possible */
function ofCluster(context: Context, args: Args): Promise<Exit> {
  const query = connectQueryOf(context, args);
  return withClient(context, args, async (client) => {
    const server = await serverFacts(client, context.signal);
    const access = await seen(() => accessOrProblem(() => accessOf(query, context.env)));
    const [kubeconfig = ''] = kubeconfigPaths(query, context.env);
    const inspector = new ClusterInspector(context, { client, server, kubeconfig, access });
    return report(context, args, clusterTopics, { inspector, timeoutMs: CLUSTER_MS, of: 'this cluster' });
  });
}

async function report<Inspector>(
  context: Context,
  args: Args,
  topics: readonly Topic<Inspector>[],
  { inspector, timeoutMs, of }: { inspector: Inspector; timeoutMs: Millis; of: string },
): Promise<Exit> {
  const { clock, signal } = context;
  const findings = await examineAll(topics, inspector, { clock, signal, timeoutMs });
  const wants = new Map(topics.flatMap(({ checks }) => checks.map(({ name, wants }) => [name, wants] as const)));
  await show(context, args, { data: reportData(findings), people: (how) => reportText(findings, wants, how) });
  return exitOf(findings, of);
}

/** @throws UsageError for flags; doctor itself reports settings that cannot be read */
async function nodeInspector(context: Context, args: Args): Promise<NodeInspector> {
  const named = args.text(agentFileFlag.name);
  const settingsFile = named === undefined ? AGENT_CONFIG_FILE : context.path(named);
  const { options, problem } = await nodeOptionsOrDefaults(context, args);
  return new NodeInspector(context, options, { settingsFile, ...(problem === undefined ? {} : { settingsProblem: messageOf(problem) }) });
}

/** A line per check, then the remedies in the same order. @param wants - requirement by check, for -o wide */
export async function reportText(findings: readonly Finding[], wants: ReadonlyMap<string, string>, how: People): Promise<string> {
  const columns: Column<Finding>[] = [
    { title: 'CHECK', value: ({ check }) => check },
    { title: 'RESULT', value: ({ result }) => result, paint: (cell, { result }, paint) => paintOf(result, paint)(cell) },
    { title: 'WANTED', value: ({ check }) => wants.get(check) ?? '', wide: true },
    { title: 'DETAIL', value: ({ detail }) => detail },
  ];
  const remedies = findings.filter(({ remedy }) => remedy !== undefined);
  const lines = remedies.map(({ check, result, remedy }) => `  ${paintOf(result, how.paint)(check)}: ${printable(remedy ?? '')}\n`);
  return [await table(columns, findings, how), ...(lines.length > 0 ? [`\nWhat to do:\n${lines.join('')}`] : [])].join('');
}

/** Data for json and yaml. `ok` agrees with the exit code: warnings and skipped checks are ok. */
const reportData = (findings: readonly Finding[]): object[] =>
  findings.map(({ check, result, detail, remedy }) => ({ check, ok: result !== 'failed', result, detail, remedy: remedy ?? null }));

/** 1 if a check failed. @throws ActionError (exit 3) if all checks were skipped */
export function exitOf(findings: readonly Finding[], of: string): Exit {
  const [first] = findings;
  if (findings.every(({ result }) => result === 'skipped'))
    throw new ActionError('check', of, { hint: first === undefined ? 'no check applies here' : first.detail });
  const bad = findings.filter(({ result }) => result === 'failed').map(({ check }) => check);
  return bad.length === 0 ? fine : wrong(`${bad.length} of ${findings.length} checks failed: ${bad.join(', ')}`);
}

function paintOf(result: Result, paint: Paint): (text: string) => string {
  const paints: Readonly<Record<Result, (text: string) => string>> = {
    ok: paint.green,
    warning: paint.yellow,
    failed: paint.red,
    skipped: paint.dim,
  };
  return paints[result];
}
