import type { NodeConfigRollout } from '../../controllers/rollout/types.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Command } from '../command.ts';
import { withClient } from '../connect/flags.ts';
import { cannot, change, changeFlags, changePositionals, doingText, patchSpec, type Change } from './change.ts';
import { rolloutName } from './rollouts.ts';

export const rolloutPause: Command = {
  describe: `Sets spec.paused: no further node is changed. Nodes in flight still apply their assignment, and count when they fail. A rollback is not paused.`,
  examples: [
    { run: 'dkc rollout pause web', what: '' },
    { run: 'dkc rollout resume web', what: 'continue' },
  ],
  flags: changeFlags,
  positionals: changePositionals,
  run: (context, args) => {
    const name = rolloutName('rollout pause', args);
    return withClient(context, args, async (client) => {
      const decide = ({ spec }: NodeConfigRollout): Change =>
        spec?.paused === true
          ? { done: 'is already paused' }
          : { write: patchSpec(client, { paused: true }, context.signal), done: 'paused' };
      return change(context, args, client, { name, action: 'pause', decide });
    });
  },
};

export const rolloutResume: Command = {
  describe: `Clears spec.paused: the rollout continues where it was.

A rollout that stopped after failures, or was aborted, continues only with --retry, which raises spec.attempt: the same revision starts again at its first step, with no failures counted. Use it when the configuration was not the cause. A corrected ConfigMap starts a new revision without --retry, and dkc rollout undo rolls out an earlier one. A node that condemned the configuration rejects it again until dkc retry on that node clears the condemnation.`,
  examples: [
    { run: 'dkc rollout resume web', what: 'after dkc rollout pause' },
    { run: 'dkc rollout resume web --retry', what: 'the same revision again, from its first step' },
  ],
  flags: [{ name: 'retry', type: 'boolean', text: 'start a revision again that stopped after failures or was aborted' }, ...changeFlags],
  positionals: changePositionals,
  run: (context, args) => {
    const name = rolloutName('rollout resume', args);
    const retry = args.on('retry');
    return withClient(context, args, async (client) =>
      change(context, args, client, { name, action: 'resume', decide: (rollout) => resume(client, rollout, retry, context.signal) }),
    );
  },
};

function resume(client: Client, rollout: NodeConfigRollout, retry: boolean, signal: AbortSignal): Change {
  const { spec = {}, status = {} } = rollout;
  const isAborted = spec.abortedRevision !== undefined && spec.abortedRevision === status.revision;
  const isStopped = status.stopped !== undefined || isAborted;
  if (isStopped && !retry) {
    const why = isAborted ? 'it was aborted' : `it has stopped: ${status.message ?? status.phase ?? ''}`;
    throw cannot('resume', rollout, `${why}; correct its ConfigMap, roll out an earlier revision with dkc rollout undo, or retry this one: dkc rollout resume ${rollout.metadata.name} --retry`); // prettier-ignore
  }
  if (retry && !isStopped) throw cannot('retry', rollout, `it has not stopped; ${doingText(rollout)}`);
  if (!isStopped && spec.paused !== true) throw cannot('resume', rollout, `it is not paused; ${doingText(rollout)}`);
  const attempt = Math.max(1, spec.attempt ?? 1, status.attempt ?? 1) + 1;
  const patch = { ...(spec.paused === true ? { paused: false } : {}), ...(isStopped ? { attempt, abortedRevision: null } : {}) };
  return { write: patchSpec(client, patch, signal), done: isStopped ? `resumed; attempt ${attempt} starts at step 1` : 'resumed' };
}
