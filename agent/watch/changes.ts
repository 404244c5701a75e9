import { dirname } from 'node:path';
import { type NodeConfigState, statusErrors } from '../status/node-config-state.ts';
import { sameContent, sha256, storedContent } from '../checkpoint/payload.ts';
import { type CondemnedRecord, type Store, StoreError } from '../store/store.ts';
import { type ContentRef, type MaybeSource, sameSource, sourceText } from '../checkpoint/source.ts';
import { signersOf } from '../evaluate/node-inputs.ts';
import type { AgentContext, AgentOptions, AgentWorld } from '../options.ts';
import { effectiveOfLocal, type LocalConfig, localProblem, parseLocal } from '../evaluate/local.ts';
import { describeError, errorCode } from '../../base/errors.ts';

export interface RecordFacts {
  condemned: readonly CondemnedRecord[];
  active: MaybeSource;
  activeContent?: ContentRef;
  assigned: MaybeSource;
  assignedContent?: ContentRef;
  /** The record that `bootError` speaks of. Another one now is sync's own doing, and sync sees to it. */
  bootAssigned: MaybeSource;
  bootError: string | null;
  /** What is used now is not the assigned one. */
  isFallback: boolean;
  /** The record now, and as boot found it. */
  trusted: MaybeSource;
  trustedContent?: ContentRef;
  bootTrusted: MaybeSource;
  /** The record says something that this agent did not write: `dkc rollback --to` does. */
  assignedByOther: boolean;
}

/**
 * What a change of the records by someone else (an admin's `dkc rollback` or `dkc retry`) asks of a running agent: to start again, so
 * that boot chooses again. Needs no API server. Pure.
 * @returns why, or undefined where nothing is asked
 */
export function planRecordChange(facts: RecordFacts): string | undefined {
  const { condemned, active, activeContent, assigned, assignedContent, bootAssigned, bootError } = facts;
  const verdictOn = (content: ContentRef | undefined): CondemnedRecord | undefined =>
    content && condemned.find((record) => sameContent(record, content));
  const verdict = active === null ? undefined : verdictOn(activeContent);
  if (verdict) return `the active config was condemned: ${verdict.reason}`;
  const wentBack = bootError === statusErrors.rolledBack || bootError === statusErrors.failedTrial;
  if (wentBack && assigned !== null && sameSource(assigned, bootAssigned) && assignedContent && !verdictOn(assignedContent))
    return 'the assigned config is no longer condemned';
  if (facts.assignedByOther && !verdictOn(assignedContent) && !isSame(assignedContent, activeContent))
    return 'another config is assigned on this node now';
  if (facts.isFallback && !sameSource(facts.trusted, facts.bootTrusted) && !isSame(facts.trustedContent, activeContent))
    return 'another config is last known good now';
  return undefined;
}

/** Sync writes the record, and then says so; in between the lock is held. */
async function isAssignedByOther(store: Store, configState: NodeConfigState): Promise<boolean> {
  const isOther = async (own: Pick<Store, 'record'>): Promise<boolean> => {
    const record = await own.record('assigned');
    return record.at === 'known' && !sameSource(record.source, configState.picture.assigned);
  };
  return (await isOther(store)) && (await store.locked(isOther));
}

