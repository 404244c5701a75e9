import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { EventSender } from '../../../../kube/controller/event-recorder.ts';
import { OwnWrites } from '../../../../kube/controller/own-writes.ts';
import { eventMetrics, ownWritesMetrics } from '../../../../kube/metrics/controller-metrics.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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
  await sender.flush(new AbortController().signal);
  say('a');
  await sender.flush(new AbortController().signal);
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
  const cache = {
    resource: { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
    version: '5',
    get: () => undefined,
  };
  writes.wrote('ns/ds', cache, { metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '6' } });
  writes.caughtUp('ns/ds', [cache]);
  await clock.advance(300_000);
  writes.caughtUp('ns/ds', [cache]);
  assert.deepEqual(await scrape(registry), [
    'daemonset_controller_stale_sync_skips_total 1',
    'daemonset_controller_own_writes_never_seen_total 1',
  ]);
});
