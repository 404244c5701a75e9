import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { leases } from '../api/object.ts';
import type { Client } from '../client/client.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../client/errors.ts';
import type { Outage } from '../cache/failure-log.ts';
import { type Fence, NotLeaderError, Term } from './fence.ts';
import {
  firstLease,
  holderOf,
  type Lease,
  explainLeaseError,
  type LeaseVerb,
  releasedLease,
  renewedLease,
  takenLease,
  transitionsOf,
} from './lease.ts';
import {
  certainForMs,
  initialState,
  type Held,
  type ClockReading,
  next,
  plan,
  rules,
  type Rules,
  type Saw,
  type Settings,
  type ElectionState,
  type Step,
} from './next.ts';

/** Metrics of an election. Calls are cheap and never throw. */
export interface ElectionMetrics {
  /** @param name - of the lease */
  leading(name: string, isLeading: boolean): void;
  /** A renewal was rejected, and the lease had to be read before the next one. */
  slowRenewal(name: string): void;
}

const noElectionMetrics: ElectionMetrics = { leading() {}, slowRenewal() {} };

export interface ElectionOptions {
  /** Preferably with its own connection: a renewal must not wait behind a long list. */
  client: Pick<Client, 'get' | 'create' | 'replace'>;
  lease: { namespace: string; name: string };
  /** Unique to one process and used once: see {@link newIdentity}. */
  identity: string;
  clock: Clock;
  random: Random;
  log: Log;
  /** Time after the last renewal before another candidate may take the lease, in ms; the lease stores whole seconds, rounded up. @default 15_000 */
  leaseDurationMs?: Millis;
  /** How long a holder continues without another successful renewal, counted from before the last one was sent, in ms. @default 10_000 */
  renewDeadlineMs?: Millis;
  /** Time between renewals, and between attempts of a candidate, to which up to 1.2 times as much is added at random; in ms. @default 2_000 */
  retryPeriodMs?: Millis;
  /** @default nothing is counted */
  metrics?: ElectionMetrics;
  /** Shared with the caches of the process; logs once that the server cannot be reached. @default the election logs it */
  outage?: Outage;
  /** For an event on the lease: `HOST_UUID became leader`. Must not throw. */
  announce?: (message: string, lease: Lease) => void;
  /** For tests, which show that they detect weaker rules. */
  rules?: Rules;
}

/** How an election ended. After `lost` the process exits with 1: another process may already do its work. */
export type Ended =
  | { why: 'lost'; detail: string }
  /** Stopped by the caller. `released`: the next candidate need not wait. */
  | { why: 'stopped'; released: boolean };

/**
 * One participant of a leader election on a Lease. Leads at most once: after a loss or a stop, only a new process can lead again.
 * @throws {RangeError} unless leaseDurationMs > renewDeadlineMs > 1.2 * retryPeriodMs > 0
 */
export class LeaderElection implements Fence {
  readonly #options: ElectionOptions;
  readonly #settings: Settings;
  readonly #metrics: ElectionMetrics;
  readonly #log: Log;
  readonly #name: string;
  readonly #won = Promise.withResolvers<boolean>();
  /** Aborts what the loop waits for: on a stop, or when the lease is lost. */
  readonly #ending = new AbortController();
  #state: ElectionState = initialState;
  #term: Term | undefined;
  #holder = '';
  #stopping = false;
  #failure: { verb: LeaseVerb; text: string; refused: boolean } | undefined;

