import { rfc3339 } from '../../base/clock.ts';
import { MAX_APPROVALS, rollouts, type Approval, type NodeConfigRollout } from '../../controllers/rollout/types.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Command } from '../command.ts';
import { withClient } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import { ago } from '../node/spoken.ts';
import { cannot, change, changeFlags, changePositionals, doingText, type Change } from './change.ts';
import { rolloutName } from './rollouts.ts';
import { whoAmI } from './who.ts';

export const rolloutApprove: Command = {
  describe: `Continues a rollout that waits for approval after a step with approve: true. The approval is recorded in status.approvals with the step, the revision, the time and the user: the user that the API server authenticated, or on servers before 1.26 the user in the kubeconfig.

Fails when no step waits for approval, and prints what the rollout waits for. With --step, approves only that step, and fails if another one is waiting by then.`,
  examples: [
    { run: 'dkc rollout approve web', what: 'the step that waits' },
    { run: 'dkc rollout approve web --step=2', what: 'only if it is the second' },
    { run: "dkc rollout status web -o jsonpath='{.status.approvals}'", what: 'who approved what' },
  ],
  flags: [
    { name: 'step', type: 'number', value: 'N', text: 'number of the step that must be waiting', defaultText: 'any step' },
    ...changeFlags,
  ],
  positionals: changePositionals,
  run: (context, args) => {
    const name = rolloutName('rollout approve', args);
    const step = args.number('step');
    if (step === 0) throw new UsageError('rollout approve: --step counts from 1; see dkc rollout approve --help');
    return withClient(context, args, async (client) => {
      const by = await whoAmI(context, args, client);
      const decide = (rollout: NodeConfigRollout): Change =>
        approve(client, rollout, { step, by, now: context.clock.now() }, context.signal);
      return change(context, args, client, { name, action: 'approve', decide });
    });
  },
};

function approve(
  client: Client,
  rollout: NodeConfigRollout,
  { step: asked, by, now }: { step: number | undefined; by: string; now: number },
  signal: AbortSignal,
): Change {
  const { waitsFor, step, revision, approvals = [] } = rollout.status ?? {};
  if (step === undefined || revision === undefined || waitsFor !== 'Approval')
    throw cannot('approve', rollout, `no step waits for approval; ${doingText(rollout)}`);
  if (asked !== undefined && asked !== step) throw cannot('approve', rollout, `step ${step} waits for approval, not step ${asked}`);
  const already = approvals.find((one) => one.step === step && one.revision === revision);
  if (already !== undefined) return { done: `step ${step} was approved by ${already.by} ${ago(already.at, now)}` };
  const approval: Approval = { step, revision, by, at: rfc3339(now) };
  const status = { ...rollout.status, approvals: [...approvals, approval].slice(-MAX_APPROVALS) };
  return {
    write: (one) => client.replace<NodeConfigRollout>(rollouts, { ...one, status }, { subresource: 'status', signal }),
    done: `step ${step} approved by ${by}`,
  };
}
