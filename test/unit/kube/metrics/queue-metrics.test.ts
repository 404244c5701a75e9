import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { queueMetrics } from '../../../../kube/metrics/controller-metrics.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const never = new AbortController().signal;

/** The values of one queue as a scraper reads them, without the buckets. */
async function scrape(registry: Registry, name: string): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line.includes(`{name="${name}"}`));
  return Object.fromEntries(lines.map((line) => [line.slice('workqueue_'.length, line.indexOf('{')), Number(line.split(' ').at(-1))]));
}

test('a queue tells what Kubernetes’ own components tell of theirs', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const metrics = queueMetrics(registry);
  const queue = new WorkQueue('daemonset', { clock, metrics });
  const idle = new WorkQueue('statefulset', { clock, metrics });

  for (const key of ['a', 'b', 'c', 'a']) queue.add(key);
  await clock.advance(2000);
  await queue.get(never);
  await clock.advance(3000);
  await queue.get(never);
  queue.add('a');
  queue.add('a');
  await clock.advance(1000);
  const busy = {
    depth: 2, // c, and a once more
    adds_total: 4,
    queue_duration_seconds_sum: 2 + 5,
    queue_duration_seconds_count: 2,
    work_duration_seconds_sum: 0,
    work_duration_seconds_count: 0,
    unfinished_work_seconds: 4 + 1,
    longest_running_processor_seconds: 4,
    retries_total: 0,
  };
  assert.deepEqual(await scrape(registry, 'daemonset'), busy);

  queue.addRateLimited('b');
  queue.done('a');
  queue.done('b');
  assert.deepEqual(await scrape(registry, 'daemonset'), {
    ...busy,
    work_duration_seconds_sum: 4 + 1,
    work_duration_seconds_count: 2,
    unfinished_work_seconds: 0,
    longest_running_processor_seconds: 0,
    retries_total: 1,
  });
  assert.deepEqual(
    await scrape(registry, 'statefulset'),
    Object.fromEntries(Object.keys(busy).map((name) => [name, 0])),
    'a queue shows zeros before anything has happened',
  );
  queue.shutDown();
  idle.shutDown();
});

test('buckets reach from 10 ns to 10 s', async () => {
  const registry = new Registry();
  queueMetrics(registry).open('q', { depth: () => 0, running: () => [] });
  const text = await registry.metrics();
  for (const metric of ['queue', 'work']) {
    const bounds = [...text.matchAll(new RegExp(`workqueue_${metric}_duration_seconds_bucket{le="([^"]+)",name="q"}`, 'g'))].map(([, le]) =>
      Number(le),
    );
    assert.deepEqual(
      bounds.slice(0, -1).map((bound) => Math.round(Math.log10(bound))),
      [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1],
    );
    assert.equal(bounds.length, 11);
  }
});
