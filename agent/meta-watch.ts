import type { Situation } from './situation.ts';
import { statusErrors } from './status/errors.ts';
import { contentRef, sameContent } from './store/content.ts';
import type { CondemnedRecord, Store } from './store/store.ts';
import type { ContentRef } from './checkpoint/payload.ts';
import { sameSource, type MaybeSource } from './checkpoint/source.ts';

export interface MetaFacts {
  condemned: readonly CondemnedRecord[];
  active: MaybeSource;
  activeContent?: ContentRef;
  assigned: MaybeSource;
  assignedContent?: ContentRef;
  /** The record that `bootError` speaks of. Another one now is sync's own doing, and sync sees to it. */
  bootAssigned: MaybeSource;
  bootError: string | null;
}

/**
 * What a change of the records by someone else (an admin's `dkc rollback` or `dkc retry`) asks of a running agent: to start again, so
 * that boot chooses anew. Needs no API server. Pure.
 * @returns why, or undefined where nothing is asked
 */
export function planMetaChange(facts: MetaFacts): string | undefined {
  const { condemned, active, activeContent, assigned, assignedContent, bootAssigned, bootError } = facts;
  const isCondemned = (content: ContentRef | undefined): boolean =>
    content !== undefined && condemned.some((record) => sameContent(record, content));
  if (active !== null && isCondemned(activeContent)) return 'the active config was condemned';
  const wentBack = bootError === statusErrors.rolledBack || bootError === statusErrors.failedTrial;
  if (wentBack && assigned !== null && sameSource(assigned, bootAssigned) && assignedContent && !isCondemned(assignedContent))
    return 'the assigned config is no longer condemned';
  return undefined;
}

export async function observeMeta(store: Store, situation: Situation): Promise<MetaFacts> {
  const record = await store.record('assigned');
  const assigned = record.at === 'known' ? record.source : null;
  const trusted = await store.record('last-known-good');
  if (trusted.at === 'known') situation.update({ lastKnownGood: trusted.source });
  const state = assigned === null ? undefined : await store.load(assigned);
  return {
    condemned: await store.condemned(),
    active: situation.active.source,
    ...(situation.active.content ? { activeContent: situation.active.content } : {}),
    assigned,
    ...(assigned && state?.at === 'intact'
      ? { assignedContent: contentRef(state.checkpoint.manifest.files, assigned.kubeletConfigKey) }
      : {}),
    bootAssigned: situation.bootAssigned,
    bootError: situation.bootError,
  };
}
