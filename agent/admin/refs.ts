import { roles, roleSources, type Role } from './roles.ts';
import type { AdminFacts } from './facts.ts';
import { samePayload, type MaybeSource, type PayloadRef } from '../checkpoint/source.ts';

export type Found =
  /** `source` is what the role's record says; absent where a checkpoint was named by its place. */
  | { at: 'found'; ref: PayloadRef; role?: Role; source?: MaybeSource }
  /** A role that stands for the local config. */
  | { at: 'local'; role: Role }
  | { at: 'none'; why: string }
  | { at: 'ambiguous'; why: string };

const SHORTEST = 8;
const text = (ref: PayloadRef): string => `${ref.uid}/${ref.resourceVersion}`;

/**
 * Reads a REF (design 7): a role, `UID/RV`, or a unique prefix of that. Checkpoints of one ConfigMap share all of their UID, so its
 * beginning followed by `/RV` will do as well; that is also what {@link shortRefs} shows.
 * @param known - besides the store's checkpoints: those that records still name
 */
export function findRef(asked: string, facts: AdminFacts, known: readonly PayloadRef[] = []): Found {
  const role = roles.find((role) => role === asked);
  if (role) return findRole(role, facts);
  const refs = unique([...facts.entries.map((entry) => entry.ref), ...known]);
  if (asked === '') return { at: 'none', why: 'it is empty' };
  const exact = refs.find((ref) => text(ref) === asked);
  if (exact) return { at: 'found', ref: exact };
  const byPrefix = refs.filter((ref) => text(ref).startsWith(asked));
  const hits = byPrefix.length > 0 ? byPrefix : refs.filter((ref) => abbreviates(asked, ref));
  const [first] = hits;
  if (!first) return { at: 'none', why: 'no checkpoint has that name; dkc checkpoints list shows all' };
  if (hits.length === 1) return { at: 'found', ref: first };
  const some = hits.slice(0, 4).map(text).join(', ');
  return { at: 'ambiguous', why: `it fits ${hits.length} checkpoints (${some}${hits.length > 4 ? ', ...' : ''}); write more of it` };
}

function findRole(role: Role, facts: AdminFacts): Found {
  const source = roleSources(facts).get(role);
  if (source === undefined) return { at: 'none', why: `what is ${role} is not known: its record is missing or damaged; see dkc status` };
  return source === null ? { at: 'local', role } : { at: 'found', ref: source, role, source };
}

function abbreviates(asked: string, ref: PayloadRef): boolean {
  const slash = asked.indexOf('/');
  return slash > 0 && ref.uid.startsWith(asked.slice(0, slash)) && ref.resourceVersion === asked.slice(slash + 1);
}

/**
 * The shortest REF of each that people need to type, at least eight characters of the UID. Where a ConfigMap has several
 * checkpoints it is the beginning of the UID and the whole resource version.
 */
export function shortRefs(refs: readonly PayloadRef[]): string[] {
  return refs.map((ref) => {
    const others = refs.filter((other) => other.uid !== ref.uid);
    let length = Math.min(SHORTEST, ref.uid.length);
    while (length < ref.uid.length && others.some((other) => other.uid.startsWith(ref.uid.slice(0, length)))) length += 1;
    const uid = ref.uid.slice(0, length);
    // A UID that another one continues stays ambiguous however much of it is written.
    const alone = refs.every((other) => samePayload(other, ref) || other.uid !== ref.uid);
    return alone && length < ref.uid.length ? uid : `${uid}/${ref.resourceVersion}`;
  });
}

function unique(refs: readonly PayloadRef[]): PayloadRef[] {
  return refs.filter((ref, at) => refs.findIndex((other) => samePayload(other, ref)) === at);
}
