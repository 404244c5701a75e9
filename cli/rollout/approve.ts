import { rfc3339 } from '../../base/clock.ts';
import { type Approval, MAX_APPROVALS, type NodeConfigRollout, rollouts } from '../../controllers/rollout/types.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Command, Context } from '../command.ts';
import { connectQueryOf, withClient } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import { ago } from '../node/spoken.ts';
import { cannot, change, type Change, changeFlags, changePositionals, doingText, rolloutName } from './rollouts.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import { ApiError, isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { kubeconfigUser } from '../../kube/client/access.ts';
import type { Args } from '../args/args.ts';
import { kubeconfigPaths } from '../connect/connect.ts';

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

type Review = KubeObject & { status?: { userInfo?: { username?: string } } };

/** Versions of SelfSubjectReview, newest first, added in 1.28, 1.27 and 1.26. */
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'];
const MAX_NAME = 256;

const reviews = (version: string): Resource => ({
  group: 'authentication.k8s.io',
  version,
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});

/** The current user as the API server authenticates it; on servers before 1.26 the user of the kubeconfig. */
export async function whoAmI(context: Context, args: Args, client: Pick<Client, 'create'>): Promise<string> {
  for (const version of VERSIONS) {
    try {
      const { status } = await client.create<Review>(reviews(version), { metadata: {} }, { signal: context.signal });
      const name = status?.userInfo?.username ?? '';
      if (name !== '') return name.slice(0, MAX_NAME);
    } catch (error) {
      if (!(error instanceof ApiError) || !(isNotFound(error) || isForbidden(error))) throw error;
    }
  }
  const as = args.text('as');
  if (as !== undefined) return as.slice(0, MAX_NAME);
  const query = connectQueryOf(context, args);
  const user = await kubeconfigUser(kubeconfigPaths(query, context.env), query.context);
  return (user ?? 'unknown').slice(0, MAX_NAME);
}
