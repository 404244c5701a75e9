import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { configMaps, nodes } from '../../../../kube/api/object.ts';
import { Informers } from '../../../../kube/cache/informers.ts';
import type { InformersOptions } from '../../../../kube/cache/informers.ts';
import { healthChecks, readyChecks } from '../../../../kube/process/checks.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

const minutes = (count: number): number => count * 60_000;

test('a synced cache that loses its watch is named by /readyz, and after five minutes by /healthz', { timeout: 60_000 }, async () => {
  const clock = new FakeClock();
  const api = localApi(clock);
  const inner = localClient(api, { clock });
  let broken = false;
  const stuck = new AbortController();
  const client: InformersOptions['client'] = {
    listEach: (...call) => inner.listEach(...call),
    watch: (resource, query, signal) => {
      if (broken && resource === nodes) throw new Error('the watch sent an event of more than 8 bytes');
      return inner.watch(resource, query, resource === nodes ? AbortSignal.any([signal, stuck.signal]) : signal);
    },
  };
  const informers = new Informers({ client, clock, random: seededRandom(1), log: silentLog });
  informers.of(nodes);
  informers.of(configMaps);
  const ending = new AbortController();
  const running = informers.run(ending.signal);
  await informers.whenSynced(AbortSignal.timeout(30_000));
  const [ready] = readyChecks(informers, undefined, { check: undefined, isOver: true });
  const [healthy] = healthChecks(informers);
  const said = () => [ready?.problem(), healthy?.problem()];
  assert.deepEqual(said(), [undefined, undefined]);

  broken = true;
  stuck.abort(new Error('cut'));
  while (ready?.problem() === undefined) await clock.advance(1_000);
  const trouble = 'nodes (the watch sent an event of more than 8 bytes)';
  assert.match(said()[0] ?? '', /^synced, but failing since: nodes \(.*\)$/);
  await clock.advance(minutes(4));
  assert.deepEqual(said(), [`synced, but failing since: ${trouble}`, undefined]);
  await clock.advance(minutes(1));
  assert.deepEqual(said(), [`synced, but failing since: ${trouble}`, `no successful list or watch for 5 minutes: ${trouble}`]);
  assert.equal(healthy?.detail?.(), `no successful list or watch for 5 minutes: ${trouble}`);

  broken = false;
  ending.abort();
  await atRest();
  await running;
  await inner.close();
});

test('a cache that was never filled counts from its first failure', async () => {
  const waiting = (forMs: number) => ({ name: 'pods', problem: { text: 'no', forMs } });
  const health = (forMs: number) => healthChecks({ troubled: [waiting(forMs)] })[0]?.problem();
  assert.equal(health(minutes(5) - 1), undefined);
  assert.match(health(minutes(5)) ?? '', /pods \(no\)/);
  const both = { unsynced: [waiting(1)], troubled: [waiting(1)] };
  const [ready] = readyChecks(both, undefined, { check: undefined, isOver: true });
  assert.equal(ready?.problem(), 'not synced: pods (no)', 'named once');
});

test('what fails all caches alike is said once, with their names', () => {
  const waiting = (name: string, text: string) => ({ name, problem: { text, forMs: 1 } });
  const away = (path: string) => `Cannot GET ${path} at h:1: there is no connection`;
  const unsynced = [waiting('pods', away('/api/v1/pods')), waiting('nodes', away('/api/v1/nodes')), waiting('leases', 'forbidden')];
  const [ready] = readyChecks({ unsynced, troubled: unsynced }, undefined, { check: undefined, isOver: true });
  assert.equal(
    ready?.problem(),
    'not synced: pods (Cannot GET /api/v1/pods at h:1: there is no connection), and so nodes; leases (forbidden)',
  );
});
