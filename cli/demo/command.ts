import { once } from 'node:events';
import { fine, wrong, type Command } from '../command.ts';
import { ActionError } from '../../base/errors.ts';
import { printable } from '../printable.ts';
import { buildStage } from './stage.ts';
import { tell } from './story.ts';
import { Teller } from './teller.ts';
import { describeError } from '../../base/errors.ts';

export const demo: Command = {
  describe: `Plays the main job on this machine, in under a minute, without root: an API server in memory, a node with its agent and a stand-in for its kubelet. A good configuration becomes effective, an invalid one is refused, one that kills the kubelet is undone, the API server goes away and comes back, an admin looks, compares and drills.

With --keep all of it stays up afterwards, to try kubectl and dkc on, until Ctrl-C. Nothing is left behind.`,
  examples: [
    { run: 'dkc demo', what: 'the story' },
    { run: 'dkc demo --keep', what: 'and a cluster of one node to play with' },
  ],
  flags: [{ name: 'keep', type: 'boolean', text: 'leave everything up until Ctrl-C' }],
  positionals: [],
  async run(context, args) {
    const main = process.argv[1];
    if (main === undefined) throw new ActionError('start', 'the agent', { hint: 'run the demo as a command: dkc demo' });
    const teller = new Teller(context);
    await using stage = await buildStage(context, [process.execPath, main]);
    try {
      await tell(context, stage, teller);
    } catch (error) {
      if (context.signal.aborted) return wrong('the demo was ended before its end');
      for (const log of [stage.files.agentLog, stage.files.kubeletLog]) context.stderr.write(await tail(context, log));
      return wrong(`the demo did not go as told: ${describeError(error)}`);
    }
    context.stdout.write(`\nDone in ${teller.seconds} s.\n`);
    if (args.on('keep')) {
      context.stdout.write(hints(stage.files, `${process.execPath} ${main}`));
      if (!context.signal.aborted) await once(context.signal, 'abort');
    }
    return fine;
  },
};

function hints({ kubeconfig, agentConfig, agentLog, localConfig }: Awaited<ReturnType<typeof buildStage>>['files'], dkc: string): string {
  return `
Everything stays up until Ctrl-C. In another shell:

  export KUBECONFIG=${kubeconfig}
  kubectl get nodes
  kubectl -n dkc-system get configmaps
  kubectl -n dkc-system edit configmap later      # the node follows
  kubectl get node demo-node -o yaml              # status.config says how it went

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
