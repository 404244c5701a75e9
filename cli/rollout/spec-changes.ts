import { COPY_OF_ANNOTATION, type NodeConfigRollout } from '../../controllers/rollout/types.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Command } from '../command.ts';
import { withClient } from '../connect/flags.ts';
import {
  cannot,
  change,
  type Change,
  changeFlags,
  changePositionals,
  doingText,
  patchSpec,
  revisionNumbered,
  revisionsOf,
  rolloutName,
  objectsOf,
} from './rollouts.ts';
import { namesIn, nodesText } from '../../controllers/rollout/text.ts';
import { type ConfigMap, keyOf, numberOf } from '../../controllers/rollout/revision.ts';
import { UsageError } from '../failure.ts';
import { printable } from '../output/printable.ts';

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

A rollout that stopped after failures, or was aborted, continues only with --retry, which raises spec.attempt: the same revision starts again at its first step, with no failures counted. Use it when the configuration was not the cause. A corrected ConfigMap starts a new revision without --retry, and dkc rollout undo rolls out an earlier one.

Of a complete rollout, --retry tries the nodes that failed again, such as one that joined later and could not be drained; the others keep the configuration. The copy of the ConfigMap gets a new value of the annotation dkc.dev/retry, so that nodes that condemned it try it again, too.`,
  examples: [
    { run: 'dkc rollout resume web', what: 'after dkc rollout pause' },
    { run: 'dkc rollout resume web --retry', what: 'the same revision again, from its first step' },
  ],
  flags: [
    {
      name: 'retry',
      type: 'boolean',
      text: 'start a revision again that stopped after failures or was aborted; of a complete rollout try failed nodes again',
    },
    ...changeFlags,
  ],
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
  const failed = status.complete === true ? objectsOf(status.failures) : [];
  const isTriedAgain = retry && !isStopped && failed.length > 0;
  if (retry && !isStopped && !isTriedAgain) throw cannot('retry', rollout, `it has not stopped; ${doingText(rollout)}`);
  if (!isStopped && !isTriedAgain && spec.paused !== true) throw cannot('resume', rollout, `it is not paused; ${doingText(rollout)}`);
  const attempt = Math.max(1, spec.attempt ?? 1, status.attempt ?? 1) + 1;
  const again = isStopped ? { attempt, abortedRevision: null } : isTriedAgain ? { attempt } : {};
  const patch = { ...(spec.paused === true ? { paused: false } : {}), ...again };
  const done = isStopped
    ? `resumed; attempt ${attempt} starts at step 1`
    : isTriedAgain
      ? `resumed; attempt ${attempt} tries ${nodesText(failed.length)} again: ${namesIn(failed, ({ node }) => printable(node))}`
      : 'resumed';
  return { write: patchSpec(client, patch, signal), done };
}

export const rolloutAbort: Command = {
  describe: `Stops a rollout and rolls the nodes that have its revision back to the last complete revision, or to their local configuration if there is none, at most spec.maxUnavailable at once. Windows, gates and holds do not delay the rollback. Sets spec.abortedRevision to the current revision; a later edit of the ConfigMap is rolled out as usual.

