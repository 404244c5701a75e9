import { type AdminFacts, isKnown, recorded, viewActive } from './facts.ts';
import { type ContentRef, type MaybeSource, type PayloadRef, samePayload, type Source } from '../checkpoint/source.ts';
import { contentRef, sameContent } from '../checkpoint/payload.ts';
import type { CheckpointEntry, CondemnedRecord } from '../store/store.ts';

export const roles = ['assigned', 'last-known-good', 'active'] as const;
export type Role = (typeof roles)[number];

// Cached: called for each checkpoint of a list, and the facts never change.
const known = new WeakMap<AdminFacts, ReadonlyMap<Role, MaybeSource>>();

/** The source of each role; null is the local config. Roles whose record is missing or damaged are left out. */
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

/**
 * Whether a condemnation or refusal of one key of a checkpoint counts for the checkpoint. Where a role names the checkpoint, only the role's key counts:
 * another key that failed does not affect the config that runs. Otherwise any key counts, since it is unknown which one is meant.
 */
function verdictCounts(ref: PayloadRef, facts: AdminFacts): (key: string) => boolean {
  const used = [...roleSources(facts).values()].flatMap((source) => (source && samePayload(source, ref) ? [source.kubeletConfigKey] : []));
  return (key) => used.length === 0 || used.includes(key);
}

/** The condemnation of this checkpoint, under a key that counts. */
export function condemnationOf({ ref, manifest }: CheckpointEntry, facts: AdminFacts): CondemnedRecord | undefined {
  if (!manifest) return undefined;
  const counts = verdictCounts(ref, facts);
  const contents = new Map<string, ContentRef>(); // by key: there are few keys, and there may be thousands of records
  return facts.condemned.find((record) => {
    const { kubeletConfigKey: key } = record;
    if (!counts(key)) return false;
    const content = contents.get(key) ?? contentRef(manifest.files, key);
    contents.set(key, content);
    return sameContent(record, content);
  });
}

/** Whether preflight rejected the checkpoint when it was assigned last, and it was not used since. */
export function isRefused({ ref, manifest }: CheckpointEntry, facts: AdminFacts): boolean {
  const { refused, journal } = facts;
  const counts = verdictCounts(ref, facts);
  if (refused && counts(refused.kubeletConfigKey) && manifest && sameContent(refused, contentRef(manifest.files, refused.kubeletConfigKey)))
    return true;
  const last = journal.findLast(
    ({ event, source }) =>
      source &&
      samePayload(source, ref) &&
      counts(source.kubeletConfigKey) &&
      (event === 'refused' || event === 'assigned' || event === 'promoted'),
  );
  return last?.event === 'refused';
}

/** The condemnation of this checkpoint under one key, as boot decides. */
export function condemnationUnder(entry: CheckpointEntry, key: string, condemned: readonly CondemnedRecord[]): CondemnedRecord | undefined {
  const { manifest } = entry;
  if (!manifest) return undefined;
  const content = contentRef(manifest.files, key);
  return condemned.find((record) => sameContent(record, content));
}

/**
 * The key of the kubelet configuration, which a checkpoint does not record: from a record that names the checkpoint, else its only key, else `kubelet`.
 * @returns '' when none of these applies
 */
export function keyOf(entry: CheckpointEntry, facts: AdminFacts): string {
  const { ref, manifest } = entry;
  for (const source of roleSources(facts).values()) if (source && samePayload(source, ref)) return source.kubeletConfigKey;
  const condemned = facts.condemned.find((record) => samePayload(record, ref));
  if (condemned) return condemned.kubeletConfigKey;
  const keys = manifest?.files.map((file) => file.key) ?? [];
  const [only] = keys;
  if (only !== undefined && keys.length === 1) return only;
  return keys.includes('kubelet') ? 'kubelet' : '';
}

/** The source of a checkpoint, from its manifest and the records; unknown parts are ''. */
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

/** Most trusted configs that a rollback considers, newest first: a journal may name a thousand. */
const MAX_EARLIER = 10;

/**
 * Whether this node has trusted the content: it is last-known-good, or the journal has its promotion and no later condemnation by a trial.
 * A rollback by an admin does not count against it.
 */
export function wasTrusted(content: ContentRef, facts: AdminFacts): boolean {
  const contents = contentsOf(facts);
  const trusted = recorded(facts.lastKnownGood);
  if (trusted && isSame(contents(trusted), content)) return true;
  for (const { event, source } of facts.journal.toReversed()) {
    if ((event !== 'promoted' && event !== 'condemned') || !source || !isSame(contents(source), content)) continue;
    return event === 'promoted';
  }
  return false;
}

/**
 * The configs that this node trusted before `content`, newest first, as far as they are in the store and not condemned. Ends where the assignment was
 * cleared: the local config was in use then.
 */
export function trustedBefore(content: ContentRef, facts: AdminFacts): Source[] {
  const contents = contentsOf(facts);
  const entries = entriesOf(facts);
  const found: { source: Source; content: ContentRef }[] = [];
  const consider = (source: Source): void => {
    const its = contents(source);
    const entry = entries.get(nameOf(source));
    if (!its || entry?.state !== 'intact' || sameContent(its, content) || found.some((one) => sameContent(one.content, its))) return;
    if (!condemnationUnder(entry, source.kubeletConfigKey, facts.condemned) && wasTrusted(its, facts)) found.push({ source, content: its });
  };
  const trusted = recorded(facts.lastKnownGood);
  if (trusted) consider(trusted);
  for (const { event, source } of facts.journal.toReversed()) {
    if (event === 'reset' || found.length === MAX_EARLIER) break;
    if (event === 'promoted' && source) consider(source);
  }
  return found.map(({ source }) => source);
}

const nameOf = ({ uid, resourceVersion }: PayloadRef): string => `${uid}/${resourceVersion}`;

const entriesOf = (facts: AdminFacts): ReadonlyMap<string, CheckpointEntry> =>
  new Map(facts.entries.map((entry) => [nameOf(entry.ref), entry]));

/** The content of a source; undefined where its checkpoint is not in the store. */
function contentsOf(facts: AdminFacts): (source: Source) => ContentRef | undefined {
  const entries = entriesOf(facts);
  const known = new Map<string, ContentRef | undefined>();
  return (source) => {
    const name = `${nameOf(source)} ${source.kubeletConfigKey}`;
    if (!known.has(name)) {
      const manifest = entries.get(nameOf(source))?.manifest;
      known.set(name, manifest && contentRef(manifest.files, source.kubeletConfigKey));
    }
    return known.get(name);
  };
}

const isSame = (a: ContentRef | undefined, b: ContentRef): boolean => a !== undefined && sameContent(a, b);
