import type { Millis } from '../../../../base/clock.ts';
import { IndexedHeap } from '../../../../base/ordered.ts';
import { seededRandom, type Random } from '../../../../base/random.ts';
import { firstLease, holderOf, type Lease, renewedLease, takenLease } from '../../../../kube/election/lease.ts';
import { initialState, type ClockReading, next, plan, rules, type Rules, type Saw, type ElectionState } from '../../../../kube/election/next.ts'; // prettier-ignore

const HOUR = 3_600_000;

/** A process on a machine of its own, whose two clocks may be wrong. The monotonic one stands still while the machine is suspended. */
interface Participant {
  identity: string;
  standing: ElectionState;
  wallSkewMs: Millis;
  rate: number;
  suspendedMs: Millis;
  haltedUntil: Millis;
  cutOffUntil: Millis;
  isDead: boolean;
}

/** What an answer or a wait says; its moment is when the process hears of it. */
type News = Saw extends infer One ? (One extends Saw ? Omit<One, 'at'> : never) : never;

/**
 * Three participants that do what the election's plan says, the server that has the lease, and everything that can happen between them. It has no
 * promises and no timers: those of the driver are tested by election.test.ts. The same seed gives the same life.
 */
export class HandOvers {
  /** What must never be: who is sure to lead is not whom the record names. */
  readonly breaches: string[] = [];
  handOvers = 0;
  now: Millis = 0;
  /** How often somebody was sure to lead, since all is calm. */
  led = 0;
  readonly #random: Random;
  readonly #settings;
  readonly #disturbance: string | undefined;
  readonly #events = new IndexedHeap<number, { at: Millis; happen: () => void }>((a, b) => a.at - b.at);
  #order = 0;
  #participants: Participant[] = [];
  #lease: Lease | undefined;
  /** Share of requests that are lost, and as often their answers. */
  #lossUntil: Millis = 0;
  #clockSetAt: Millis = -HOUR;

  /** @param options - `weaker` rules, to see them found out; `only` this disturbance */
  constructor(seed: number, { weaker = {}, only }: { weaker?: Partial<Rules>; only?: string } = {}) {
    this.#random = seededRandom(seed);
    this.#settings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, rules: { ...rules, ...weaker } };
    this.#disturbance = only;
    for (let slot = 0; slot < 3; slot++) this.#start();
  }

  /** Lives until the lease was handed over so often, then four minutes in calm. */
  live(handOvers: number): this {
    for (let disturbAt = 0; this.handOvers < handOvers && this.breaches.length === 0 && this.now < handOvers * HOUR;) {
      if (this.now >= disturbAt) {
        this.#disturb();
        disturbAt = this.now + this.#between(1_000, 40_000);
      }
      this.#step();
    }
    this.led = 0;
    for (const calmAt = this.now; this.now < calmAt + 240_000 && this.breaches.length === 0;) this.#step();
    return this;
  }

