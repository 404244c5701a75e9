import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { SharedInformer } from '../../../../kube/cache/shared-informer.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { EventSender } from '../../../../kube/controller/event-recorder.ts';
import { OwnWrites } from '../../../../kube/controller/own-writes.ts';
import { reflectorMetrics } from '../../../../kube/metrics/client-metrics.ts';
import { eventMetrics, ownWritesMetrics, queueMetrics } from '../../../../kube/metrics/controller-metrics.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { pods } from '../../../../kube/api/object.ts';
import { ScriptedApi } from '../cache/scripted-api.ts';

const never = new AbortController().signal;

async function scrape(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('an event sender counts what it sent and what it left out', async () => {
  const registry = new Registry();
  const done = () => Promise.resolve({ metadata: {} });
  const client = { create: done, patch: done } as unknown as Pick<Client, 'create' | 'patch'>;
  const options = { client, clock: new FakeClock(), random: seededRandom(1), log: silentLog, capacity: 2 };
  const sender = new EventSender({ ...options, metrics: eventMetrics(registry) });
  const say = (name: string): void =>
    sender.recorder('c').event({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns' } }, 'Normal', 'R', 'm');
  for (const name of ['a', 'b', 'c']) say(name);
  assert.ok((await scrape(registry)).includes('dkc_events_waiting 2'));
  await sender.flush(never);
  say('a');
  await sender.flush(never);
  assert.deepEqual(await scrape(registry), [
    'dkc_events_sent_total{operation="created"} 2',
    'dkc_events_sent_total{operation="patched"} 1',
    'dkc_events_dropped_total{reason="full"} 1',
    'dkc_events_retries_total 0',
    'dkc_events_waiting 0',
  ]);
});

test('a sync that a stale cache put off is counted under the name that the field has for it', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const writes = new OwnWrites(clock, { metrics: ownWritesMetrics(registry, 'daemonset_controller') });
  const cache = { resource: pods, version: '5', get: () => undefined };
  writes.wrote('ns/ds', cache, { metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '6' } });
  writes.caughtUp('ns/ds', [cache]);
  await clock.advance(300_000);
  writes.caughtUp('ns/ds', [cache]);
  assert.deepEqual(await scrape(registry), [
    'daemonset_controller_stale_sync_skips_total 1',
    'daemonset_controller_own_writes_never_seen_total 1',
  ]);
});

test('a queue tells what Kubernetes’ own components tell of theirs, with zeros before anything has happened', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const queue = new WorkQueue('daemonset', { clock, metrics: queueMetrics(registry) });
  /** Without the buckets. */
  const told = async (): Promise<Record<string, number>> => {
    const lines = (await scrape(registry)).filter((line) => line.includes('{name="daemonset"}'));
    return Object.fromEntries(lines.map((line) => [line.slice('workqueue_'.length, line.indexOf('{')), Number(line.split(' ').at(-1))]));
  };
  const zeros = await told();
  for (const key of ['a', 'b', 'c', 'a']) queue.add(key);
  await clock.advance(2000);
  await queue.get(never);
  await clock.advance(3000);
  await queue.get(never);
  queue.add('a');
  await clock.advance(1000);
  // prettier-ignore
  const busy = {
    depth: 2, adds_total: 4, retries_total: 0, unfinished_work_seconds: 4 + 1, longest_running_processor_seconds: 4,
    queue_duration_seconds_sum: 2 + 5, queue_duration_seconds_count: 2, work_duration_seconds_sum: 0, work_duration_seconds_count: 0,
  };
  assert.deepEqual([await told(), zeros], [busy, Object.fromEntries(Object.keys(busy).map((name) => [name, 0]))]);
  queue.addRateLimited('b');
  queue.done('a');
  queue.done('b');
  const work = { work_duration_seconds_sum: 4 + 1, work_duration_seconds_count: 2 };
  assert.deepEqual(await told(), { ...busy, ...work, unfinished_work_seconds: 0, longest_running_processor_seconds: 0, retries_total: 1 });
  queue.shutDown();
});

test('a cache tells of its lists, watches and failures', async () => {
  const registry = new Registry();
  const metrics = reflectorMetrics(registry)('pods');
  const { client } = new ScriptedApi('fail 500', 'list 5: a#1@3 b#2@4', 'watch: MODIFIED a#1@6, BOOKMARK 9', 'watch hold');
  const clock = new FakeClock();
  const informer = new SharedInformer({ resource: pods, client, clock, random: () => 0, log: silentLog, streams: false, metrics });
  const ending = new AbortController();
  const running = informer.run(ending.signal);
  await clock.advance(2_000);
  ending.abort();
  await running;
  const lines = await scrape(registry);
  for (const line of [
    'reflector_lists_total{name="pods"} 1',
    'reflector_items_per_list_sum{name="pods"} 2',
    'reflector_watches_total{name="pods"} 2',
    'reflector_short_watches_total{name="pods"} 1',
    'reflector_items_per_watch_sum{name="pods"} 2',
    'reflector_failures_total{name="pods"} 1',
    'reflector_last_resource_version{name="pods"} 9',
  ])
    assert.ok(lines.includes(line), `${line} in\n${lines.join('\n')}`);
});
