import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test, type TestContext } from 'node:test';
import { done } from '../../../../kube/controller/controller.ts';
import { runWorkers, type Reconcile } from '../../../../kube/controller/workers.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { silentLog } from '../../../../base/log.ts';
import { type KubeObject } from '../../../../kube/api/object.ts';
import { type Informer } from '../../../../kube/cache/contract.ts';
import { runController } from '../../../../kube/controller/run-controller.ts';

/** Workers that end with the test, at the latest. */
function workersOf(t: TestContext, reconcile: Reconcile, { workers = 2, drainMs = 1000 } = {}) {
  const clock = new FakeClock();
  const queue = new WorkQueue('test', { clock });
  const { log, lines, fields } = recordedLog();
  const stop = new AbortController();
  const ended = runWorkers({ queue, workers, reconcile, log, clock, drainMs }, stop.signal);
  t.after(async () => {
    stop.abort();
    await clock.advance(drainMs);
    await ended;
    assert.equal(clock.sleepers, 0);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  });
  return { clock, queue, lines, fields, stop, ended };
}

// What the reconciles of a key come to, one after the other: `done`, `fail`, or after how many ms it comes again; then the key is added once more.
for (const { why, outcomes, at } of [
  { why: 'requeueAfter brings it back when its time has come', outcomes: '60000 60000 done', at: [0, 60_000, 120_000] },
  { why: 'after a success a failure waits as the first one', outcomes: 'fail fail done fail done', at: [0, 5, 15, 1_000_000, 1_000_005] },
  { why: 'one that failed comes back at its own time, where that is before its backoff ends', outcomes: 'fail fail fail fail fail fail fail fail@1100 fail@1100 done', at: [0, 5, 15, 35, 75, 155, 315, 635, 1_275, 2_375] }, // prettier-ignore
  { why: 'one that fails and wants to come back at once waits for a second', outcomes: 'fail fail fail fail fail fail fail fail fail@0 fail@0 done', at: [0, 5, 15, 35, 75, 155, 315, 635, 1_275, 2_275, 3_275] }, // prettier-ignore
  { why: 'requeueAfter is a success too', outcomes: 'fail fail 50 fail done', at: [0, 5, 15, 65, 70] },
])
  test(`reconciles of a key: ${why}`, async (t) => {
    const left = outcomes.split(' ');
    const seen: number[] = [];
    const { queue, clock } = workersOf(t, () => {
      seen.push(clock.monotonic() - from);
      const outcome = left.shift();
      if (outcome === 'fail') return Promise.reject(new Error('conflict'));
      const [failed, after] = outcome?.split('@') ?? [];
      if (failed === 'fail') return Promise.resolve({ failed: new Error('conflict'), requeueAfter: Number(after), why: 'it is available' });
      return Promise.resolve(outcome === 'done' ? done : { requeueAfter: Number(outcome), why: 'it becomes available' });
    });
    const from = clock.monotonic();
    queue.add('a');
    await clock.advance(1_000_000);
    if (left.length > 0) queue.add('a');
    await clock.advance(100);
    assert.deepEqual(seen, at);
    assert.deepEqual([queue.failing, queue.delayed, queue.processing], [0, 0, 0]);
  });

const bug: Reconcile = () => {
  throw new Error('bug');
};
let times = 0;
const failures: [why: string, says: string, reconcile: Reconcile, texts?: number][] = [
  ['a rejection', 'conflict', () => Promise.reject(new Error('conflict'))],
  ['a throw before any promise', 'bug', bug],
  ['an outcome that makes no sense', 'a delay of NaN ms for a', () => Promise.resolve({ requeueAfter: NaN, why: 'a bug' })],
  ['a rejection in other words each time', 'conflict 1', () => Promise.reject(new Error(`conflict ${++times}`)), 5],
];
for (const [why, says, reconcile, texts = 1] of failures)
  test(`${why} is that key's failure alone: it comes back with backoff, and others go on`, async (t) => {
    const seen: string[] = [];
    const { queue, clock, lines, fields } = workersOf(
      t,
      async (key, signal) => {
        seen.push(`${key} at ${clock.monotonic() - from}`);
        return key === 'a' ? reconcile(key, signal) : done;
      },
      { workers: 1 },
    );
    const from = clock.monotonic();
    queue.add('a');
    queue.add('b');
    await clock.advance(40);
    assert.deepEqual(seen.slice(0, 4), ['a at 0', 'b at 0', 'a at 5', 'a at 15']);
    assert.equal(lines[0], 'warn: reconcile failed');
    assert.deepEqual(fields[0], { key: 'a', failures: 1, error: says });
    assert.equal(queue.retries('a'), 4);
    // The same once more, or a sixth text, is a line for those who look for it, until ten minutes are over.
    await clock.advance(20 * 60_000);
    const warned = lines.filter((line) => line.startsWith('warn')).length;
    assert.deepEqual([warned, lines[texts]], [texts + 1, 'debug: reconcile failed again']);
  });

