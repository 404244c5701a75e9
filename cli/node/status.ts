import { askApi } from './api-view.ts';
import { nodeSide, nodeSideFlags, type NodeSide } from './node-side.ts';
import { statusText } from './status-text.ts';
import { viewStatus } from '../../agent/admin/status.ts';
import { fine } from '../command.ts';
import { show } from '../output.ts';
import type { Args } from '../args.ts';
import type { Command, Context } from '../command.ts';

export const status: Command = {
  describe: [
    'Says from disk alone which configuration this node runs, since when, and why. Works with the API server away and the agent stopped.',
    'With --kubeconfig it also shows what the API server says, beside it.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc status', what: 'what runs here, and what to do next' },
    { run: 'dkc status --kubeconfig=/etc/dkc/kubeconfig', what: 'the same beside what the API server says' },
    { run: 'dkc status -o json', what: 'for scripts' },
  ],
  flags: nodeSideFlags,
  positionals: [],
  async run(context, args) {
    await showStatus(context, args, await nodeSide(context, args));
    return fine;
  },
};

/** What `rollback` and `retry` print at their end as well. */
export async function showStatus(context: Context, args: Args, node: NodeSide): Promise<void> {
  const { nodeName, trialDuration, kubeconfig } = node.options;
  const facts = await node.observe();
  // Only when asked: the agent's own kubeconfig is no reason to wait for a network at night.
  const asked = (args.text('kubeconfig') ?? '') !== '' ? kubeconfig : undefined;
  const api = asked === undefined ? undefined : await askApi(context, asked, nodeName);
  const view = viewStatus(facts, { node: nodeName, needMs: trialDuration, ...(api === undefined ? {} : { api }) });
  await show(context, args, { data: view, people: (how) => statusText(view, facts, context.clock.now(), how) });
}
