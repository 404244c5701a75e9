import { describeError } from '../../base/errors.ts';
import { type Resource, resourceName } from '../api/object.ts';
import { isForbidden, isNotFound, TransportError, type TransportProblem } from '../client/errors.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';

/** Why a cache cannot list or watch at this moment. */
export interface Problem {
  /** The last failure and a hint, for people. */
  text: string;
  /** Time since the failures began, in ms. */
  forMs: Millis;
}

/** An ongoing failure is logged again after this time, so that a reader of the recent log finds it. */
export const REMIND_MS: Millis = 10 * 60_000;
/** A failure this soon after a recovery continues the previous one: a server may accept every watch and break it at the first event. */
const MIN_CALM_MS: Millis = 30_000;
/** Distinct error texts that are logged: texts that differ by a number each time must not fill the log. */
export const MAX_TEXTS = 5;

/**
 * Logs the failures of a cache since it last worked for 30 s: each text once, and again every 10 minutes; repetitions at debug level, with the recoveries
 * between them: failures that come and go with each event of a busy cache would fill the log.
 */
export class FailureLog {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Log;
  readonly #outage: Outage | undefined;
  readonly #name: string;
  readonly #remedies: { missing: string; forbidden: string };
  readonly #loggedTexts = new Set<string>();
  #loggedAt: Millis = 0;
  #since: Millis = 0;
  /** Since when the cache has failed without a recovery. */
  #backAt: Millis = 0;
  #overAt: Millis | undefined;
  #text: string | undefined;
  /** A failure was logged after the last recovery. */
  #isLogged = false;

  /** @param outage - shared by the process; logs once for all caches that the server cannot be reached. @default each cache logs it */
  constructor(clock: Pick<Clock, 'monotonic'>, log: Log, resource: Resource, outage?: Outage) {
    this.#clock = clock;
    this.#log = log;
    this.#outage = outage;
    const name = resourceName(resource);
    this.#name = name;
    this.#remedies = {
      missing: `the server has no ${name} in version ${resource.version}; install its CustomResourceDefinition, or disable the feature that reads it`,
      forbidden: `the verbs list and watch on ${name} are needed`,
    };
  }

  get problem(): Problem | undefined {
    return this.#text === undefined ? undefined : { text: this.#text, forMs: this.#clock.monotonic() - this.#since };
  }

  failed(error: unknown, { failures, waitMs }: { failures: number; waitMs: Millis }): void {
    const now = this.#clock.monotonic();
    if (this.#text === undefined) this.#backAt = now;
    const continues = this.#text !== undefined || (this.#overAt !== undefined && now - this.#overAt < MIN_CALM_MS);
    if (!continues) {
      this.#since = now;
      this.#loggedTexts.clear();
    }
    const remedy = this.#remedyFor(error);
    const text = describeError(error);
    this.#text = remedy === undefined ? text : `${text}; ${remedy}`;
    const shouldLog =
      (!this.#loggedTexts.has(text) && this.#loggedTexts.size < MAX_TEXTS) || now - this.#loggedAt >= REMIND_MS || this.#isBack(now);
    const fields = { error: this.#text, failures, waitMs: Math.round(waitMs) };
    if (this.#outage?.met(this.#name, error) === true || !shouldLog) {
      this.#log.debug('list or watch failed again', fields);
      return;
    }
    this.#loggedTexts.add(text);
    this.#loggedAt = now;
    this.#isLogged = true;
    this.#log.warn('list or watch failed, retrying', fields);
  }

  /** A list or watch succeeded. */
  recovered(): void {
    if (this.#text === undefined) return;
    const fields = { afterMs: Math.round(this.#clock.monotonic() - this.#since) };
    this.#outage?.over(this.#name);
    if (this.#isLogged) this.#log.info('list and watch work again', fields);
    else this.#log.debug('list and watch work again', fields);
    this.#isLogged = false;
    this.#overAt = this.#clock.monotonic();
    this.#text = undefined;
  }

  /** A recovery was logged, and the failure that followed has lasted 30 s. */
  #isBack(now: Millis): boolean {
    return !this.#isLogged && now - this.#backAt >= MIN_CALM_MS;
  }

  #remedyFor(error: unknown): string | undefined {
    if (isNotFound(error)) return this.#remedies.missing;
    return isForbidden(error) ? this.#remedies.forbidden : undefined;
  }
}

/** What a reflector counts and measures. */
export interface ReflectorMetrics {
  /** A complete list, including one received as watch events. */
  listed(items: number, tookMs: Millis): void;
  /** A watch ended, for whatever reason. */
  watched(events: number, lastedMs: Millis): void;
  /** The version up to which the cache is complete. */
  reached(version: string): void;
  failed(): void;
}

export const noReflectorMetrics: ReflectorMetrics = { listed() {}, watched() {}, reached() {}, failed() {} };

/** Problems that affect every caller of the server alike. */
const sharedProblems: ReadonlySet<TransportProblem> = new Set(['unreachable', 'tls', 'timeout', 'cut']);

/**
 * An unreachable server fails every cache and the lease of a process at once: this logs one line for all of them, and again every 10 minutes. A failure
 * within 30 s of the recovery continues the outage, as in {@link FailureLog}.
 */
export class Outage {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Log;
  readonly #details: string;
  readonly #waiting = new Set<string>();
  #since: Millis = 0;
  #loggedAt: Millis = 0;
  /** Since when the server has been unreachable without a recovery. */
  #backAt: Millis = 0;
  #overAt: Millis | undefined;
  /** The outage was logged after the last recovery. */
  #isLogged = false;

  /** @param details - end of the log lines: how to see more. @default `details with -v`, a flag of all long-running commands */
  constructor(clock: Pick<Clock, 'monotonic'>, log: Log, details = '; details with -v') {
    this.#clock = clock;
    this.#log = log;
    this.#details = details;
  }

  /**
   * A call failed.
   * @param caller - what the call was for: `pods`, `lease`
   * @returns whether the server cannot be reached; then the outage logs it, and the caller need not
   */
  met(caller: string, error: unknown): boolean {
    if (!(error instanceof TransportError) || !sharedProblems.has(error.problem)) {
      this.over(caller);
      return false;
    }
    const now = this.#clock.monotonic();
    const begins = this.#waiting.size === 0 && (this.#overAt === undefined || now - this.#overAt >= MIN_CALM_MS);
    if (begins) this.#since = now;
    if (this.#waiting.size === 0) this.#backAt = now;
    this.#waiting.add(caller);
    if (begins) {
      this.#markLogged(now);
      this.#log.warn(`cannot reach the API server, retrying${this.#details}`, { error: error.message });
    } else if (now - this.#loggedAt >= REMIND_MS || (!this.#isLogged && now - this.#backAt >= MIN_CALM_MS)) {
      this.#markLogged(now);
      const facts = { error: error.message, waiting: [...this.#waiting].toSorted().join(','), forMs: Math.round(now - this.#since) };
      this.#log.warn(`still cannot reach the API server, retrying${this.#details}`, facts);
    }
    return true;
  }

  /** The server answered. @returns whether the outage included this caller */
  over(caller: string): boolean {
    if (!this.#waiting.delete(caller)) return false;
    if (this.#waiting.size > 0) return true;
    const now = this.#clock.monotonic();
    this.#overAt = now;
    const facts = { afterMs: Math.round(now - this.#since) };
    if (this.#isLogged) this.#log.info('the API server is reachable again', facts);
    else this.#log.debug('the API server is reachable again', facts);
    this.#isLogged = false;
    return true;
  }

  #markLogged(now: Millis): void {
    this.#loggedAt = now;
    this.#isLogged = true;
  }
}
