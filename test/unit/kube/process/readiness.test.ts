import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { healthChecks, readyChecks } from '../../../../kube/process/readiness.ts';
import type { Setup } from '../../../../kube/process/contract.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';
import { keyLister } from './example-controller.ts';
import { leaseOf, newApi, start, text } from './process-world.ts';
import { eventually } from '../../../support/eventually.ts';

const setup: Setup = (runtime) => [keyLister(runtime)];
const discover = async (client: Client, signal: AbortSignal): Promise<Setup> => {
  await client.raw('GET', '/version', { signal });
  return setup;
};
const FAILED = 'warn: API discovery has not succeeded yet';
const AGAIN = 'debug: API discovery is still failing, retrying';
const SAID = 'info: API discovery succeeded';

test(
  'while the server does not answer what it serves, the process serves, is alive, not ready and no leader',
  { timeout: 120_000 },
  async (t) => {
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
  },
);

const minutes = (count: number): number => count * 60_000;

test('a cache that fails is named by /readyz, and after five minutes by /healthz', () => {
  const troubled = (forMs: number) => [{ name: 'nodes', problem: { text: 'no', forMs } }];
  const health = (forMs: number) => healthChecks({ troubled: troubled(forMs) })[0];
  const ready = (unsynced: ReturnType<typeof troubled>) =>
    readyChecks({ unsynced, troubled: troubled(1) }, undefined, { check: undefined, isOver: true })[0]?.problem();
  assert.equal(ready([]), 'synced, but failing since: nodes (no)');
  assert.equal(ready(troubled(1)), 'not synced: nodes (no)', 'named once');
  assert.equal(health(minutes(5) - 1)?.problem(), undefined);
  assert.equal(health(minutes(5))?.problem(), 'no successful list or watch for 5 minutes: nodes (no)');
  assert.equal(health(minutes(5))?.detail?.(), 'no successful list or watch for 5 minutes: nodes (no)');
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