/** @throws StoreError where the disk does not give one of them: what it says is to be asked again */
export async function observeRecords(store: Store, configState: NodeConfigState): Promise<RecordFacts> {
  const record = await store.record('assigned');
  const assigned = record.at === 'known' ? record.source : null;
  const trusted = await store.record('last-known-good');
  for (const unread of [record, trusted])
    if (unread.at === 'damaged' && unread.isUnread) throw new StoreError('read', unread.path, { hint: unread.problem });
  if (trusted.at === 'known') configState.update({ lastKnownGood: trusted.source });
  const lastKnownGood = trusted.at === 'known' ? trusted.source : null;
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

const isSame = (a: ContentRef | undefined, b: ContentRef | undefined): boolean => (a && b ? sameContent(a, b) : a === b);

export interface SignatureFacts {
  /** A signature is all that boot missed in the assigned config. */
  bootUnsigned: boolean;
  bootAssigned: MaybeSource;
  assigned: MaybeSource;
  used: 'assigned' | 'last-known-good' | 'local';
  active: MaybeSource;
  /** Whether a key of the policy, as it is now, signed them; undefined where nobody asks, or it cannot be told. */
  isAssignedSigned: boolean | undefined;
  isActiveSigned: boolean | undefined;
}

/** What the signatures ask of a running agent: another start, or a notice for the admin. Pure. */
export function planSignatures(facts: SignatureFacts): { leave?: string; notice: string | null } {
  const { bootUnsigned, bootAssigned, assigned, active, used } = facts;
  if (bootUnsigned && sameSource(assigned, bootAssigned) && facts.isAssignedSigned !== false)
    return { leave: 'the field policy accepts the assigned config now', notice: null };
  if (active === null || facts.isActiveSigned !== false) return { notice: null };
  const then =
    used === 'assigned'
      ? 'at its next start the agent replaces it with the last known good or the local config'
      : 'it is used because there is no other file for the kubelet';
  const remedy = 'sign the ConfigMap with dkc sign, or add the public key of its signer to the policy';
  return { notice: `${sourceText(active)} runs and is signed by none of the signatureKeys in the field policy: ${then}; ${remedy}` };
}

/** @returns to be called after each change of the policy file and of the records */
export function signatureWatch({
  options,
  world,
  store,
  configState,
  shutdown,
  activeRecord,
}: Pick<AgentContext, 'options' | 'world' | 'store' | 'configState' | 'shutdown' | 'activeRecord'>): () => Promise<void> {
  return async () => {
    const ask = await signersOf(options, world.disk, store);
    // A policy that is broken lets nothing new in, and takes nothing away.
    if (ask === 'unknown') return;
    const isSigned = async (source: MaybeSource): Promise<boolean | undefined> => (ask === 'none' ? undefined : (await ask(source))?.ok);
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

/** How long a start that could not write the effective file waits before the next one tries again, in ms. */
const UNWRITTEN_MS = 30_000;

/** Many editors and installers write a file in several steps: what is read this long after a change, in ms, is most likely whole. */
const SETTLES_MS = 300;

interface LocalWatchDeps extends Pick<AgentContext, 'kubelet'> {
  options: Pick<AgentOptions, 'localConfig' | 'merge'>;
  world: Pick<AgentWorld, 'clock' | 'log'> & { disk: Pick<AgentWorld['disk'], 'readLinked'> };
  configState: Pick<AgentContext['configState'], 'active' | 'bootError'>;
  shutdown: Pick<AgentContext['shutdown'], 'leave' | 'signal'>;
}

/**
 * What a change of the local config asks for: another start where the effective file is made of it, another look at what policy refused
 * elsewhere. A local config that is gone or broken changes nothing: the file the kubelet has is better.
 * @param onProblem - called after each look with what is wrong with the local config, null when nothing
 * @returns to be called after each change
 */
export function localConfigWatch(
  { options, world, configState, shutdown, kubelet }: LocalWatchDeps,
  onOther: () => void,
  onProblem: (problem: string | null) => void = () => {},
): () => Promise<void> {
  const { disk, clock, log } = world;
  let known: string | undefined;
  /** The last one that could be used. One that was gone for a while, or not there yet, is a change all the same. */
  let usable: string | undefined;
  /** What the first look finds is what boot found. */
  let first = true;
  const look = async (): Promise<void> => {
    const bytes = await disk.readLinked(options.localConfig).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT')
        log.warn('local config cannot be read', { path: options.localConfig, error: describeError(error) });
      return undefined;
    });
    const before = known;
    const asBooted = first;
    first = false;
    known = bytes && sha256(bytes);
    const problemOf = (local: LocalConfig): string | null =>
      localProblem(options.localConfig, local, configState.active.effectiveSha256 !== '');
    if (bytes === undefined && !asBooted) onProblem(problemOf({ at: 'missing' }));
    if (bytes === undefined || known === before) return;
    const local = parseLocal(bytes, dirname(options.localConfig), kubelet.version);
    onProblem(problemOf(local));
    if (local.at !== 'present') {
      log.warn('local config changed and cannot be used; the effective file stays', { path: options.localConfig });
      return;
    }
    const isOther = known !== usable && !asBooted;
    usable = known;
    const { used, effectiveSha256 } = configState.active;
    if (used === 'local' && sha256(effectiveOfLocal(local)) !== effectiveSha256) {
      // Most likely a disk that takes no writes: the next start finds the same, and would end at once as well.
      const isUnwritten = asBooted && configState.bootError === statusErrors.internal;
      if (isUnwritten) await clock.sleep(UNWRITTEN_MS, shutdown.signal).catch(() => {});
      await shutdown.leave(
        isUnwritten ? 'the effective file does not match the local config, writing it again' : 'the local config changed',
      );
    } else if (used !== 'local' && options.merge === 'overlay' && isOther)
      await shutdown.leave('the local config under the overlay changed');
    else onOther();
  };
  return async () => {
    await clock.sleep(SETTLES_MS, shutdown.signal).catch(() => {});
    if (!shutdown.signal.aborted) await look();
  };
}
