import { once } from 'node:events';
import { type Command, type Context, fine, wrong } from '../command.ts';
import { UsageError } from '../failure.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import { printable } from '../output/printable.ts';
import { type Assignment, assignments, buildStage, configMap, KEY, NAMESPACE, NODE, type PayloadName, type Stage } from './stage.ts';
import { aliasLine, eventText, Narrator, typed } from './narrator.ts';
import { configMaps } from '../../kube/api/object.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { Millis } from '../../base/clock.ts';

/** Timeout of each wait; no step takes nearly as long, even on a slow machine. */
const PATIENCE: Millis = 120_000;

/** Plays the main workflow of dkc on one node, step by step. @throws as soon as a step does not happen as described */
async function runStory(context: Context, stage: Stage, narrator: Narrator): Promise<void> {
  const { client, fleet, supervisor, server } = stage;
  const { signal } = context;
  const kubelet = (what: string, maxPods: number) => stage.kubelet.until(what, (seen) => seen.maxPods === maxPods, PATIENCE, signal);
  const node = (what: string, fits: (seen: FleetNode) => boolean) => stage.node.until(what, fits, PATIENCE, signal);
  const assign = async (name: PayloadName): Promise<void> => {
    await client.create(configMaps, configMap(name), { signal });
    const { carrier } = await fleet.assign(await fleet.read(NODE, signal), { namespace: NAMESPACE, name, kubeletConfigKey: KEY }, signal);
    const object = carrier === 'nodeconfig' ? 'NodeConfig' : 'spec.configSource of Node';
    narrator.event(`the admin assigns ConfigMap ${NAMESPACE}/${name} in ${object} ${NODE}`);
  };
  const types = (...argv: string[]) => {
    const { kubeconfig, agentConfig } = stage.files;
    return typed(context, narrator, argv, argv[0] === 'nodes' ? `--kubeconfig=${kubeconfig}` : `--agent-config=${agentConfig}`);
  };
  const restarts = (): number => supervisor.kubelet.starts;

  narrator.step('A node on its local configuration');
  supervisor.agent.start();
  await kubelet('the kubelet on its local config', 110);
  narrator.event('agent ready, effective file written, kubelet running with maxPods 110');

  narrator.step('A good configuration');
  await assign('good');
  await kubelet('the kubelet on the good config', 120);
  narrator.event('downloaded, validated, written; kubelet restarted, now with maxPods 120');
  await node('the good config trusted', (seen) => seen.lastKnownGood?.name === 'good');
  narrator.event('healthy for 3 s: it is now the last known good');

  narrator.step('An invalid one');
  const before = restarts();
  await assign('invalid');
  const refused = await node('the invalid config refused', (seen) => seen.error !== null);
  narrator.event(`rejected before anything restarts: ${refused.error ?? ''}`);
  narrator.note(await eventText(context, client, 'KubeletConfigRefused'));
  untouched('the refused config', before, restarts());
  narrator.event(`the kubelet was not restarted and runs with maxPods ${stage.kubelet.last?.maxPods ?? '?'}`);

  narrator.step('A valid one that crashes the kubelet');
  const crashes = stage.kubelet.last?.crashes ?? 0;
  await assign('deadly');
  await stage.kubelet.until('the kubelet die', (seen) => seen.crashes > crashes, PATIENCE, signal);
  narrator.event('the kubelet crashes: the cgroup named in the config does not exist');
  await node('the crashing config condemned', (seen) => seen.error?.startsWith('failed trial') === true && seen.active?.name === 'good');
  await kubelet('the kubelet back on the good config', 120);
  narrator.event('condemned and rolled back; kubelet running with maxPods 120');
  narrator.note(await eventText(context, client, 'KubeletConfigCondemned'));

  narrator.step('The API server goes down');
  await server.hooks.pause();
  supervisor.agent.crash();
  const [again, since] = [supervisor.agent.starts, restarts()];
  narrator.event('API server stopped, agent killed with -9');
  await types('status');
  await stage.supervisor.whenAgentReady(again, PATIENCE, signal);
  untouched('the restart of the agent', since, restarts());
  narrator.event('the agent restarted without it; the kubelet was not restarted');
  await server.hooks.resume();
  await assign('later');
  await kubelet('the kubelet on the next config', 140);
  narrator.event('the API server is back, and the next assignment is applied');
  await node('the next config trusted', (seen) => seen.lastKnownGood?.name === 'later');
  narrator.event('healthy for 3 s: it is now the last known good');

  narrator.step('An admin on the node');
  await types('checkpoints', 'list');
  await types('checkpoints', 'diff', `${NAMESPACE}/good`);
  await types('drill');
  await types('history');
  await types('nodes');
}

/** Throws if the kubelet was restarted although the scenario claims that it was not. */
function untouched(by: string, before: number, after: number): void {
  if (before === after) return;
  throw new ActionError('confirm', `that ${by} left the kubelet alone`, { hint: `it was started ${after - before} times meanwhile` });
}

