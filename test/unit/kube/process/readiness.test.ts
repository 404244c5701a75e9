import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { Discovery, healthChecks, readyChecks } from '../../../../kube/process/readiness.ts';
import type { Setup } from '../../../../kube/process/contract.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';
import { keyLister } from './example-controller.ts';
import { leaseOf, newApi, start, text } from './process-world.ts';
import { eventually } from '../../../support/eventually.ts';
import { silentLog } from '../../../../base/log.ts';
import { configMaps, nodes } from '../../../../kube/api/object.ts';
import { Informers, type InformersOptions } from '../../../../kube/cache/informers.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

const setup: Setup = (runtime) => [keyLister(runtime)];
const discover = async (client: Client, signal: AbortSignal): Promise<Setup> => {
  await client.raw('GET', '/version', { signal });
  return setup;
};
const FAILED = 'warn: API discovery has not succeeded yet';
const AGAIN = 'debug: API discovery is still failing, retrying';
const SAID = 'info: API discovery succeeded';

const troubles = [
  { why: 'answers 503', fault: { status: 503 }, says: /503/ },
  { why: 'answers 401', fault: { status: 401 }, says: /Unauthorized/ },
  { why: 'answers 403', fault: { status: 403 }, says: /Forbidden/ },
  { why: 'ends the connection', fault: { fault: 'drop' }, says: /Cannot GET \/version/ },
];
for (const { why, fault, says } of troubles)
  test(
    `while the server that is asked what it serves ${why}, the process serves, is alive, not ready and no leader; then it goes on`,
    { timeout: 120_000 },
    async (t) => {
      const api = newApi(t);
      api.hooks.setFaults(parseFaults([{ verb: 'get', resource: '/version', ...fault, count: 1_000 }]));
      const url = `http://127.0.0.1:${(await freePorts(1))[0]}`;
      const one = start(api, 'one', { setup: { discover }, metricsAddress: url.slice('http://'.length) });
      await eventually('the first failure', () => one.lines.includes(FAILED));
      const lines = (await text(`${url}/readyz`)).split('\n');
      const [ping, discovery, ...others] = lines;
      assert.equal(ping, '[+]ping ok');
      assert.match(discovery ?? '', /^\[-\]discovery failed: API discovery has not succeeded yet: /);
      assert.match(discovery ?? '', says);
      assert.deepEqual(others, [
        '[-]caches failed: not chosen yet: waiting for API discovery',
        '[+]leader ok: no process is the leader yet',
        'readyz check failed',
        '',
      ]);
      assert.deepEqual([await text(`${url}/healthz`), await text(`${url}/livez`)], ['ok', 'ok']);
      assert.match(await text(`${url}/metrics`), /^process_cpu_seconds_total /m);
      assert.equal(leaseOf(api), undefined);
      await eventually('it is asked again', () => one.lines.includes(AGAIN));
      api.hooks.setFaults([]);
      assert.equal(await one.ready, url);
      assert.match(
        await text(`${url}/readyz?verbose`),
        /\n\[\+\]discovery ok: API discovery succeeded\n\[\+\]caches ok: all have synced\n/,
      );
      assert.deepEqual([one.lines.filter((line) => line === FAILED).length, one.lines.filter((line) => line === SAID).length], [1, 1]);
      assert.equal(await one.stop(), 0);
      assert.deepEqual({ sleepers: one.clock.sleepers, open: one.open() }, { sleepers: 0, open: 0 });
    },
  );

test('a server that says nothing at all is waited for, and nobody has to wait for the end', { timeout: 120_000 }, async (t) => {
  const api = newApi(t);
  api.hooks.setFaults(parseFaults([{ verb: 'get', resource: '/version', fault: 'hang' }]));
  const url = `http://127.0.0.1:${(await freePorts(1))[0]}`;
  let asked = false;
  const hanging = (client: Client, signal: AbortSignal): Promise<Setup> => {
    asked = true;
    return discover(client, signal);
  };
  const one = start(api, 'one', { setup: { discover: hanging }, metricsAddress: url.slice('http://'.length) });
  await eventually('it is asked', () => asked);
  assert.match(await text(`${url}/readyz`), /^\[-\]discovery failed: API discovery has not succeeded yet: the request is in progress$/m);
  assert.equal(await one.stop(), 0);
  assert.equal(await one.ready, undefined);
  assert.deepEqual(
    { sleepers: one.clock.sleepers, open: one.open(), told: one.lines.includes(FAILED) },
    { sleepers: 0, open: 0, told: false },
  );
});

test('who is stopped before asks nothing', { timeout: 120_000 }, async (t) => {
  const one = start(newApi(t), 'one', { setup: { discover: () => Promise.reject(new Error('asked')) }, metricsAddress: '' });
  assert.equal(await one.stop(), 0);
  assert.deepEqual(one.lines, []);
});

/** The texts that each try fails with. */
const tellings = [
  { why: 'the first failure and no repetition', tries: ['a', 'a', 'a'], told: ['a'] },
  { why: 'another failure as well, and none that was told already', tries: ['a', 'b', 'a', 'b'], told: ['a', 'b'] },
  { why: 'five texts at most', tries: ['1', '2', '3', '4', '5', '6', '7'], told: ['1', '2', '3', '4', '5'] },
];
for (const { why, tries, told } of tellings)
  test(`the log has ${why}; tries are further apart each time`, async () => {
    const clock = new FakeClock();
    const { log, lines, fields } = recordedLog();
    const from = clock.monotonic();
    const at: number[] = [];
    const failing = (): Promise<Setup> => {
      at.push(clock.monotonic() - from);
      const error = tries[at.length - 1];
      return error === undefined ? Promise.resolve(setup) : Promise.reject(new Error(error));
    };
    const discovery = new Discovery({ discover: failing }, { clock, random: () => 0, log });
    const found = discovery.setup({} as Client, new AbortController().signal);
    await clock.advance(60_000);
    assert.equal(await found, setup);
    assert.deepEqual(at, [0, 500, 1_500, 3_500, 7_500, 15_500, 30_500, 45_500].slice(0, tries.length + 1));
    assert.deepEqual(lines.flatMap((line, n) => (line === FAILED ? [fields[n]?.['error']] : [])), told); // prettier-ignore
    assert.deepEqual([lines.at(-1), fields.at(-1)], [SAID, { failures: tries.length }]);
    assert.deepEqual([discovery.isOver, discovery.check?.problem(), clock.sleepers], [true, undefined, 0]);
  });

test('where nothing is asked there is no such check', () => {
  const discovery = new Discovery(setup, { clock: new FakeClock(), random: seededRandom(1), log: recordedLog().log });
  assert.deepEqual([discovery.isOver, discovery.check], [true, undefined]);
});

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
