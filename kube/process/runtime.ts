import { type QueueMetrics, WorkQueue } from '../queue/work-queue.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Informers } from '../cache/informers.ts';
import type { Client } from '../client/client.ts';
import type { EventRecorder } from '../controller/event-recorder.ts';
import type { RateLimits } from '../queue/rate-limit.ts';
import type { Dump } from '../serving/debug.ts';
import type { OwnWritesMetrics } from '../controller/own-writes.ts';

/** What controllers are made with. */
export interface Runtime {
  /** With leader election, writes are refused (`NotLeaderError`) unless leadership is certain; reads always pass. */
  client: Client;
  /** Say in `setup` which kinds are needed; the process runs them. */
  informers: Pick<Informers, 'of' | 'settled' | 'whenSettled'>;
  /**
   * @param component - who reports: `daemonset-controller`
   * @param instance - which process of it, as `reportingInstance`. @default ''
   */
  events: (component: string, instance?: string) => EventRecorder;
  /** Of the machine that this process runs on. */
  hostName: string;
  /** A queue that is counted, and shown by `--debug`. @throws {RangeError} for a name that is taken */
  queue: (name: string, limits?: RateLimits) => WorkQueue;
  meters: Meters;
  /** Shows something of the process under `/debug/NAME`, where `debug` is on. @throws {RangeError} for a name that is taken */
  dump: (name: string, dump: Dump) => void;
  clock: Clock;
  random: Random;
  log: Log;
}

export type Labels = Record<string, string | number>;

/** What a controller counts by itself, without knowing who reads it. Each name once in a process: the second time throws. */
export interface Meters {
  /** @param subsystem - the controller, as the field spells it: `daemonset_controller` */
  ownWrites(subsystem: string): OwnWritesMetrics;
  /** @returns adds `by`, 1 by default */
  counter(name: string, help: string, labelNames?: readonly string[]): (labels?: Labels, by?: number) => void;
  /** @param read - asked at each scrape; cheap */
  gauge(name: string, help: string, read: () => number): void;
  /** One gauge with a value for each value of a label. @param read - asked at each scrape; cheap */
  gauges(name: string, help: string, labelName: string, read: () => Readonly<Record<string, number>>): void;
  /** @returns takes one more value */
  histogram(
    name: string,
    help: string,
    shape: { labelNames?: readonly string[]; buckets: readonly number[] },
  ): (value: number, labels?: Labels) => void;
}

/** The queues of a process, each under its own name. */
export class Queues {
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics;
  readonly #queues = new Map<string, WorkQueue>();

  constructor(clock: Clock, metrics: QueueMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** @throws {RangeError} for a name that is taken */
  make(name: string, limits: RateLimits = {}): WorkQueue {
    if (this.#queues.has(name)) throw new RangeError(`there is a queue ${name} already; give this one another name`);
    const queue = new WorkQueue(name, { clock: this.#clock, metrics: this.#metrics, limits });
    this.#queues.set(name, queue);
    return queue;
  }

  /** Takes no more keys and ends all waits for one: also a queue that nobody ran leaves no timer behind. */
  shutDown(): void {
    for (const queue of this.#queues.values()) queue.shutDown();
  }

  readonly dump: Dump = () =>
    [...this.#queues].map(([name, { length, processing, delayed, failing }]) => ({ name, ready: length, processing, delayed, failing }));
}
