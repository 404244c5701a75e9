import { describePeek, hasSwitched, isHealthyOn, type LivePlan, type Peek, type Place } from './plan.ts';
import { report, type DrillReport, type DrillStep } from '../drill/plan.ts';
import { executeRetry } from '../retry/execute.ts';
import { sourceText } from '../../checkpoint/source.ts';
import type { Store } from '../../store/store.ts';
import type { Clock, Millis } from '../../../base/clock.ts';
import { ActionError } from '../../../base/errors.ts';

export interface LiveDeps {
  store: Store;
  clock: Clock;
  signal: AbortSignal;
  peek(): Promise<Peek>;
  /** Told what is waited for, for a person at a terminal. */
  say(text: string): void;
  /** Longest wait for each arrival. */
  timeoutMs: Millis;
}

// Other processes write what is waited for; their files are small, and a drill is rare.
const LOOK_EVERY: Millis = 250;

// A Ctrl-C or a hang-up goes to the whole process group, so it also ends the program that is just taking the lock.
const TRIES_TO_TAKE_BACK = 3;

/**
 * Falls back on this very node and returns. Whatever happens, the condemnation is cleared before this ends.
 * @throws ActionError when the signal aborts, or the store cannot be written
 */
export async function liveDrill(plan: Extract<LivePlan, { at: 'planned' }>, deps: LiveDeps): Promise<DrillReport> {
  const { store } = deps;
  const steps: DrillStep[] = [];
  try {
    await store.locked(async () => {
      await store.setCondemned([...(await store.condemned()), plan.record]);
      await store.addToJournal(plan.journal);
    });
    steps.push(...(await arrive('fall back', plan.there, deps)));
  } finally {
    await takeBack(plan, deps);
  }
  steps.push(...(await arrive('return', plan.back, deps)));
  return report(steps);
}

async function takeBack(plan: Extract<LivePlan, { at: 'planned' }>, deps: LiveDeps): Promise<void> {
  const { store, clock } = deps;
  const at = new Date(clock.now()).toISOString();
  const line = { at, event: 'retried', source: plan.back.source, detail: 'live drill: condemnation cleared' } as const;
  for (let tries = 1; ; tries++)
    try {
      await store.locked(() => executeRetry(store, [plan.record], [line]));
      break;
    } catch (cause) {
      if (tries === TRIES_TO_TAKE_BACK)
        throw new ActionError('clear', `the condemnation of ${sourceText(plan.back.source)}`, { hint: 'run dkc retry now', cause });
      await clock.sleep(LOOK_EVERY); // not cut short by the signal: this is what a command that was ended still has to do
    }
  deps.say('the condemnation is cleared'); // after it: there may be nobody left to hear it
}

async function arrive(step: string, place: Place, deps: LiveDeps): Promise<DrillStep[]> {
  deps.say(`${step}: waiting for ${place.used} (${sourceText(place.source)})`);
  const switched = await until(`${step}: agent uses ${place.used}`, place.used, (peek) => hasSwitched(peek, place), deps);
  if (!switched.passed) return [switched];
  return [
    switched,
    await until(`${step}: kubelet healthy on it`, place.used, (peek) => hasSwitched(peek, place) && isHealthyOn(peek), deps),
  ];
}

async function until(step: string, expected: string, there: (peek: Peek) => boolean, deps: LiveDeps): Promise<DrillStep> {
  const { clock, signal, timeoutMs } = deps;
  const began = clock.monotonic();
  for (;;) {
    if (signal.aborted) throw interrupted(step, signal);
    const peek = await deps.peek();
    const ms = Math.round(clock.monotonic() - began);
    if (there(peek)) return { step, expected, seen: expected, ms, passed: true };
    if (ms >= timeoutMs) return { step, expected, seen: `${describePeek(peek)} after ${Math.round(ms / 1000)} s`, ms, passed: false };
    await clock.sleep(LOOK_EVERY, signal).catch(() => undefined); // looked at above
  }
}

function interrupted(step: string, signal: AbortSignal): ActionError {
  return new ActionError('finish', `the drill at "${step}"`, {
    hint: 'it was interrupted; its condemnation is cleared, and the agent returns to the assigned config',
    cause: signal.reason,
  });
}
