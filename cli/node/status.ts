import { askApi, vitalsOf } from './vitals.ts';
import { nodeSide, nodeSideFlags, type NodeSide } from './node-side.ts';
import { statusText } from './status-text.ts';
import { faultOf, viewStatus } from '../../agent/admin/status.ts';
import { fine, wrong, type Command, type Context } from '../command.ts';
import { show } from '../output/output.ts';
import { signersOf } from '../../agent/evaluate/node-inputs.ts';
import { viewActive, type AdminFacts } from '../../agent/admin/facts.ts';
import type { Args } from '../args/args.ts';

export const status: Command = {
  describe: [
    'Shows which configuration this node runs, since when, and why, and whether its agent and its kubelet are running. Reads the disk, so ' +
      'it works without the API server and with the agent stopped. With --kubeconfig it also shows what the API server reports.',
    'Exits with 1 after a fallback, if a config was rejected, if the store is damaged, and if the local config is missing.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc status', what: 'what runs here, and what to do next' },
    { run: 'dkc status --kubeconfig=/etc/dkc/kubeconfig', what: 'also what the API server reports' },
    { run: 'dkc status -o json', what: 'for scripts' },
  ],
  flags: nodeSideFlags(['node-name', 'effective-config', 'local-config', 'kubeconfig', 'policy'], {
    policy: 'field policy with the signatureKeys that verify who signed the running config',
    kubeconfig: 'also show what the API server reports',
  }),
  positionals: [],
  async run(context, args) {
    const facts = await showStatus(context, args, await nodeSide(context, args));
    const fault = faultOf(facts);
    return fault === undefined ? fine : wrong(fault);
  },
};

/** What `rollback` and `retry` print at their end as well. @returns what was read for it */
export async function showStatus(context: Context, args: Args, node: NodeSide): Promise<AdminFacts> {
  const { nodeName, trialDuration, kubeconfig } = node.options;
  // Only when asked: the agent's own kubeconfig is no reason to wait for a network at night.
  const asked = (args.text('kubeconfig') ?? '') !== '' ? kubeconfig : undefined;
  const [vitals, api] = await Promise.all([vitalsOf(context, node), asked === undefined ? undefined : askApi(context, asked, nodeName)]);
  const facts = await node.observe();
  const signedBy = await signerOf(context, node, facts);
  const query = { node: nodeName, needMs: trialDuration, vitals, ...(signedBy === undefined ? {} : { signedBy }) };
  const view = viewStatus(facts, { ...query, ...(api === undefined ? {} : { api }) });
  await show(context, args, { data: view, people: (how) => statusText(view, facts, vitals, context.clock.now(), how) });
  return facts;
}

/** Who signed what runs; null for nobody, and undefined where the policy asks for no signatures. */
async function signerOf({ disk }: Context, { options, store }: NodeSide, facts: AdminFacts): Promise<string | null | undefined> {
  const ask = await signersOf(options, disk, store);
  if (ask === 'none' || ask === 'unknown') return undefined;
  const found = await ask(viewActive(facts).source);
  return found?.ok === true ? found.signer.name : null;
}
