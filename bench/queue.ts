import { realClock } from '../base/clock.ts';
import { WorkQueue } from '../kube/queue/work-queue.ts';
import type { Figure } from './figure.ts';

const PAIRS = 7;

/** The methods that the benchmark needs: add, get, done. */
type Queue = Pick<WorkQueue, 'add' | 'get' | 'done'>;

/** The simplest queue: states in a map, keys in an array. No delays, no limits, no metrics. */
class MapAndArray implements Queue {
  readonly #states = new Map<string, 'ready' | 'processing' | 'dirty'>();
  readonly #line: string[] = [];

  add(key: string): void {
    const state = this.#states.get(key);
    if (state === 'processing') this.#states.set(key, 'dirty');
    if (state !== undefined) return;
    this.#states.set(key, 'ready');
    this.#line.push(key);
  }

  async get(): Promise<string | undefined> {
    const key = this.#line.shift();
    if (key !== undefined) this.#states.set(key, 'processing');
    return key;
  }

  done(key: string): void {
    const dirty = this.#states.get(key) === 'dirty';
    this.#states.delete(key);
    if (dirty) this.add(key);
  }
}

/**
 * Keys per second (add, get, done) with queues of different lengths: a controller that keeps up, and one that has just started in a large
 * cluster or after a failover.
 */
export async function queueVisits(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { waiting, visits } of [
    { waiting: 100, visits: 200_000 },
    // Removing the first element of a long array is slow, so there are fewer visits.
    { waiting: 100_000, visits: 10_000 },
  ]) {
    const ours: number[] = [];
    const naive: number[] = [];
    for (let n = 0; n <= PAIRS; n++) {
      const queue = new WorkQueue('bench', { clock: realClock });
      const [mine, other] = [await visitsPerSecond(queue, waiting, visits), await visitsPerSecond(new MapAndArray(), waiting, visits)];
      queue.shutDown();
      if (n === 0) continue; // warms up
      ours.push(mine);
      naive.push(other);
    }
    figures.push({
      what: `work queue, ${waiting.toLocaleString('en')} keys waiting`,
      ours: { name: 'dkc', unit: 'visits/s', values: ours },
      against: { name: 'a map and an array', unit: 'visits/s', values: naive },
      // With a short array, delays, metrics and two more states cost more; what counts is that a long queue does not.
      reach: { atLeast: waiting > 1000 ? 1 : 0.5 },
    });
  }
  return figures;
}

async function visitsPerSecond(queue: Queue, waiting: number, visits: number): Promise<number> {
  const never = new AbortController().signal;
  const keys = Array.from({ length: 2 * waiting }, (_, n) => `default/set-${n}`);
  for (const key of keys.slice(0, waiting)) queue.add(key);
  const from = performance.now();
  for (let n = 0; n < visits; n++) {
    queue.add(keys[(waiting + n) % keys.length] ?? '');
    const key = await queue.get(never);
    if (key === undefined) throw new RangeError('a queue with keys gave none');
    queue.done(key);
  }
  return (visits / (performance.now() - from)) * 1000;
}
