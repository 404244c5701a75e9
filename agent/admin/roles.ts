import { isKnown, recorded, type AdminFacts } from './facts.ts';
import { viewActive } from './active.ts';
import { samePayload, type MaybeSource, type PayloadRef, type Source } from '../checkpoint/source.ts';
import type { ContentRef } from '../checkpoint/payload.ts';
import { contentRef, sameContent } from '../store/content.ts';
import type { CheckpointEntry, CondemnedRecord } from '../store/store.ts';

export const roles = ['assigned', 'last-known-good', 'active'] as const;
export type Role = (typeof roles)[number];

// Worked out for each checkpoint of a list, from facts that never change.
const known = new WeakMap<AdminFacts, ReadonlyMap<Role, MaybeSource>>();

/** What each role names; null is the local config. A role whose record is missing or damaged is not in here. */
export function roleSources(facts: AdminFacts): ReadonlyMap<Role, MaybeSource> {
  const before = known.get(facts);
  if (before) return before;
  const found = new Map<Role, MaybeSource>();
  if (isKnown(facts.assigned)) found.set('assigned', recorded(facts.assigned));
  if (isKnown(facts.lastKnownGood)) found.set('last-known-good', recorded(facts.lastKnownGood));
  found.set('active', viewActive(facts).source);
  known.set(facts, found);
  return found;
}

export function rolesOf(ref: PayloadRef, facts: AdminFacts): Role[] {
  return Array.from(roleSources(facts)).flatMap(([role, source]) => (source && samePayload(source, ref) ? [role] : []));
}

/** The condemnation that hits this checkpoint, under whichever key it was passed. */
export function condemnationOf(entry: CheckpointEntry, condemned: readonly CondemnedRecord[]): CondemnedRecord | undefined {
  const { manifest } = entry;
  if (!manifest) return undefined;
  const contents = new Map<string, ContentRef>(); // by key: there are few keys, and there may be thousands of records
  return condemned.find((record) => {
    const { kubeletConfigKey: key } = record;
    const content = contents.get(key) ?? contentRef(manifest.files, key);
    contents.set(key, content);
    return sameContent(record, content);
  });
}

/** Preflight refused it when it was to be used last, and it was not used since. */
export function isRefused(entry: CheckpointEntry, { refused, journal }: AdminFacts): boolean {
  const { ref, manifest } = entry;
  if (refused && manifest && sameContent(refused, contentRef(manifest.files, refused.kubeletConfigKey))) return true;
  const last = journal.findLast(
    ({ event, source }) => source && samePayload(source, ref) && (event === 'refused' || event === 'assigned' || event === 'promoted'),
  );
  return last?.event === 'refused';
}

/** The same for one key of it: what boot goes by. */
export function condemnationUnder(entry: CheckpointEntry, key: string, condemned: readonly CondemnedRecord[]): CondemnedRecord | undefined {
  const { manifest } = entry;
  if (!manifest) return undefined;
  const content = contentRef(manifest.files, key);
  return condemned.find((record) => sameContent(record, content));
}

/**
 * A checkpoint does not say which of its keys is the kubelet's. A record that names it does; else the only key, else `kubelet`.
 * @returns '' when none of these tells
 */
export function keyOf(entry: CheckpointEntry, facts: AdminFacts): string {
  const { ref, manifest } = entry;
  for (const source of roleSources(facts).values()) if (source && samePayload(source, ref)) return source.kubeletConfigKey;
  const judged = facts.condemned.find((record) => samePayload(record, ref));
  if (judged) return judged.kubeletConfigKey;
  const keys = manifest?.files.map((file) => file.key) ?? [];
  const [only] = keys;
  if (only !== undefined && keys.length === 1) return only;
  return keys.includes('kubelet') ? 'kubelet' : '';
}

/** The source that a checkpoint stands for, as far as store and records tell; unknown parts are ''. */
export function sourceOf(entry: CheckpointEntry, facts: AdminFacts): Source {
  const { ref, manifest } = entry;
  const recordedAs = [...roleSources(facts).values(), ...facts.condemned].find((one) => one && samePayload(one, ref));
  return {
    namespace: manifest?.namespace || recordedAs?.namespace || '',
    name: manifest?.name || recordedAs?.name || '',
    uid: ref.uid,
    resourceVersion: ref.resourceVersion,
    kubeletConfigKey: keyOf(entry, facts),
  };
}
