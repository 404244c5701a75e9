import { dirname, join } from 'node:path';
import { localConfigWatch, observeRecords, planRecordChange, readRecords, signatureWatch } from './changes.ts';
import { type AgentContext, DEFAULT_POLICY_FILE } from '../options.ts';
import { layout } from '../store/layout.ts';
import type { Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { Trigger } from '../../base/waiting.ts';

/** Time until a failed check is repeated, in ms: no further change may trigger it. */
const RETRY_MS: Millis = 10_000;

/** Handles changes of files by other programs: an admin's commands, an installer, kubelet-stopped. Works without the API server. */
export async function watchNodeFiles(context: AgentContext): Promise<void> {
  const { options, world, store, configState, shutdown, trial, announcer } = context;
  const { signal } = shutdown;
  const paths = layout(options.dynamicConfigDir);
  // While the disk is not writable, the condemnations are in memory, beside the exits file.
  const records = [
    paths.condemned,
    join(dirname(options.kubeletExits), 'condemned.json'),
    paths.meta('assigned'),
    paths.meta('last-known-good'),
  ];
  const policy = options.policy === 'none' ? [] : [options.policy ?? DEFAULT_POLICY_FILE];
  const due = new Trigger();
  const localDue = new Trigger();
  const signaturesDue = new Trigger();
  // A file may have changed between boot and the first watch.
  due.notify();
  localDue.notify();
  signaturesDue.notify();
  const watching = world.watchFiles(
    [...records, paths.journal, options.kubeletExits, options.localConfig, options.effectiveConfig, ...policy],
    (path) => {
      if (path === options.kubeletExits) {
        trial.notify();
        context.kubeletWatch.notify();
      } else if (path === paths.journal) announcer.notify();
      else if (path === options.localConfig) localDue.notify();
      else if (path === options.effectiveConfig) context.drift.notify();
      else if (policy.includes(path)) {
        context.sync?.notify();
        context.drift.notify();
        signaturesDue.notify();
      } else due.notify();
    },
    signal,
  );
  const recordsLoop = each(due, signal, async () => {
    const records = await readRecords(store);
    if (records.lastKnownGood.at === 'known') configState.update({ lastKnownGood: records.lastKnownGood.source });
    const why = planRecordChange(await observeRecords(records, store, configState));
    if (why !== undefined) await shutdown.leave(why);
  });
  const localLoop = each(
    localDue,
    signal,
    localConfigWatch(
      context,
      () => context.sync?.notify(),
      (problem) => context.activeRecord.notice('local-config', problem),
    ),
  );
  const signaturesLoop = each(signaturesDue, signal, signatureWatch(context));
  await Promise.all([watching, recordsLoop, localLoop, signaturesLoop]);

  async function each(raised: Trigger, end: AbortSignal, check: () => Promise<void>): Promise<void> {
    for (let failure = ''; !end.aborted;) {
      if (failure === '') await raised.wait(end);
      else await raised.waitOr(RETRY_MS, world.clock, end);
      if (end.aborted) return;
      failure = await check().then(
        () => '',
        (error: unknown) => {
          const text = describeError(error);
          world.log[text === failure ? 'debug' : 'warn']('failed to handle a change on disk, retrying', { error });
          return text;
        },
      );
    }
  }
}
