import { labelValueProblems } from '../../../kube/api/names.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import { HASH_LABEL, MAX_REVISIONS } from './contract.ts';
import type { HistoryFacts, HistoryPlan, HistoryRules, HistoryStep, Revision } from './contract.ts';
import { newRevision, revisionData, sameData } from './revision.ts';

/** Max revisions labelled, and max revisions deleted, in one pass: their events enqueue the next pass. */
export const MAX_WRITTEN = 100;

/**
 * Steps that make the newest revision hold the present template. A revision that holds it already becomes the newest, so that an undone rollout
 * gets its old revision back and its pods need no restart; if there is none, one is created.
 *
 * ```text
 *  holds the template      steps
 *  none                    create, one above all others
 *  one, the newest         none
 *  one, older than others  renumber it, one above all others
 *  several, dedup          the newest stays (and may be renumbered); pods of the others get its hash, then the others are deleted
 *  several, no dedup       the newest as if it were the only one; the others stay, and are old
 * ```
 *
 * When several have the highest number: with dedup the current one gets a higher number than the others, without dedup it only has to sort last.
 *
 * Only pods that carry the hash of a duplicate are relabelled: relabelled pods of older templates would look up to date.
 */
export function planHistory(facts: HistoryFacts, ownerResource: Resource, rules: HistoryRules): HistoryPlan {
  const data = revisionData(facts.template);
  const { newest, excess } = newestOf(facts.revisions);
  const sorted = newest.toSorted(byAge);
  const matching = sorted.filter((revision) => sameData(revision.data, data));
  const kept = matching.at(-1);
  const gone = rules.dedup ? matching.slice(0, -1) : [];
  const leaving = new Set(gone);
  const old = sorted.filter((revision) => revision !== kept && !leaving.has(revision));
  const number = numberOf(old.at(-1)) + 1;
  const steps: HistoryStep[] = [];
  if (rules.podsCarry === 'hash')
    for (const revision of sorted.filter((one) => !leaving.has(one) && !hasHash(one, rules)).slice(0, MAX_WRITTEN))
      steps.push({ do: 'label', revision, hash: carriedBy(revision, rules) });
  const current = kept ?? newRevision(facts.owner, ownerResource, facts, number, rules);
  const hash = carriedBy(current, rules);
  if (kept === undefined) steps.push({ do: 'create', revision: current });
  else if (rules.dedup ? numberOf(kept) < number : kept !== sorted.at(-1)) steps.push({ do: 'renumber', revision: kept, to: number });
  if (gone.length > 0) {
    const staying = new Set([hash, ...old.map((revision) => carriedBy(revision, rules))]);
    const going = new Set(gone.map((revision) => carriedBy(revision, rules)).filter((one) => !staying.has(one)));
    for (const pod of facts.pods) if (going.has(hashOfPod(pod))) steps.push({ do: 'relabel', pod, hash });
    for (const revision of gone.slice(0, MAX_WRITTEN)) steps.push({ do: 'delete', revision });
  }
  return { hash, current, old, excess, steps, collisionCount: facts.collisionCount, rules };
}

/**
 * Which old revisions to delete, lowest first: those in excess of the limit. Revisions in use stay; the rules say whether the limit counts them, so more
 * than the limit may remain. Pure.
 * @param live - revisions in use, as {@link carriedBy} names them: {@link HASH_LABEL} of all pods of the owner, terminating and finished ones too, and
 * those that its status names
 * @param limit - `spec.revisionHistoryLimit`; below 0 nothing is deleted
 */
export function planTruncation(
  { old, excess = [] }: Pick<HistoryPlan, 'old'> & Partial<Pick<HistoryPlan, 'excess'>>,
  live: ReadonlySet<string>,
  limit: number,
  rules: HistoryRules,
): Readonly<Revision>[] {
  if (limit < 0) return [];
  const surplus = excess.filter((revision) => !live.has(carriedBy(revision, rules)));
  if (surplus.length > 0) return surplus.slice(0, MAX_WRITTEN);
  const unused = old.filter((revision) => !live.has(carriedBy(revision, rules)));
  const counted = rules.limits === 'all' ? old : unused;
  return unused.toSorted(byAge).slice(0, Math.min(MAX_WRITTEN, Math.max(0, counted.length - limit)));
}

/**
 * The revision of the pods of a StatefulSet that are not updated yet. Pure.
 * @param name - `status.currentRevision`
 * @param update - returned when no revision has that name: no earlier revision is known
 */
export function currentRevision(
  revisions: readonly Readonly<Revision>[],
  name: string | undefined,
  update: Readonly<Revision>,
): Readonly<Revision> {
  // The update revision first: it may be newer than its copy in the list.
  return [update, ...revisions].find(({ metadata }) => metadata.name === name) ?? update;
}

/** What pods of the revision have in {@link HASH_LABEL}. Pure. */
export function carriedBy(revision: Readonly<Revision>, rules: HistoryRules): string {
  const { name = '', labels } = revision.metadata;
  if (rules.podsCarry === 'hash' && hasHash(revision, rules)) return labels?.[rules.hashLabel] ?? '';
  // A name may be too long for a label value: then use the hash that would have been its label.
  return rules.podsCarry === 'name' || labelValueProblems(name).length === 0 ? name : rules.hash(revision.data, undefined);
}

/** An empty hash counts as none: pods without a hash are never up to date. */
function hasHash({ metadata }: Readonly<Revision>, { hashLabel }: HistoryRules): boolean {
  return (metadata.labels?.[hashLabel] ?? '') !== '';
}

function hashOfPod({ metadata }: Readonly<KubeObject>): string {
  return metadata.labels?.[HASH_LABEL] ?? '';
}

/** By number alone: more than {@link MAX_REVISIONS} are a user's mistake and must not make a reconcile more expensive. */
function newestOf(revisions: readonly Readonly<Revision>[]): {
  newest: readonly Readonly<Revision>[];
  excess: readonly Readonly<Revision>[];
} {
  if (revisions.length <= MAX_REVISIONS) return { newest: revisions, excess: [] };
  const least = Float64Array.from(revisions, numberOf).sort().at(-MAX_REVISIONS) ?? 0;
  const above = revisions.filter((revision) => numberOf(revision) > least);
  const level = revisions.filter((revision) => numberOf(revision) === least);
  const room = MAX_REVISIONS - above.length;
  const below = revisions.filter((revision) => numberOf(revision) < least);
  return { newest: [...above, ...level.slice(0, room)], excess: [...below, ...level.slice(room)] };
}

/** Lowest number first, then by age, then by name, so that the order does not depend on the cache. */
function byAge(left: Readonly<Revision>, right: Readonly<Revision>): number {
  return numberOf(left) - numberOf(right) || compare(createdAt(left), createdAt(right)) || compare(nameOf(left), nameOf(right));
}

function numberOf(revision: Readonly<Revision> | undefined): number {
  return revision?.revision ?? 0;
}

function createdAt({ metadata }: Readonly<Revision>): string {
  return metadata.creationTimestamp ?? '';
}

function nameOf({ metadata }: Readonly<Revision>): string {
  return metadata.name ?? '';
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
