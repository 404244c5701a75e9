import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeOnDisk } from '../../helpers/node-on-disk.ts';
import { cliContext } from '../../helpers/cli-context.ts';
import { age, ago, size, span } from '../../../cli/node/spoken.ts';
import { readConfigStatus } from '../../../cli/node/api-view.ts';
import { statusErrors } from '../../../agent/status/errors.ts';
import type { Client } from '../../../kube/client/client.ts';

test('status on a node on trial reads as an admin needs it', async (t) => {
  const node = await nodeOnDisk(t);
  const trusted = await node.save('1');
  const assigned = await node.save('2');
  await node.trust(trusted);
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  const { kubeletConfigKey } = assigned;
  const assignedAt = new Date(node.now()).toISOString();
  await node.store.setTrial({
    source: assigned,
    kubeletConfigKey,
    contentSha256: 'x',
    assignedAt,
    healthyMs: 222_000,
    exits: 0,
    exitsOffset: 0,
    bootId: 'b',
  });
  await node.condemn(trusted, { reason: 'old sin', evidence: ['line one'] });
  node.later(300_000);
  const { stdout } = await node.dkc('status');
  const expected = `Node:            node-a
State:           assigned config, on trial
Running:         dkc-system/web:kubelet@2 (assigned)
Since:           2026-03-01T00:02:00.000Z (5m ago)
Assigned:        the same
Last known good: dkc-system/web:kubelet@1
Error:           none
Trial:           healthy for 3m42s of 10m, assigned 5m ago
Effective file:  ${node.paths.effective} (sha256 SUM)
Assignment by:   node (the API server keeps spec.configSource)

Condemned:
  dkc-system/web:kubelet@1: by agent, 5m ago: old sin
    line one

Next: Wait for the trial to end, or take it back now with: dkc rollback
`;
  assert.equal(stdout.replace(/sha256 [0-9a-f]{12}/, 'sha256 SUM'), expected);
});

test('status after a refusal says what keeps the node where it is, and what to do about that', async (t) => {
  const node = await nodeOnDisk(t);
  await node.runs('local', null, { error: statusErrors.validate });
  const { stdout } = await node.dkc('status');
  assert.match(stdout, /^State: +a new config is refused, the one before runs on$/m);
  assert.match(stdout, /^Error: +failed to validate config/m);
  assert.match(stdout, /^Next: The config is refused on this node: dkc history and the event KubeletConfigRefused/m);
});

test('status on a fresh node says that nothing is assigned', async (t) => {
  const { dkc } = await nodeOnDisk(t);
  const { stdout } = await dkc('status');
  assert.match(stdout, /State: +local config, nothing assigned/);
  assert.match(stdout, /Since: +not known/);
  assert.match(stdout, /Effective file: .*\(missing\)/);
});

const client = (node: object): Client => {
  const refuse = () => Promise.reject(new Error('not in this test'));
  return {
    get: async () => node,
    close: async () => {},
    list: refuse,
    create: refuse,
    replace: refuse,
    patch: refuse,
    delete: refuse,
    raw: refuse,
    watch: refuse,
  } as unknown as Client;
};

test('status asks the API server only with --kubeconfig, and stands without its answer', async (t) => {
  const node = await nodeOnDisk(t);
  const assigned = await node.save('2');
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  const config = { assigned: { configMap: assigned }, active: { configMap: { ...assigned, resourceVersion: '1' } }, error: 'failed' };
  const connect = async () => client({ metadata: { name: 'node-a' }, status: { config } });

  assert.ok(!(await node.dkcIn({ connect }, 'status', '-o', 'json')).stdout.includes('"api"'));
  const asked = JSON.parse((await node.dkcIn({ connect }, 'status', '--kubeconfig=/x', '-o', 'json')).stdout) as { api: unknown };
  assert.deepEqual(asked.api, { assigned, active: { ...assigned, resourceVersion: '1' }, lastKnownGood: null, error: 'failed' });
  const { stdout } = await node.dkcIn({ connect }, 'status', '--kubeconfig=/x');
  assert.match(
    stdout,
    /API server says:\n {2}assigned: as here\n {2}active: dkc-system\/web:kubelet@1\n {2}lastKnownGood: as here\n {2}error: failed\n/,
  );

  const away = await node.dkcIn({ connect: (query) => cliContext().context.connect(query) }, 'status', '--kubeconfig=/x');
  assert.equal(away.code, 0);
  assert.match(away.stdout, /API server: could not be asked: no network in this test/);
});

test('a Node without status.config, or with garbage in it, reads as local', () => {
  const local = { assigned: null, active: null, lastKnownGood: null, error: null };
  for (const status of [undefined, null, {}, { config: {} }, { config: 'x' }, { config: { assigned: null, error: '' } }, 7]) {
    assert.deepEqual(readConfigStatus(status), local);
  }
});

test('yaml says what json says', async (t) => {
  const { dkc } = await nodeOnDisk(t);
  const { parse } = await import('yaml');
  assert.deepEqual(parse((await dkc('status', '-o', 'yaml')).stdout), JSON.parse((await dkc('status', '-o', 'json')).stdout));
});

test('ages, spans and sizes are said in one or two units', () => {
  const now = Date.parse('2026-03-10T00:00:00Z');
  const ages = [
    '2026-03-10T00:00:00Z',
    '2026-03-11T00:00:00Z',
    '2026-03-09T23:58:30Z',
    '2026-03-09T23:00:00Z',
    '2026-03-09T00:00:00Z',
    '2026-03-01T00:00:00Z',
  ];
  assert.deepEqual(
    ages.map((at) => age(at, now)),
    ['now', 'now', '90s', '60m', '24h', '9d'],
  );
  assert.deepEqual([age(null, now), age('x', now), ago(ages[0], now), ago(ages[3], now)], ['?', '?', 'just now', '60m ago']);
  assert.deepEqual([0, 999, 61_000, 600_000, 3_660_000, 7_200_000].map(span), ['0s', '0s', '1m1s', '10m', '1h1m', '2h']);
  assert.deepEqual([0, 1023, 1024, 1_500_000].map(size), ['0 B', '1023 B', '1.0 KiB', '1.4 MiB']);
});

test('every command of the node has help with examples', async (t) => {
  const { dkc } = await nodeOnDisk(t);
  const { nodeCommands } = await import('../../../cli/node/commands.ts');
  for (const { name } of nodeCommands) {
    const { code, stdout } = await dkc(...name.split(' '), '--help');
    assert.equal(code, 0, name);
    assert.match(stdout, new RegExp(`EXAMPLES\\n\\s+dkc ${name}`), name);
  }
});
