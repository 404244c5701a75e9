import { ActionError, describeError, errorCode } from '../../base/errors.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** Result of a check. `skipped`: a fact is unavailable, or the check does not apply here; the detail says which. */
export const results = ['ok', 'warning', 'failed', 'skipped'] as const;
export type Result = (typeof results)[number];

export interface Verdict {
  result: Result;
  /** The result in one line, with names and numbers. */
  detail: string;
  /** How to fix it; commands are complete. */
  remedy?: string;
}

/** One line of the report. */
export interface Finding extends Verdict {
  check: string;
}

/** One check on the facts of a topic. `decide` reads nothing but the facts. */
export interface Check<Facts> {
  /** In kebab case; docs/doctor.md has a row of this name. */
  name: string;
  /** The requirement, in a few words. */
  wants: string;
  /** @throws Unseen if a required fact is unavailable */
  decide(facts: Facts): Verdict;
}

export const ok = (detail: string): Verdict => ({ result: 'ok', detail });
export const warning = (detail: string, remedy: string): Verdict => ({ result: 'warning', detail, remedy });
export const failed = (detail: string, remedy: string): Verdict => ({ result: 'failed', detail, remedy });
export const skipped = (detail: string): Verdict => ({ result: 'skipped', detail });

/** A fact, or why it is unavailable. */
export type Seen<T> = { seen: T } | { unseen: string };

/** Type of a known fact. */
export type Known<T> = T extends { seen: infer Value } ? Value : never;

/** A check needs an unavailable fact: the check is skipped with this message. */
export class Unseen extends Error {
  override name = 'Unseen';
}

/** @throws Unseen */
export function the<T>(fact: Seen<T>): T {
  if ('unseen' in fact) throw new Unseen(fact.unseen);
  return fact.seen;
}

/** Maximum number of names in a detail; the others are counted. */
const MAX_NAMED = 5;

/** `a, b, c and 4 more` */
export function someOf(names: readonly string[], limit = MAX_NAMED): string {
  const more = names.length - limit;
  return more > 0 ? `${names.slice(0, limit).join(', ')} and ${more} more` : names.join(', ');
}

/** Checks that use the same facts. */
export interface Topic<Inspector> {
  checks: readonly Pick<Check<never>, 'name' | 'wants'>[];
  /** Gathers the facts and decides the checks. If gathering fails, all checks of the topic are skipped. */
  examine(inspector: Inspector, bounds: Bounds): Promise<Finding[]>;
}

export interface Bounds {
  clock: Pick<Clock, 'after'>;
  /** Aborts every wait. */
  signal: AbortSignal;
  /** Maximum time for gathering the facts of one topic. */
  timeoutMs: Millis;
}

/** @param gather - does the I/O: reads the facts of the checks. Its signal aborts on timeout */
export function topic<Inspector, Facts>(
  checks: readonly Check<Facts>[],
  gather: (inspector: Inspector, signal: AbortSignal) => Promise<Facts>,
): Topic<Inspector> {
  return {
    checks,
    async examine(inspector, bounds) {
      const facts = await withinTime(bounds, (signal) => gather(inspector, signal));
      return checks.map((check) => ({ check: check.name, ...('unseen' in facts ? skipped(facts.unseen) : decided(check, facts.seen)) }));
    },
  };
}

/** Runs all checks, in order; topics gather their facts concurrently. @throws the signal's reason */
export async function examineAll<Inspector>(topics: readonly Topic<Inspector>[], inspector: Inspector, bounds: Bounds): Promise<Finding[]> {
  const found = await Promise.all(topics.map((one) => one.examine(inspector, bounds)));
  bounds.signal.throwIfAborted();
  return found.flat();
}

function decided<Facts>(check: Check<Facts>, facts: Facts): Verdict {
  try {
    return check.decide(facts);
  } catch (error) {
    return skipped(error instanceof Unseen ? error.message : `this check has an internal error: ${describeError(error)}`);
  }
}

async function withinTime<T>({ clock, signal, timeoutMs }: Bounds, work: (signal: AbortSignal) => Promise<T>): Promise<Seen<T>> {
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Seen<T>>();
  const late = `no answer within ${timeoutMs / 1000} s`;
  const stop = clock.after(timeoutMs, () => {
    over.abort(new Error(late));
    resolve({ unseen: late });
  });
  const abort = (): void => resolve({ unseen: 'interrupted' });
  signal.addEventListener('abort', abort, { once: true });
  // After the timeout the result of the gatherer is ignored.
  seen(() => work(AbortSignal.any([signal, over.signal]))).then(resolve, resolve as () => void);
  try {
    return await promise;
  } finally {
    stop();
    signal.removeEventListener('abort', abort);
  }
}

/** Reads one fact; a failure makes this fact unavailable, but not the other facts of the topic. */
export async function seen<T>(read: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { seen: await read() };
  } catch (error) {
    return { unseen: whyUnseen(error) };
  }
}

function whyUnseen(error: unknown): string {
  if (error instanceof Unseen) return error.message;
  const cause = error instanceof ActionError ? (error.cause ?? error) : error;
  const path = (cause as NodeJS.ErrnoException).path;
  if (['EACCES', 'EPERM'].includes(errorCode(cause) ?? ''))
    return `permission denied${path === undefined ? '' : `: ${path}`}; run this as root`;
  return describeError(error);
}