/** With fewer nodes the share that may be unavailable is less than the failure budget; more than the maximum need gigabytes of memory. */
const MIN_NODES = 30;
const MAX_NODES = 5_000;

export const demo: Command = {
  describe: `Runs a guided demo on this machine, in under a minute, without root: an in-memory API server, a node with its agent and a fake kubelet. A NodeConfig assigns the configuration, as on current API servers. A good configuration is applied, an invalid one is rejected, one that crashes the kubelet is rolled back, the API server goes down and comes back, and an admin inspects the node, compares configurations and runs a drill.

With --nodes the demo uses a fleet instead: N simulated nodes, each with the real agent and a simulated kubelet, and the rollout controller, all in this process. A good configuration is rolled out in steps; one that crashes the kubelets of some nodes stops at its failure budget and is rolled back. The demo prints the address of the fleet page, where you can watch; on a terminal the page stays open afterwards, until Ctrl-C.

With --keep everything stays up afterwards, for your own kubectl and dkc, until Ctrl-C. Nothing is left behind.`,
  examples: [
    { run: 'dkc demo', what: 'the whole demo' },
    { run: 'dkc demo --assignment=node', what: 'as on API servers up to 1.25, with Node.spec.configSource' },
    {
      run: 'dkc demo --nodes=500',
      what: 'a rollout to 500 nodes in one process, and one that stops and is rolled back; a minute or two',
    },
    { run: 'dkc demo --keep', what: 'the whole demo, and keep its one-node cluster' },
  ],
  flags: [
    {
      name: 'assignment',
      type: 'string',
      value: 'OBJECT',
      choices: assignments,
      default: 'nodeconfig',
      text: 'object that assigns the config: a NodeConfig, or the Node itself',
    },
    {
      name: 'nodes',
      type: 'number',
      value: 'N',
      text: `a fleet of N nodes (${MIN_NODES} to ${MAX_NODES}) and a rollout instead of one node`,
    },
    { name: 'keep', type: 'boolean', text: 'keep everything up until Ctrl-C' },
  ],
  positionals: [],
  async run(context, args) {
    const nodes = args.number('nodes');
    if (nodes !== undefined) {
      if (!Number.isInteger(nodes) || nodes < MIN_NODES || nodes > MAX_NODES)
        throw new UsageError(`--nodes must be a whole number from ${MIN_NODES} to ${MAX_NODES}`);
      if (args.text('assignment') === 'node')
        throw new UsageError('--nodes and --assignment=node cannot be combined: rollouts assign by NodeConfigs here');
      const { fleetDemo } = await import('./fleet/fleet-story.ts');
      return fleetDemo(context, nodes, args.on('keep'));
    }
    const main = process.argv[1];
    if (main === undefined) throw new ActionError('start', 'the agent', { hint: 'run the demo as a command: dkc demo' });
    const assignment = assignments.find((one) => one === args.text('assignment')) ?? 'nodeconfig';
    const narrator = new Narrator(context);
    await using stage = await buildStage(context, [process.execPath, main], assignment);
    try {
      await runStory(context, stage, narrator);
    } catch (error) {
      context.signal.throwIfAborted();
      for (const log of [stage.files.agentLog, stage.files.kubeletLog]) context.stderr.write(await tail(context, log));
      return wrong(`the demo failed: ${describeError(error)}`);
    }
    context.stdout.write(`\nDone in ${narrator.seconds} s.\n`);
    if (args.on('keep')) {
      context.stdout.write(hints(stage.files, assignment));
      if (!context.signal.aborted) await once(context.signal, 'abort');
    }
    return fine;
  },
};

type Files = Awaited<ReturnType<typeof buildStage>>['files'];

function hints({ kubeconfig, agentConfig, agentLog, localConfig }: Files, assignment: Assignment): string {
  const object =
    assignment === 'nodeconfig'
      ? 'nodeconfig demo-node -o yaml        # spec assigns, status reports'
      : 'node demo-node -o yaml              # see status.config for the result';
  return `
Everything stays up until Ctrl-C. In another shell:

  export KUBECONFIG=${kubeconfig}
  kubectl get nodes
  kubectl -n dkc-system get configmaps
  kubectl -n dkc-system edit configmap later      # the node follows
  kubectl get ${object}

  ${aliasLine()}
  dkc nodes
  dkc status --agent-config=${agentConfig}
  dkc rollback --reason='just trying' --agent-config=${agentConfig}

Its local configuration is ${localConfig}, its log ${agentLog}.
`;
}

/** The last lines of a log, shown if the demo fails. */
async function tail({ disk }: Parameters<Command['run']>[0], path: string): Promise<string> {
  const text = await disk.read(path).then(
    (bytes) => Buffer.from(bytes).toString('utf8'),
    () => '',
  );
  const lines = text.trimEnd().split('\n').slice(-12);
  return `--- ${path}\n${lines.map((line) => `${printable(line)}\n`).join('')}`;
}
