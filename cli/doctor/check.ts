/** What a check may find. `skipped`: it could not be looked at, or does not apply here; the detail says which. */
export const results = ['ok', 'warning', 'failed', 'skipped'] as const;
export type Result = (typeof results)[number];

export interface Verdict {
  result: Result;
  /** What was found, in one line, with names and numbers. */
  detail: string;
  /** What to do about it; commands as they are typed. */
  remedy?: string;
}

/** One line of the report. */
export interface Finding extends Verdict {
  check: string;
}

/** One question to the facts of a topic. `decide` reads nothing but the facts. */
export interface Check<Facts> {
  /** In kebab case; docs/doctor.md has a row of this name. */
  name: string;
  /** What has to be so, in a few words. */
  wants: string;
  /** @throws Unseen where a fact that it needs could not be looked at */
  decide(facts: Facts): Verdict;
}

export const ok = (detail: string): Verdict => ({ result: 'ok', detail });
export const warning = (detail: string, remedy: string): Verdict => ({ result: 'warning', detail, remedy });
export const failed = (detail: string, remedy: string): Verdict => ({ result: 'failed', detail, remedy });
export const skipped = (detail: string): Verdict => ({ result: 'skipped', detail });

/** A fact, or why nobody could look at it. */
export type Seen<T> = { seen: T } | { unseen: string };

/** What a fact is where it is known. */
export type Known<T> = T extends { seen: infer Value } ? Value : never;

/** A check needs a fact that could not be looked at: it is skipped with this message. */
export class Unseen extends Error {
  override name = 'Unseen';
}

/** @throws Unseen */
export function the<T>(fact: Seen<T>): T {
  if ('unseen' in fact) throw new Unseen(fact.unseen);
  return fact.seen;
}

/** Names in a detail; the others are counted. */
const MAX_NAMED = 5;

/** `a, b, c and 4 more` */
export function someOf(names: readonly string[], limit = MAX_NAMED): string {
  const more = names.length - limit;
  return more > 0 ? `${names.slice(0, limit).join(', ')} and ${more} more` : names.join(', ');
}
