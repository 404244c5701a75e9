import { type NodeConfigState, statusErrors } from '../status/node-config-state.ts';
import { sameContent, storedContent } from '../checkpoint/payload.ts';
import type { CondemnedRecord, Store } from '../store/store.ts';
import { type ContentRef, type MaybeSource, sameSource } from '../checkpoint/source.ts';

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

export async function observeRecords(store: Store, configState: NodeConfigState): Promise<RecordFacts> {
  const record = await store.record('assigned');
  const assigned = record.at === 'known' ? record.source : null;
  const trusted = await store.record('last-known-good');
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
