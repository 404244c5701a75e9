import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { realClock } from '../../../../base/clock.ts';
import { aborted } from '../../../../base/waiting.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { NotLeaderError } from '../../../../kube/election/fence.ts';
import type { Runtime, Setup } from '../../../../kube/process/contract.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';
import { keyLister } from './example-controller.ts';
import { holder, newApi, start, text, leaseOf } from './process-world.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { healthChecks, readyChecks } from '../../../../kube/process/readiness.ts';

const map = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { b: '', a: '' } });
const waiting = () => [{ name: 'waiting', run: aborted }];

test('a controller end to end: ready, at work, seen, and gone without a trace', { timeout: 120_000 }, async (t) => {
  const api = newApi(t);
  api.add(map('web'));
  const one = start(api, 'one', {
    setup: (runtime) => {
      const added = (): void => {
        throw new Error('a bug');
      };
      runtime.informers.of(configMaps).addHandlers('broken', { added });
      return [keyLister(runtime)];
    },
    debug: true,
  });
  const url = (await one.ready) ?? '';
  assert.equal(holder(api), 'one', 'ready means that it leads');
  const written = () => api.hooks.storage.get('/configmaps', 'default/web')?.metadata.annotations?.['example.com/keys'];
  await eventually('the annotation', () => written() === 'a,b');

  assert.equal(await text(`${url}/readyz`), 'ok');
  assert.match(
    await text(`${url}/readyz?verbose`),
    /\[\+\]caches ok: all have synced\n\[\+\]leader ok: this process is the leader, as one\n/,
  );
  assert.equal(await text(`${url}/healthz`), 'ok');
  const metrics = await text(`${url}/metrics`, /workqueue_work_duration_seconds_count\{name="key-lister"\} [1-9]/);
  for (const line of [
    /^workqueue_adds_total\{name="key-lister"\} [1-9]/m,
    /^rest_client_requests_total\{.*method="PATCH".*\} 1$/m,
    /^reflector_last_resource_version\{name="configmaps"\} \d+$/m,
    /^leader_election_master_status\{name="keys"\} 1$/m,
    /^dkc_events_waiting /m,
    /^process_cpu_seconds_total /m,
    /^dkc_informer_handler_failures_total\{handler="broken"\} 1$/m,
    /^# TYPE dkc_informer_index_failures_total counter$/m,
  ])
    assert.match(metrics, line);
  // The event of its own write may still have it looked at once more.
  const rest = await text(`${url}/debug/queues`, /"ready": ?0,\s*"processing": ?0,/);
  assert.deepEqual(JSON.parse(rest), [{ name: 'key-lister', ready: 0, processing: 0, delayed: 0, failing: 0 }]);
  assert.match(await text(`${url}/debug/caches`), /"name": "configmaps",\s+"size": 1,\s+"synced": true/);

  assert.equal(await one.stop(), 0);
  assert.equal(holder(api), '', 'released');
  const events = api.hooks.storage.list('/events').objects.map(({ ['message']: message }) => String(message));
  assert.deepEqual(events.toSorted(), ['Listed keys: a,b', 'one became leader', 'one stopped leading']);
  assert.deepEqual({ sleepers: one.clock.sleepers, open: one.open() }, { sleepers: 0, open: 0 });
  await assert.rejects(fetch(`${url}/healthz`), 'it serves no more');
});

test('on SIGTERM the lease is held until the controllers have ended, and caches outlive them', { timeout: 120_000 }, async (t) => {
  const api = newApi(t);
  const order: unknown[] = [];
  const one = start(api, 'one', {
    setup: ({ client, informers }: Runtime) => {
      const maps = informers.of(configMaps);
      const drained = async (signal: AbortSignal): Promise<void> => {
        await aborted(signal);
        await realClock.sleep(30); // whatever does not wait for controllers has ended by then
        await client.create(configMaps, { metadata: { name: 'last', namespace: 'default' } });
        await eventually('the cache goes on', () => maps.get('default/last') !== undefined);
        order.push(holder(api));
      };
      return [{ name: 'drained', run: drained }];
    },
  });
  await one.ready;
  assert.equal(await one.stop(), 0);
  order.push(holder(api));
  assert.deepEqual(order, ['one', '']);
});

test('a lost lease ends the process with 1, and nothing is written afterwards', { timeout: 120_000 }, async (t) => {
  const api = newApi(t);
  let refused: unknown;
  const one = start(api, 'one', {
    setup: ({ client, events }: Runtime) => {
      const recorder = events('late');
      const late = async (signal: AbortSignal): Promise<void> => {
        await aborted(signal);
        recorder.event({ ...map('x'), metadata: { name: 'x', namespace: 'default' } }, 'Normal', 'Late', 'too late');
        refused = await client.create(configMaps, { metadata: { name: 'late', namespace: 'default' } }).catch((error: unknown) => error);
      };
      return [{ name: 'late', run: late }];
    },
  });
  await one.ready;
  const { storage } = api.hooks;
  await eventually('the first event', () => storage.list('/events').objects.length === 1);
  const thief = start(api, 'thief', { setup: waiting, metricsAddress: '' });
  api.hooks.setFaults(parseFaults([{ verb: 'update', resource: 'leases', status: 409, count: 1_000 }]));
  api.hooks.storage.remove('coordination.k8s.io/leases', 'kube-system/keys');
  assert.equal(await one.ended, 1);
  assert.ok(refused instanceof NotLeaderError);
  assert.equal(storage.get('/configmaps', 'default/late'), undefined);
  const by = storage.list('/events').objects.map(({ ['message']: message }) => String(message));
  assert.ok(!by.includes('too late'), by.join());
  assert.ok(one.lines.includes('error: the process ends'));
  api.hooks.setFaults([]);
  assert.deepEqual({ sleepers: one.clock.sleepers, open: one.open() }, { sleepers: 0, open: 0 });
  assert.equal(await thief.stop(), 0);
});

