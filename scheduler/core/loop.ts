import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Runtime } from '../../kube/process/runtime.ts';
import type { Extenders } from '../extenders/chain.ts';
import type { ClaimedRoomKeeper } from '../reservation/expiry.ts';
import { attempt, fail, nextTurn, turnOf, type Turn } from './schedule-one.ts';
import { extendedAttempt } from './scheduling-cycle.ts';
import type { Outcome } from './outcome.ts';
import type { Parts } from './state.ts';
import type { QueuedPod } from '../queue/contract.ts';
import type { SchedulerMeters } from './metrics.ts';
import type { RoomTeller } from '../reservation/wakes.ts';
import type { Unconfirmed } from './unconfirmed.ts';
import type { Worker } from './binding-cycle.ts';

type Try = Extract<Turn, { turn: 'try' }>;

export interface LoopOptions {
  parts: Parts;
  teller: RoomTeller;
  worker: Worker;
  keeper: ClaimedRoomKeeper;
  unconfirmed: Unconfirmed;
  extenders: Extenders | undefined;
  /** Whether the caches show a state that the server had: nothing is decided in the middle of a relist. */
  caches: Pick<Runtime['informers'], 'settled' | 'whenSettled'>;
  meters: SchedulerMeters;
  clock: Clock;
  log: Log;
}

/** Decisions go on for so long before everything else of the process has its turn: events of the caches, answers of the server. */
const SLICE_MS: Millis = 4;
/** Looked at at least so often while anybody waits. */
const MAX_SLEEP: Millis = 1_000;
const SLOW_MS: Millis = 100;

/** Takes pod after pod, decides, and has done what was decided; sleeps while there is nothing to decide. */
export class Loop {
  readonly #options: LoopOptions;
  #poked = Promise.withResolvers<void>();
  #isPoked = false;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** There may be something to do. */
  readonly poke = (): void => {
    if (this.#isPoked) return;
    this.#isPoked = true;
    this.#poked.resolve();
  };

  async run(signal: AbortSignal): Promise<void> {
    const { worker, caches } = this.#options;
    const abort = (): void => this.poke();
    signal.addEventListener('abort', abort, { once: true });
    try {
      while (!signal.aborted) {
        if (!caches.settled) {
          // Rejects only when the signal aborts, and then the loop ends.
          await caches.whenSettled(signal).catch(() => {});
          continue;
        }
        this.#tick();
        if (await this.#slice(signal)) await breathe();
        else {
          if (!caches.settled) continue;
          // What was decided may have others wait for a time; and whose time came meanwhile, waits for none any more.
          const next = this.#tick();
          if (!this.#mayDecide()) await this.#sleep(next);
        }
      }
    } finally {
      signal.removeEventListener('abort', abort);
      await worker.idle();
    }
  }

  /** What time alone brings. @returns when to look again */
  #tick(): Millis | undefined {
    const { parts, keeper, unconfirmed } = this.#options;
    const times = [unconfirmed.tick(), parts.queue.tick(), keeper.tick()].filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #mayDecide(): boolean {
    const { parts, worker } = this.#options;
    // What is decided and not yet written grows old: no further ahead than the server keeps up.
    return parts.queue.sizes.active > 0 && worker.binding < parts.config.api.maxInflightBinds;
  }

  /** @returns whether there may be more to do at once */
  async #slice(signal: AbortSignal): Promise<boolean> {
    const { parts, worker, caches, extenders, clock } = this.#options;
    const until = clock.monotonic() + SLICE_MS;
    // Only then do the caches change within a slice.
    const waits = extenders !== undefined || !parts.config.preemption.async;
    while (!signal.aborted) {
      if (waits && !caches.settled) return true;
      if (worker.binding >= parts.config.api.maxInflightBinds) return false;
      const turn = await this.#nextTurn(signal);
      if (turn.turn === 'none') return false;
      if (turn.turn === 'skip') {
        if (turn.deleting) worker.skipDeleting(turn.pod);
      } else {
        const outcome = turn.turn === 'broken' ? this.#broken(turn.queued, turn.error) : await this.#attempt(turn, signal);
        const preempting = this.#begin(outcome, signal);
        if (!parts.config.preemption.async) await preempting;
      }
      if (clock.monotonic() >= until) return true;
    }
    return false;
  }

  /** The next pod, with all that takes long of its first decision made ready: in slices, for others have their turn meanwhile. */
  async #nextTurn(signal: AbortSignal): Promise<Turn> {
    const { parts, caches, clock } = this.#options;
    const turn = nextTurn(parts);
    if (turn.turn !== 'try' || this.#isReady(turn, clock.monotonic() + SLICE_MS)) return turn;
    do await breathe();
    while (!signal.aborted && !this.#isReady(turn, clock.monotonic() + SLICE_MS));
    // The caches may have changed meanwhile, or be in the middle of that. Rejects only when the signal aborts.
    while (!signal.aborted && !caches.settled) await caches.whenSettled(signal).catch(() => {});
    // It is perhaps another one by now, or gone.
    return signal.aborted ? { turn: 'none' } : turnOf(parts, turn.queued);
  }

  #isReady({ pod, profile }: Try, until: Millis): boolean {
    const { parts, clock } = this.#options;
    try {
      return parts.engine.prepare(pod, profile, () => clock.monotonic() >= until);
    } catch {
      // The attempt meets the same, and says so.
      return true;
    }
  }

  #attempt(turn: Try, signal: AbortSignal): Outcome | Promise<Outcome> {
    const { parts, teller, extenders, meters, clock, log } = this.#options;
    const from = clock.monotonic();
    const seen = (outcome: Outcome): Outcome => {
      const ms = clock.monotonic() - from;
      if (ms > SLOW_MS) log.warn('a decision took long', { pod: turn.pod.key, ms: Math.round(ms), nodes: parts.cluster.nodeCount });
      const result =
        outcome.did === 'placed'
          ? 'scheduled'
          : outcome.did === 'refused' && outcome.reason === 'SchedulerError'
            ? 'error'
            : 'unschedulable';
      meters.attempt(result, ms / 1_000);
      return outcome;
    };
    if (extenders !== undefined && (['filter', 'prioritize', 'preempt'] as const).some((verb) => extenders.asks(verb, turn.pod)))
      return extendedAttempt(parts, teller, extenders, turn, signal).then(seen);
    try {
      return seen(attempt(parts, teller, turn));
    } catch (error) {
      return seen(this.#broken(turn.queued, error));
    }
  }

  /** One odd pod must not stop all others: it is told so, and tried again later and later. */
  #broken(queued: QueuedPod, error: unknown): Outcome {
    const { parts, log } = this.#options;
    log.error('a pod could not be looked at', { pod: queued.info.key, error: describeError(error) });
    return { did: 'refused', ...fail(parts, queued, queued.info, describeError(error)) };
  }

  #begin(outcome: Outcome, signal: AbortSignal): Promise<void> | undefined {
    const { worker, log } = this.#options;
    try {
      return worker.begin(outcome, signal);
    } catch (error) {
      log.error('what was decided over a pod could not be begun', { pod: outcome.pod.key, error: describeError(error) });
      return undefined;
    }
  }

  async #sleep(next: Millis | undefined): Promise<void> {
    const { parts, clock } = this.#options;
    if (!this.#isPoked) {
      const stop = next === undefined ? undefined : clock.after(Math.min(MAX_SLEEP, Math.max(0, next - parts.now())), this.poke);
      await this.#poked.promise;
      stop?.();
    }
    this.#isPoked = false;
    this.#poked = Promise.withResolvers<void>();
  }
}