  #step(): void {
    const event = this.#events.pop()?.value;
    if (event === undefined) throw new Error('nothing will ever happen again');
    this.now = event.at;
    event.happen();
  }

  #between(low: number, high: number): number {
    return low + (high - low) * this.#random();
  }

  #after(ms: Millis, happen: () => void): void {
    this.#events.set((this.#order += 1), { at: this.now + Math.max(0, ms), happen });
  }

  #start(): void {
    const clocks = { wallSkewMs: this.#between(-12, 12) * HOUR, rate: this.#between(0.999, 1.001), suspendedMs: 0 };
    const identity = `process-${this.#order}`;
    const process = { identity, standing: initialState, ...clocks, haltedUntil: 0, cutOffUntil: 0, isDead: false };
    this.#participants = [...this.#participants.filter(({ isDead }) => !isDead), process];
    this.#act(process);
    this.#look(process);
  }

  #moment({ suspendedMs, rate, wallSkewMs }: Participant): ClockReading {
    return { monotonic: (this.now - suspendedMs) * rate, wall: 1_700_000_000_000 + this.now + wallSkewMs };
  }

  /** Something happens to the process: now, or when it goes on, timers before answers or the other way round; or never. */
  #deliver(process: Participant, happen: () => void): void {
    if (process.isDead) return;
    if (process.haltedUntil > this.now) this.#after(process.haltedUntil - this.now + this.#random(), () => this.#deliver(process, happen));
    else happen();
  }

  #saw(process: Participant, news: News): void {
    process.standing = next(process.standing, { ...news, at: this.#moment(process) }, { ...this.#settings, ...process });
  }

  /** Now and then it asks itself whether it may write. */
  #look(process: Participant): void {
    this.#after(this.#between(50, 1_500), () => this.#deliver(process, () => {
      this.#saw(process, { kind: 'waited' });
      if ('held' in process.standing) {
        const holder = this.#lease === undefined ? '' : holderOf(this.#lease);
        if (holder !== process.identity) this.breaches.push(`at ${this.now} ${process.identity} was sure to lead, but the lease was held by ${holder}`);
        this.led += 1;
      }
      this.#look(process);
    })); // prettier-ignore
  }

  #act(process: Participant): void {
    const step = plan(process.standing, this.#moment(process), this.#random(), { ...this.#settings, ...process });
    const over = (news: News): void => {
      this.#saw(process, news);
      this.#act(process);
    };
    const from = this.#moment(process);
    const claim = { identity: process.identity, leaseDurationMs: this.#settings.leaseDurationMs, nowMs: from.wall };
    if (step.do === 'end') this.#kill(process);
    else if (step.do === 'wait') this.#after(Math.max(step.ms / process.rate, 0.01), () => this.#deliver(process, () => over({ kind: 'waited' })));
    else if (step.do === 'look') this.#ask(process, () => ({ kind: 'found', lease: this.#lease }), over);
    else {
      const written = step.lease === undefined ? firstLease({ namespace: 'n', name: 'l' }, claim) : (step.do === 'take' ? takenLease : renewedLease)(step.lease, claim);
      this.#ask(process, () => this.#write(written, from), over);
    }
  } // prettier-ignore

  #write(lease: Lease, from: ClockReading): News {
    if (lease.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion) return { kind: 'refused' };
    if (this.#lease !== undefined && holderOf(lease) !== holderOf(this.#lease)) this.handOvers += 1;
    this.#lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String((this.#order += 1)) } };
    return { kind: 'wrote', lease: this.#lease, from };
  }

  /** A request and its answer take their time and may be lost; one that was given up may arrive all the same. */
  #ask(process: Participant, apply: () => News, over: (news: News) => void): void {
    let isOver = false;
    const settle = (news: News): void =>
      this.#deliver(process, () => {
        if (!isOver) over(news);
        isOver = true;
      });
    const travel = (arrive: () => void): void => {
      const luck = this.#random();
      const ms = luck < 0.95 ? this.#between(0.2, 20) : luck < 0.998 ? this.#between(20, 2_000) : this.#between(2_000, 40_000);
      const isLost = this.now < process.cutOffUntil || (this.now < this.#lossUntil && this.#random() < 0.3);
      if (!isLost) this.#after(ms, arrive);
    };
    this.#after(5_000 / process.rate, () => settle({ kind: 'failed' }));
    // From the check to the system call: a process that is halted here sends when it goes on.
    this.#after(this.#between(0, 0.5), () =>
      this.#deliver(process, () =>
        travel(() => {
          const news = apply();
          travel(() => settle(news));
        }),
      ),
    );
  }

  #kill(process: Participant): void {
    process.isDead = true;
    this.#after(this.#between(10, 5_000), () => this.#start());
  }

  #disturb(): void {
    const holder = this.#lease === undefined ? '' : holderOf(this.#lease);
    // Mostly whoever leads: the others are only waiting.
    const leading = this.#random() < 0.8 ? this.#participants.find(({ identity }) => identity === holder) : undefined;
    const process = leading ?? this.#participants[Math.floor(this.#between(0, this.#participants.length))];
    if (process === undefined || process.isDead) return;
    const until = this.now + (this.#random() < 0.5 ? this.#between(10, 5_000) : this.#between(5_000, 60_000));
    const kinds = ['kill', 'stop', 'suspend', 'cut off', 'set the clock', 'loss'];
    const what = this.#disturbance ?? kinds[Math.floor(this.#between(0, kinds.length))];
    const isHalted = process.haltedUntil > this.now;
    if (what === 'kill') this.#kill(process);
    else if (what === 'cut off') process.cutOffUntil = until;
    else if (what === 'loss') this.#lossUntil = until;
    else if (isHalted) return;
    else if (what === 'stop') process.haltedUntil = until;
    // A clock set back and then, before the next renewal, a suspension: no clock is left to tell of it.
    else if (what === 'suspend' && this.now - this.#clockSetAt > 20_000) {
      process.haltedUntil = until;
      process.suspendedMs += until - this.now;
    } else if (what === 'set the clock') {
      process.wallSkewMs += this.#between(-3, 3) * HOUR;
      this.#clockSetAt = this.now;
    }
  }
}
