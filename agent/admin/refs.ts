import { roles, roleSources, type Role } from './roles.ts';
import type { AdminFacts } from './facts.ts';
import { parseNamedRef, type MaybeSource, type NamedRef, type PayloadRef, type Source } from '../checkpoint/source.ts';
import { compare } from '../checkpoint/payload.ts';

export type Found =
  /** `source`: from the role's record; `key`: from the REF. Each is absent where not given. */
  | { at: 'found'; ref: PayloadRef; role?: Role; source?: MaybeSource; key?: string }
  /** The role's config is the local config. */
  | { at: 'local'; role: Role }
  | { at: 'none'; why: string }
  | { at: 'ambiguous'; why: string };

/** A checkpoint that a record names, in the store or not: a REF may name it too. */
export type KnownRef = PayloadRef & Partial<Pick<Source, 'namespace' | 'name' | 'kubeletConfigKey'>>;

interface Named extends KnownRef {
  /** Keys in the manifest; absent where only a record names the checkpoint. */
  keys?: readonly string[];
}

const SHORTEST = 8;
const text = (ref: PayloadRef): string => `${ref.uid}/${ref.resourceVersion}`;

/**
 * Finds a REF: a role, `UID/RV`, a unique prefix of that, or `[NAMESPACE/]NAME[:KEY][@RV]`, the newest without @RV. Checkpoints of one
 * ConfigMap share the UID, so a prefix of the UID followed by `/RV` is valid too, as {@link shortRefs} prints it.
 * @param known - checkpoints that records name, beside those in the store
 */
export function findRef(given: string, facts: AdminFacts, known: readonly KnownRef[] = []): Found {
  const role = roles.find((role) => role === given);
  if (role) return findRole(role, facts);
  if (given === '') return { at: 'none', why: 'it is empty' };
  const refs = unique([...namedEntries(facts), ...known]);
  const exact = refs.find((ref) => text(ref) === given);
  if (exact) return found(exact);
  const byPrefix = refs.filter((ref) => text(ref).startsWith(given));
  const byPlace = byPrefix.length > 0 ? byPrefix : refs.filter((ref) => abbreviates(given, ref));
  const named = parseNamedRef(given);
  const byName = named ? newest(refs.filter((ref) => isNamed(named, ref))) : [];
  const hits = [...byPlace, ...byName.filter((ref) => !byPlace.includes(ref))];
  const [first] = hits;
  if (!first) return { at: 'none', why: 'no checkpoint has that name; dkc checkpoints list shows all' };
  if (hits.length > 1) return { at: 'ambiguous', why: ambiguity(hits, byPlace.length === 0) };
  return found(first, byName.length > 0 ? named?.kubeletConfigKey : undefined);
}

const found = ({ uid, resourceVersion }: Named, key?: string): Found => ({
  at: 'found',
  ref: { uid, resourceVersion },
  ...(key === undefined ? {} : { key }),
});

function ambiguity(hits: readonly Named[], byName: boolean): string {
  const some = hits
    .slice(0, 4)
    .map((ref) => (byName ? `${ref.namespace}/${ref.name}@${ref.resourceVersion}` : text(ref)))
    .join(', ');
  return `it matches ${hits.length} checkpoints (${some}${hits.length > 4 ? ', ...' : ''}); give more characters of it`;
}

/** The checkpoints with their names. One of upstream has no manifest yet, a damaged one no readable manifest: then the name comes from a record. */
function namedEntries(facts: AdminFacts): Named[] {
  const records = new Map<string, KnownRef>();
  for (const one of [...roleSources(facts).values(), ...facts.condemned]) if (one) records.set(text(one), one);
  return facts.entries.map(({ ref, manifest }) => {
    if (manifest?.name) return { ...ref, namespace: manifest.namespace, name: manifest.name, keys: manifest.files.map((file) => file.key) };
    const { namespace, name } = records.get(text(ref)) ?? {};
    return namespace && name ? { ...ref, namespace, name } : ref;
  });
}

function isNamed(given: NamedRef, ref: Named): boolean {
  const { namespace, name, kubeletConfigKey: key, resourceVersion } = given;
  if (ref.name !== name || (namespace !== undefined && ref.namespace !== namespace)) return false;
  if (resourceVersion !== undefined && ref.resourceVersion !== resourceVersion) return false;
  return key === undefined || (ref.keys ? ref.keys.includes(key) : ref.kubeletConfigKey === undefined || ref.kubeletConfigKey === key);
}

/** The first of each namespace, which is the newest: checkpoints are sorted newest first. */
function newest(refs: readonly Named[]): Named[] {
  const first = new Map<string | undefined, Named>();
  for (const ref of refs) if (!first.has(ref.namespace)) first.set(ref.namespace, ref);
  return [...first.values()];
}

function findRole(role: Role, facts: AdminFacts): Found {
  const source = roleSources(facts).get(role);
  if (source === undefined) return { at: 'none', why: `the ${role} config is unknown: its record is missing or damaged; see dkc status` };
  return source === null ? { at: 'local', role } : { at: 'found', ref: source, role, source };
}

function abbreviates(given: string, ref: PayloadRef): boolean {
  const slash = given.indexOf('/');
  return slash > 0 && ref.uid.startsWith(given.slice(0, slash)) && ref.resourceVersion === given.slice(slash + 1);
}

/**
 * The shortest unique REF of each checkpoint, with at least eight characters of the UID. Where a ConfigMap has several checkpoints, a prefix of the
 * UID and the whole resource version.
 */
export function shortRefs(refs: readonly PayloadRef[]): string[] {
  const checkpoints = new Map<string, Set<string>>();
  for (const { uid, resourceVersion } of refs) checkpoints.set(uid, (checkpoints.get(uid) ?? new Set()).add(resourceVersion));
  // In sorted order, the longest common prefix of a UID is with one of its neighbors.
  const uids = [...checkpoints.keys()].toSorted(compare);
  const shared = new Map(uids.map((uid, at) => [uid, Math.max(common(uid, uids[at - 1]), common(uid, uids[at + 1]))]));
  return refs.map(({ uid, resourceVersion }) => {
    const short = uid.slice(0, Math.max(SHORTEST, (shared.get(uid) ?? 0) + 1));
    // A UID that is a prefix of another UID is always ambiguous without `/RV`.
    return checkpoints.get(uid)?.size === 1 && short.length < uid.length ? short : `${short}/${resourceVersion}`;
  });
}

/** Length of the common prefix. */
function common(a: string, b: string | undefined): number {
  if (b === undefined) return 0;
  const end = Math.min(a.length, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length += 1;
  return length;
}

function unique(refs: readonly Named[]): Named[] {
  const seen = new Map<string, Named>();
  for (const ref of refs) if (!seen.has(text(ref))) seen.set(text(ref), ref);
  return [...seen.values()];
}
