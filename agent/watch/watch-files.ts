import { dirname, join } from 'node:path';
import { type LocalSeen, planLocalChange, planRecordChange, planSignatures, type RecordFacts } from './changes.ts';
import { sha256, storedContent } from '../checkpoint/payload.ts';
import { type MaybeSource, sameSource } from '../checkpoint/source.ts';
import { type LocalConfig, localProblem, parseLocal } from '../evaluate/local.ts';
import { signersOf } from '../evaluate/node-inputs.ts';
import { type AgentContext, type AgentOptions, type AgentWorld, DEFAULT_POLICY_FILE } from '../options.ts';
import type { NodeConfigState } from '../status/node-config-state.ts';
import { layout } from '../store/layout.ts';
import { type MetaRecord, type Store, StoreError } from '../store/store.ts';
import type { Millis } from '../../base/clock.ts';
import { describeError, errorCode } from '../../base/errors.ts';
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

interface Records {
  assigned: MetaRecord;
  lastKnownGood: MetaRecord;
}

/** @throws StoreError where a record cannot be read, so that the caller retries */
async function readRecords(store: Store): Promise<Records> {
  const records = { assigned: await store.record('assigned'), lastKnownGood: await store.record('last-known-good') };
  for (const unread of Object.values(records))
    if (unread.at === 'damaged' && unread.isUnread) throw new StoreError('read', unread.path, { hint: unread.problem });
  return records;
}

async function observeRecords(records: Records, store: Store, configState: NodeConfigState): Promise<RecordFacts> {
  const sourceOf = (record: MetaRecord): MaybeSource => (record.at === 'known' ? record.source : null);
  const [assigned, lastKnownGood] = [sourceOf(records.assigned), sourceOf(records.lastKnownGood)];
  const [assignedContent, trustedContent] = [await storedContent(store, assigned), await storedContent(store, lastKnownGood)];
  return {
    condemned: await store.condemned(),
    active: configState.active.source,
    ...(configState.active.content ? { activeContent: configState.active.content } : {}),
    assigned,
    ...(assignedContent ? { assignedContent } : {}),
    isFallback: assigned !== null && configState.active.used !== 'assigned',
    trusted: lastKnownGood,
    ...(trustedContent ? { trustedContent } : {}),
    bootTrusted: configState.bootTrusted,
    bootAssigned: configState.bootAssigned,
    bootError: configState.bootError,
    assignedByOther: await isAssignedByOther(store, configState),
  };
}

/** Compares a second time under the lock: sync updates `configState` right after its write of the record. */
async function isAssignedByOther(store: Store, configState: NodeConfigState): Promise<boolean> {
  const isOther = async (): Promise<boolean> => {
    const record = await store.record('assigned');
    return record.at === 'known' && !sameSource(record.source, configState.picture.assigned);
  };
  return (await isOther()) && (await store.locked(isOther));
}

/** @returns a function to call after each change of the policy file and of the records */
function signatureWatch({
  options,
  world,
  store,
  configState,
  shutdown,
  activeRecord,
}: Pick<AgentContext, 'options' | 'world' | 'store' | 'configState' | 'shutdown' | 'activeRecord'>): () => Promise<void> {
  return async () => {
    const verify = await signersOf(options, world.disk, store);
    // While the policy is broken, new configs are rejected and the active one stays.
    if (verify === 'unknown') return;
    const isSigned = async (source: MaybeSource): Promise<boolean | undefined> =>
      verify === 'none' ? undefined : (await verify(source))?.ok;
    const { bootUnsigned, bootAssigned, picture, active } = configState;
    const { leave, notice } = planSignatures({
      bootUnsigned,
      bootAssigned,
      assigned: picture.assigned,
      used: active.used,
      active: active.source,
      isAssignedSigned: await isSigned(picture.assigned),
      isActiveSigned: await isSigned(active.source),
    });
    activeRecord.notice('signature', notice);
    if (leave !== undefined) await shutdown.leave(leave);
  };
}

/** Delay before a changed file is read, in ms: many editors and installers write a file in several steps. */
const SETTLES_MS = 300;

interface LocalWatchDeps extends Pick<AgentContext, 'kubelet'> {
  options: Pick<AgentOptions, 'localConfig' | 'merge'>;
  world: Pick<AgentWorld, 'clock' | 'log'> & { disk: Pick<AgentWorld['disk'], 'readLinked'> };
  configState: Pick<AgentContext['configState'], 'active' | 'bootError'>;
  shutdown: Pick<AgentContext['shutdown'], 'leave' | 'signal'>;
}

/**
 * Handles a change of the local config by {@link planLocalChange}.
 * @param onOther - evaluates rejected configs again
 * @param onProblem - called at each change with what is wrong with the local config, null when it is usable
 * @returns a function to call after each change
 */
export function localConfigWatch(
  { options, world, configState, shutdown, kubelet }: LocalWatchDeps,
  onOther: () => void,
  onProblem: (problem: string | null) => void = () => {},
): () => Promise<void> {
  const { disk, clock, log } = world;
  const path = options.localConfig;
  let before: LocalSeen | undefined;
  const check = async (): Promise<void> => {
    const bytes = await disk.readLinked(path).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') log.warn('local config cannot be read', { path, error: describeError(error) });
      return undefined;
    });
    const local: LocalConfig = bytes ? parseLocal(bytes, dirname(path), kubelet.version) : { at: 'missing' };
    const { active, bootError } = configState;
    const facts = { hash: bytes && sha256(bytes), local, active, bootError, merge: options.merge };
    const { seen, isChanged, next } = planLocalChange(before, facts);
    before = seen;
    if (isChanged) onProblem(localProblem(path, local, active.effectiveSha256 !== ''));
    if (isChanged && local.at === 'broken') log.warn('local config changed and cannot be used; the effective file stays', { path });
    if (next === 'evaluate') onOther();
    if (typeof next === 'string') return;
    if (next.afterMs > 0) await clock.sleep(next.afterMs, shutdown.signal).catch(() => {});
    await shutdown.leave(next.leave);
  };
  return async () => {
    await clock.sleep(SETTLES_MS, shutdown.signal).catch(() => {});
    if (!shutdown.signal.aborted) await check();
  };
}