test('a controller that throws ends the others, and the process with 1; one that is done does not', { timeout: 120_000 }, async (t) => {
  const api = newApi(t);
  let ended = false;
  const broken = Promise.withResolvers<never>();
  const failures: unknown[] = [];
  const one = start(api, 'one', {
    onFailed: (facts) => failures.push(facts),
    setup: () => [
      { name: 'done', run: () => Promise.resolve() },
      { name: 'broken', run: () => broken.promise },
      {
        name: 'other',
        run: async (signal) => {
          await aborted(signal);
          ended = true;
        },
      },
    ],
  });
  await one.ready;
  const bug = new Error('a bug');
  broken.reject(bug);
  assert.equal(await one.ended, 1);
  assert.deepEqual(failures, [{ part: 'broken', error: bug }]);
  assert.equal(ended, true);
  assert.equal(holder(api), '', 'it led, and lets the next one');
});

test('docs/process.md shows the example as it is', async () => {
  const [page, example] = await Promise.all(
    ['../../../../docs/process.md', './example-controller.ts'].map((path) => readFile(new URL(path, import.meta.url), 'utf8')),
  );
  assert.ok(example !== undefined && page?.includes(`\`\`\`ts\n${example}\`\`\``));
});

const setup: Setup = (runtime) => [keyLister(runtime)];
const discover = async (client: Client, signal: AbortSignal): Promise<Setup> => {
  await client.raw('GET', '/version', { signal });
  return setup;
};
const FAILED = 'warn: API discovery has not succeeded yet';
const AGAIN = 'debug: API discovery is still failing, retrying';
const SAID = 'info: API discovery succeeded';

test('while API discovery fails, the process serves, is alive, not ready and no leader', { timeout: 120_000 }, async (t) => {
  const api = newApi(t);
  api.hooks.setFaults(parseFaults([{ verb: 'get', resource: '/version', status: 503, count: 1_000 }]));
  const url = `http://127.0.0.1:${(await freePorts(1))[0]}`;
  const one = start(api, 'one', { setup: { discover }, metricsAddress: url.slice('http://'.length) });
  await eventually('the first failure', () => one.lines.includes(FAILED));
  const [ping, discovery = '', ...others] = (await text(`${url}/readyz`)).split('\n');
  assert.equal(ping, '[+]ping ok');
  assert.match(discovery, /^\[-\]discovery failed: API discovery has not succeeded yet: .*503/);
  const waits = '[-]caches failed: not chosen yet: waiting for API discovery';
  assert.deepEqual(others, [waits, '[+]leader ok: no process is the leader yet', 'readyz check failed', '']);
  assert.equal(await text(`${url}/livez`), 'ok');
  assert.equal(leaseOf(api), undefined);
  await eventually('it is asked again', () => one.lines.includes(AGAIN));
  api.hooks.setFaults([]);
  assert.equal(await one.ready, url);
  assert.match(await text(`${url}/readyz?verbose`), /\n\[\+\]discovery ok: API discovery succeeded\n\[\+\]caches ok: all have synced\n/);
  assert.deepEqual([FAILED, SAID].map((line) => one.lines.filter((other) => other === line).length), [1, 1]); // prettier-ignore
  assert.equal(await one.stop(), 0);
  assert.deepEqual({ sleepers: one.clock.sleepers, open: one.open() }, { sleepers: 0, open: 0 });
});

const minutes = (count: number): number => count * 60_000;

test('a cache that fails is named by /readyz, and after five minutes by /healthz', () => {
  const troubled = (forMs: number) => [{ name: 'nodes', problem: { text: 'no', forMs } }];
  const health = (forMs: number) => healthChecks({ failing: troubled(forMs) })[0];
  const ready = (unsynced: ReturnType<typeof troubled>) =>
    readyChecks({ unsynced, failing: troubled(1) }, undefined, { check: undefined, isOver: true })[0]?.problem();
  assert.equal(ready([]), 'synced, but failing since: nodes (no)');
  assert.equal(ready(troubled(1)), 'not synced: nodes (no)', 'named once');
  assert.equal(health(minutes(5) - 1)?.problem(), undefined);
  assert.equal(health(minutes(5))?.problem(), 'no successful list or watch for 5 minutes: nodes (no)');
  assert.equal(health(minutes(5))?.detail?.(), 'no successful list or watch for 5 minutes: nodes (no)');
});
