import { skipped, Unseen, type Check, type Finding, type Seen, type Verdict } from './check.ts';
import { ActionError, describeError, errorCode } from '../../base/errors.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** Checks that are decided from the same facts. */
export interface Topic<Look> {
  checks: readonly Pick<Check<never>, 'name' | 'wants'>[];
  /** Looks, and decides. The facts of a gatherer that fails are not known: all of its checks are then skipped. */
  examine(look: Look, bounds: Bounds): Promise<Finding[]>;
}

export interface Bounds {
  clock: Pick<Clock, 'after'>;
  /** Ends every wait. */
  signal: AbortSignal;
  /** Longest time for the facts of one topic. */
  timeoutMs: Millis;
}

/** @param gather - the edge: reads what the checks decide by. Its signal aborts when its time is over */
export function topic<Look, Facts>(
  checks: readonly Check<Facts>[],
  gather: (look: Look, signal: AbortSignal) => Promise<Facts>,
): Topic<Look> {
  return {
    checks,
    async examine(look, bounds) {
      const facts = await withinTime(bounds, (signal) => gather(look, signal));
      return checks.map((check) => ({ check: check.name, ...('unseen' in facts ? skipped(facts.unseen) : decided(check, facts.seen)) }));
    },
  };
}

/** All checks of all topics in their order, gathered side by side. @throws the signal's reason */
export async function examineAll<Look>(topics: readonly Topic<Look>[], look: Look, bounds: Bounds): Promise<Finding[]> {
  const found = await Promise.all(topics.map((one) => one.examine(look, bounds)));
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
  // What a gatherer says after its time is over is not waited for.
  seen(() => work(AbortSignal.any([signal, over.signal]))).then(resolve, resolve as () => void);
  try {
    return await promise;
  } finally {
    stop();
    signal.removeEventListener('abort', abort);
  }
}

/** A fact from the edge, whose failure is no failure of the others beside it. */
export async function seen<T>(look: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { seen: await look() };
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