test('when it ends: reconciles under way finish, keys in the line stay', async (t) => {
  const seen: string[] = [];
  let cut = 0;
  const { queue, clock, stop, ended, lines } = workersOf(t, async (key, signal) => {
    seen.push(key);
    signal.addEventListener('abort', () => cut++);
    await clock.sleep(500);
    return { requeueAfter: 60_000, why: 'again' };
  });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await atRest();
  stop.abort();
  await clock.advance(499);
  let over = false;
  void ended.then(() => (over = true));
  await atRest();
  assert.equal(over, false);
  await clock.advance(1);
  await ended;
  assert.deepEqual([seen, cut, lines.filter((line) => !line.startsWith('debug'))], [['a', 'b'], 0, []]);
  assert.deepEqual([queue.length, queue.processing, queue.delayed, clock.sleepers], [1, 0, 0, 0]);
});

test('a reconcile that takes too long at the end is cut short, and that is no failure', async (t) => {
  const { queue, clock, stop, ended, lines } = workersOf(t, async (_key, signal) => {
    await clock.sleep(1e9, signal);
    return done;
  });
  queue.add('a');
  await atRest();
  stop.abort(new Error('the lease is lost'));
  await clock.advance(999);
  assert.deepEqual(lines, []);
  await clock.advance(1);
  await ended;
  assert.deepEqual(lines, ['warn: reconciles are interrupted', 'debug: reconcile was interrupted']);
  assert.deepEqual([queue.processing, clock.sleepers], [0, 0]);
});

test('twenty workers together take turns of ten ms, not each of them one', async () => {
  const queue = new WorkQueue('test', { clock: new FakeClock() });
  for (let key = 0; key < 400; key++) queue.add(`key-${key}`);
  const [stop, perTurn] = [new AbortController(), [0]];
  const turn = (): void => {
    if (!stop.signal.aborted) setImmediate(turn);
    perTurn.push(0);
  };
  setImmediate(turn);
  let ms = 0;
  const clock = Object.assign(new FakeClock(), { monotonic: () => ms });
  const reconcile = async () => {
    perTurn.push((perTurn.pop() ?? 0) + 1);
    // Each takes a ms.
    if (++ms === 400) stop.abort();
    return done;
  };
  await runWorkers({ queue, workers: 20, reconcile, log: silentLog, clock }, stop.signal);
  assert.equal(Math.max(...perTurn), 10);
});

test('no key is reconciled before every cache has synced, nor in the middle of a relist; a process that ends there waits for nobody', async () => {
  let relist = Promise.withResolvers<void>();
  const list = Promise.withResolvers<void>();
  const primary = {
    settled: true,
    whenSynced: () => list.promise,
    whenSettled: (signal: AbortSignal) =>
      Promise.race([relist.promise, new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))]),
    addHandlers: () => ({ synced: true, remove: () => {} }),
  };
  const [clock, stop, seen] = [new FakeClock(), new AbortController(), [] as string[]];
  const queue = new WorkQueue('daemonset', { clock });
  const reconcile = async (key: string) => (seen.push(key), done);
  const controller = { name: 'daemonset', primary: primary as unknown as Informer<KubeObject>, reconcile };
  const ended = runController(controller, { queue, workers: 1, log: silentLog, clock }, stop.signal);
  queue.add('ns/a');
  await atRest();
  assert.deepEqual(seen, [], 'not synced');
  primary.settled = false;
  list.resolve();
  await atRest();
  assert.deepEqual(seen, [], 'amid a relist');
  primary.settled = true;
  relist.resolve();
  await atRest();
  assert.deepEqual(seen, ['ns/a']);
  primary.settled = false;
  relist = Promise.withResolvers();
  queue.add('ns/b');
  await atRest();
  stop.abort();
  await ended;
  assert.deepEqual([seen, clock.sleepers], [['ns/a'], 0]);
});
