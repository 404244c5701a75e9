import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { reflectorMetrics } from '../../../../kube/metrics/client-metrics.ts';
import { SharedInformer } from '../../../../kube/cache/shared-informer.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { ScriptedApi } from '../cache/scripted-api.ts';

test('a cache tells of its lists, watches and failures', async () => {
  const registry = new Registry();
  const metrics = reflectorMetrics(registry)('pods');
  const api = new ScriptedApi('fail 500', 'list 5: a#1@3 b#2@4', 'watch: MODIFIED a#1@6, BOOKMARK 9', 'watch hold');
  const resource = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
  const clock = new FakeClock();
  const informer = new SharedInformer({ resource, client: api.client, clock, random: () => 0, log: silentLog, streams: false, metrics });
  const ending = new AbortController();
  const running = informer.run(ending.signal);
  await clock.advance(2_000);
  ending.abort();
  await running;
  await atRest();
  const text = await registry.metrics();
  for (const line of [
    'reflector_lists_total{name="pods"} 1',
    'reflector_items_per_list_sum{name="pods"} 2',
    'reflector_watches_total{name="pods"} 2',
    'reflector_short_watches_total{name="pods"} 1',
    'reflector_items_per_watch_sum{name="pods"} 2',
    'reflector_failures_total{name="pods"} 1',
    'reflector_last_resource_version{name="pods"} 9',
  ]) {
    assert.ok(text.includes(`${line}\n`), `${line} in\n${text}`);
  }
});
