import { once } from 'node:events';
import { fine, wrong, type Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import { printable } from '../output/printable.ts';
import { assignments, buildStage, type Assignment } from './stage.ts';
import { tell } from './story.ts';
import { Teller } from './teller.ts';

/** With fewer the share of the nodes that may be unavailable is less than the failure budget; more need gigabytes. */
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
      what: 'a rollout to 500 nodes in one process, and one that stops and is rolled back; two to four minutes',
    },
    { run: 'dkc demo --keep', what: 'the same, and keep the one-node cluster' },
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
    const teller = new Teller(context);
    await using stage = await buildStage(context, [process.execPath, main], assignment);
    try {
      await tell(context, stage, teller);
    } catch (error) {
      if (context.signal.aborted) return wrong('the demo was interrupted');
      for (const log of [stage.files.agentLog, stage.files.kubeletLog]) context.stderr.write(await tail(context, log));
      return wrong(`the demo failed: ${describeError(error)}`);
    }
    context.stdout.write(`\nDone in ${teller.seconds} s.\n`);
    if (args.on('keep')) {
      context.stdout.write(hints(stage.files, `${process.execPath} ${main}`, assignment));
      if (!context.signal.aborted) await once(context.signal, 'abort');
    }
    return fine;
  },
};

type Files = Awaited<ReturnType<typeof buildStage>>['files'];

function hints({ kubeconfig, agentConfig, agentLog, localConfig }: Files, dkc: string, assignment: Assignment): string {
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

  alias dkc='${dkc}'
  dkc nodes
  dkc status --agent-config=${agentConfig}
  dkc rollback --reason='just trying' --agent-config=${agentConfig}

Its local configuration is ${localConfig}, its log ${agentLog}.
`;
}

/** The last lines of a log, for when the story goes wrong. */
async function tail({ disk }: Parameters<Command['run']>[0], path: string): Promise<string> {
  const text = await disk.read(path).then(
    (bytes) => Buffer.from(bytes).toString('utf8'),
    () => '',
  );
  const lines = text.trimEnd().split('\n').slice(-12);
  return `--- ${path}\n${lines.map((line) => `${printable(line)}\n`).join('')}`;
}