A complete rollout cannot be aborted; dkc rollout undo rolls out an earlier revision.`,
  examples: [
    { run: 'dkc rollout abort web', what: '' },
    { run: 'dkc rollout watch web', what: 'until all nodes are back: exits with 1, RolledBack' },
  ],
  flags: changeFlags,
  positionals: changePositionals,
  run: (context, args) => {
    const name = rolloutName('rollout abort', args);
    return withClient(context, args, async (client) =>
      change(context, args, client, { name, action: 'abort', decide: (rollout) => abort(client, rollout, context.signal) }),
    );
  },
};

function abort(client: Client, rollout: NodeConfigRollout, signal: AbortSignal): Change {
  const { spec = {}, status = {} } = rollout;
  const { revision, phase, previousRevision, complete } = status;
  if (revision === undefined)
    throw cannot('abort', rollout, `it has not begun; to keep it from starting: dkc rollout pause ${rollout.metadata.name}`);
  if (complete === true)
    throw cannot('abort', rollout, `it is complete; dkc rollout undo ${rollout.metadata.name} rolls out the previous revision`);
  if (spec.abortedRevision === revision) return { done: `${revision} is already aborted` };
  if (phase === 'RolledBack') throw cannot('abort', rollout, 'its nodes have already been rolled back');
  if (revision === previousRevision)
    throw cannot('abort', rollout, `nodes roll back to ${revision}, the last complete revision, and there is none before it; to keep further nodes from it: dkc rollout pause ${rollout.metadata.name}`); // prettier-ignore
  const notes = previousRevision === undefined ? ['no revision was complete before: nodes return to their local configuration'] : [];
  return { write: patchSpec(client, { abortedRevision: revision }, signal), done: `aborted; rolling nodes back to ${previousRevision ?? 'local'}`, notes }; // prettier-ignore
}

export const rolloutUndo: Command = {
  describe: `Rolls out an earlier revision again, by default the previous one: sets spec.configMap.name to the copy of that revision, and the rollout starts at its first step. The last complete revision has no steps then: nodes that have another one get it, at most spec.maxUnavailable at once. Edits of the original ConfigMap are not rolled out until spec.configMap.name is set to it again.`,
  examples: [
    { run: 'dkc rollout undo web', what: 'the previous revision' },
    { run: 'dkc rollout history web', what: 'list the revisions' },
    { run: 'dkc rollout undo web --to-revision=3', what: '' },
  ],
  flags: [
    { name: 'to-revision', type: 'number', value: 'N', text: 'number of the revision', defaultText: 'the previous one' },
    ...changeFlags,
  ],
  positionals: changePositionals,
  run: (context, args) => {
    const name = rolloutName('rollout undo', args);
    const number = args.number('to-revision');
    if (number === 0) throw new UsageError('rollout undo: --to-revision counts from 1; see dkc rollout history');
    return withClient(context, args, async (client) => {
      const decide = async (rollout: NodeConfigRollout): Promise<Change> => {
        const revisions = await revisionsOf(client, rollout, context.signal);
        const to = number === undefined ? before(rollout, revisions) : revisionNumbered(revisions, number, 'undo to', rollout);
        return undo(client, rollout, to, context.signal);
      };
      return change(context, args, client, { name, action: 'undo', decide });
    });
  },
};

/** The revision that was completed last, else the newest one older than the current revision. */
function before(rollout: NodeConfigRollout, revisions: readonly ConfigMap[]): ConfigMap {
  const { revision, previousRevision } = rollout.status ?? {};
  const current = revisions.find(({ metadata }) => metadata.name === revision);
  const found =
    revisions.find(({ metadata }) => metadata.name === previousRevision && previousRevision !== revision) ??
    revisions.find((one) => current !== undefined && numberOf(one) < numberOf(current));
  if (found !== undefined) return found;
  throw cannot('undo', rollout, 'there is no earlier revision; dkc unassign returns nodes to their local configuration');
}

function undo(client: Client, rollout: NodeConfigRollout, to: ConfigMap, signal: AbortSignal): Change {
  const { spec = {}, metadata, status = {} } = rollout;
  const name = to.metadata.name ?? '';
  const { name: from = '', kubeletConfigKey = '' } = spec.configMap ?? {};
  const key = keyOf(to, kubeletConfigKey);
  const isSameKey = key === kubeletConfigKey;
  if ((from === name && isSameKey) || (status.revision === name && status.stopped === undefined && spec.abortedRevision !== name))
    return { done: `already rolls out ${name} (revision ${numberOf(to)})` };
  // The original ConfigMap, if spec already names a copy because of an earlier undo.
  const original = /^[^/]*\/([^:]*):/.exec(to.metadata.annotations?.[COPY_OF_ANNOTATION] ?? '')?.[1] ?? from;
  const named = { name: original, ...(isSameKey ? {} : { kubeletConfigKey }) };
  const back = `kubectl patch ncr ${metadata.name} --type=merge -p '${JSON.stringify({ spec: { configMap: named } })}'`;
  const notes = [
    ...(status.complete !== true && name === status.previousRevision
      ? ['it was complete before, so steps, holds and approvals are skipped']
      : []),
    `edits of ConfigMap ${original} are no longer rolled out; to roll it out again: ${back}`,
    ...(spec.paused === true ? [`it is paused; to continue: dkc rollout resume ${metadata.name}`] : []),
  ];
  const patch = { configMap: { name, ...(isSameKey ? {} : { kubeletConfigKey: key }) }, abortedRevision: null };
  return { write: patchSpec(client, patch, signal), done: `rolls out ${name} (revision ${numberOf(to)}) again`, notes };
}