  constructor(options: ElectionOptions) {
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
    if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > 1.2 * retryPeriodMs && retryPeriodMs > 0)) {
      throw new RangeError(
        `a lease of ${leaseDurationMs} ms must outlast the renew deadline (${renewDeadlineMs} ms), and that 1.2 retry periods of ${retryPeriodMs} ms`,
      );
    }
    this.#options = options;
    this.#settings = { identity: options.identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs, rules: options.rules ?? rules };
    this.#metrics = options.metrics ?? noElectionMetrics;
    this.#name = `lease ${options.lease.namespace}/${options.lease.name}`;
    this.#log = options.log.with({ lease: `${options.lease.namespace}/${options.lease.name}` });
  }

  /** The lease holder as last seen; '' where there is none, or the lease was not seen yet. */
  get holder(): string {
    return this.#holder;
  }

  /** Why retries cannot succeed until an administrator acts: a permission or the namespace is missing. undefined otherwise. */
  get refusal(): string | undefined {
    return this.#failure?.refused === true ? this.#failure.text : undefined;
  }

  /** The number of this process's term, current or past: higher than that of every earlier term. undefined before it led. */
  get epoch(): number | undefined {
    return this.#term?.epoch;
  }

  mayWrite(): boolean {
    if (this.#stopping || this.#held() === undefined) return false;
    // A process that was paused detects an expired lease here, before any timer fires.
    this.#saw({ kind: 'waited', at: this.#now() });
    return this.#held() !== undefined;
  }

  async write<T>(call: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const term = this.#term;
    if (!this.mayWrite() || term === undefined) throw new NotLeaderError(this.#name, this.#whyNot());
    return term.write(call, signal);
  }

  /** Resolves to true once this process leads, or to false when the election ends before that. */
  whenLeading(): Promise<boolean> {
    return this.#won.promise;
  }

  /**
   * Takes part until `signal` aborts or the lease is lost. Stop all work before you abort: from then on new writes are rejected, pending writes are awaited,
   * and then the lease is released. API errors are logged and retried. Call it once only.
   */
  async run(signal: AbortSignal): Promise<Ended> {
    this.#metrics.leading(this.#options.lease.name, false);
    const stop = (): void => {
      this.#stopping = true;
      this.#ending.abort();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      while (!signal.aborted) {
        const step = plan(this.#state, this.#now(), this.#options.random(), this.#settings);
        if (step.do === 'end') return { why: 'lost', detail: step.why };
        this.#saw(await this.#execute(step));
      }
      return await this.#stop();
    } finally {
      signal.removeEventListener('abort', stop);
      this.#won.resolve(false);
    }
  }

  async #execute(step: Exclude<Step, { do: 'end' }>): Promise<Saw> {
    const { lease: ref, identity, clock } = this.#options;
    const claim = { identity, leaseDurationMs: this.#settings.leaseDurationMs, nowMs: clock.now() };
    switch (step.do) {
      case 'wait':
        await clock.sleep(step.ms, this.#ending.signal).catch(() => {});
        return { kind: 'waited', at: this.#now() };
      case 'look':
        return this.#read();
      case 'take':
        return step.lease === undefined
          ? this.#write('create', firstLease(ref, claim))
          : this.#write('update', takenLease(step.lease, claim));
      case 'renew':
        return this.#write('update', renewedLease(step.lease, claim));
    }
  }

  async #read(): Promise<Saw> {
    try {
      const options = { timeoutMs: this.#settings.renewDeadlineMs / 2, signal: this.#ending.signal };
      const lease = await this.#options.client.get<Lease>(leases, this.#options.lease, options);
      this.#recovered('get');
      return { kind: 'found', lease, at: this.#now() };
    } catch (error) {
      if (isNotFound(error)) return { kind: 'found', lease: undefined, at: this.#now() };
      return this.#failed('get', error);
    }
  }

  /** Not aborted by the signal of `run`: the result of the write must be known, so that the lease can be released. */
  async #write(verb: LeaseVerb, lease: Lease): Promise<Saw> {
    const { client } = this.#options;
    const from = this.#now();
    try {
      const options = { timeoutMs: this.#settings.renewDeadlineMs / 2, ...(this.#term === undefined ? {} : { signal: this.#term.signal }) };
      const stored = await (verb === 'create'
        ? client.create<Lease>(leases, lease, options)
        : client.replace<Lease>(leases, lease, options));
      this.#recovered(verb);
      return { kind: 'wrote', lease: stored, from, at: this.#now() };
    } catch (error) {
      const refused = verb === 'create' ? isAlreadyExists(error) : isConflict(error) || isNotFound(error);
      return refused ? { kind: 'refused', at: this.#now() } : this.#failed(verb, error);
    }
  }

  /** The only place that changes the standing and acts on the change. */
  #saw(saw: Saw): void {
    const before = this.#state;
    const after = next(before, saw, this.#settings);
    this.#state = after;
    const { lease, announce, identity, clock } = this.#options;
    if (saw.kind === 'found' || saw.kind === 'wrote') this.#observed(saw.lease);
    if (before.at === 'doubting' && after.at === 'leading') this.#metrics.slowRenewal(lease.name);
    if (this.#term === undefined && after.at === 'leading') {
      this.#term = new Term(transitionsOf(after.held.lease), clock);
      this.#log.info('became leader', { identity, epoch: this.#term.epoch });
      this.#metrics.leading(lease.name, true);
      announce?.(`${identity} became leader`, after.held.lease);
      void this.#guard(this.#term);
      this.#won.resolve(true);
    }
    if (before.at !== 'lost' && after.at === 'lost') {
      this.#log.error('lost the lease', { identity, why: after.why });
      this.#endTerm('held' in before ? before.held.lease : undefined, after.why);
    }
  }

  /** Ends the term at its deadline, even while the loop waits for something else. */
  async #guard(term: Term): Promise<void> {
    const { clock } = this.#options;
    for (let held = this.#held(); held !== undefined && !term.signal.aborted; held = this.#held()) {
      const left = certainForMs(held, this.#now(), this.#settings.renewDeadlineMs);
      await clock.sleep(left > 0 ? left : this.#settings.retryPeriodMs, term.signal).catch(() => {});
      if (!term.signal.aborted) this.#saw({ kind: 'waited', at: this.#now() });
    }
  }

  async #stop(): Promise<Ended> {
    const term = this.#term;
    await term?.quiet();
    const held = this.#held();
    if (term === undefined || held === undefined) return { why: 'stopped', released: false };
    let released = false;
    if (term.mayBeUnfinished(this.#settings.leaseDurationMs)) {
      this.#log.warn('not releasing the lease: a write had no answer and may still take effect');
    } else {
      try {
        const lease = releasedLease(held.lease, this.#options.clock.now());
        await this.#options.client.replace<Lease>(leases, lease, { timeoutMs: this.#settings.renewDeadlineMs / 2, signal: term.signal });
        released = true;
      } catch (error) {
        this.#log.warn('failed to release the lease, it will expire', {
          error: describeError(explainLeaseError('update', this.#options.lease, error)),
        });
      }
    }
    this.#endTerm(held.lease, 'this process is stopping');
    return { why: 'stopped', released };
  }

  #endTerm(lease: Lease | undefined, why: string): void {
    this.#ending.abort();
    this.#term?.end(this.#name, why);
    this.#metrics.leading(this.#options.lease.name, false);
    if (lease !== undefined) this.#options.announce?.(`${this.#options.identity} stopped leading`, lease);
  }

  #held(): Held | undefined {
    return 'held' in this.#state && this.#term?.signal.aborted !== true ? this.#state.held : undefined;
  }

  #whyNot(): string {
    if (this.#state.at === 'lost') return this.#state.why;
    if (this.#stopping) return 'this process is stopping';
    return this.#holder === '' ? 'no process holds the lease yet' : `it is held by ${this.#holder}`;
  }

  #now(): ClockReading {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  #observed(lease: Lease | undefined): void {
    const holder = lease === undefined ? '' : holderOf(lease);
    if (holder === this.#holder) return;
    this.#holder = holder;
    if (holder !== this.#options.identity) this.#log.info('the lease has another holder', { holder });
  }

  #failed(verb: LeaseVerb, error: unknown): Saw {
    // Aborted by this process, which shows nothing about the server: neither that it is unreachable nor that it is back.
    if (this.#term?.signal.aborted === true || (verb === 'get' && this.#ending.signal.aborted)) return { kind: 'failed', at: this.#now() };
    const found = explainLeaseError(verb, this.#options.lease, error);
    const text = describeError(found);
    // A server that is unreachable for an hour must not be logged for each try.
    if (this.#options.outage?.met('lease', found) === true)
      this.#log.debug('leader election failed to reach its lease, retrying', { error: text });
    else if (text !== this.#failure?.text) this.#log.warn('leader election failed to update its lease, retrying', { error: text });
    this.#failure = { verb, text, refused: found !== error };
    return { kind: 'failed', at: this.#now() };
  }

  /** A successful get does not end a failure of update: otherwise each pair of them would log two lines. */
  #recovered(verb: LeaseVerb): void {
    if (this.#failure === undefined || (verb === 'get' && this.#failure.verb === 'update')) return;
    if (this.#options.outage?.over('lease') !== true) this.#log.info('leader election works again');
    this.#failure = undefined;
  }
}
