import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer } from 'node:http';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { assignedAndTrusted, nodeOnDisk } from '../../../support/node-on-disk.ts';
import { cliContext } from '../../../support/cli-context.ts';
import { age, ago, size, span } from '../../../../cli/node/spoken.ts';
import { LockError } from '../../../../base/lock.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';

test('status on a node on trial reads as an admin needs it', async (t) => {
  const node = await assignedAndTrusted(t);
  const { trusted, assigned } = node;
  const { kubeletConfigKey } = assigned;
  const assignedAt = new Date(node.now()).toISOString();
  const since = { assignedAt, healthyMs: 222_000, exits: 0, exitsOffset: 0, bootId: 'b' };
  await node.store.setTrial({ source: assigned, kubeletConfigKey, contentSha256: 'x', ...since });
  await node.condemn(trusted, { reason: 'old sin', evidence: ['line one'] });
  node.later(300_000);
  const { stdout } = await node.dkc('status');
  const expected = `Node:            node-a
State:           assigned config, on trial
Running:         dkc-system/web:kubelet@2 (assigned)
Since:           2026-03-01T00:02:00.000Z (5m ago)
Assigned:        same as running
Last known good: dkc-system/web:kubelet@1
Error:           none
Trial:           healthy for 3m42s of 10m, assigned 5m ago
Agent:           not running: systemctl status dkc-agent
Kubelet:         not checked: kubeletHealthz is empty
Effective file:  ${node.paths.effective} (sha256 SUM)
Assignment by:   node (the API server keeps spec.configSource)

Condemned:
  dkc-system/web:kubelet@1: by agent, 5m ago: old sin
    line one

Next: The agent is not running, so the trial does not end, and a config that fails is not rolled back. Start it: systemctl start dkc-agent; if it is masked, before that: systemctl unmask dkc-agent
`;
  assert.equal(stdout.replace(/sha256 [0-9a-f]{12}/, 'sha256 SUM'), expected);
});

test('status after a refusal names the refused config and every reason, and exits with 1', async (t) => {
  const node = await nodeOnDisk(t);
  const running = await node.save('1');
  const refused = await node.save('2', { name: 'typo' });
  await node.trust(running);
  await node.assign(running);
  await node.runs('assigned', running, { error: statusErrors.validate });
  const findings = [
    { field: 'maxPods', rule: 'not-negative', message: 'maxPods must be 0 or more' },
    { field: 'cgroupDriver', rule: 'policy', message: 'differs from the local config' },
  ];
  const content = { kubeletConfigKey: 'kubelet', contentSha256: 'x' };
  const at = new Date(node.now()).toISOString();
  await node.store.setRefused({ source: refused, ...content, at, error: statusErrors.validate, findings, more: 3 });
  node.later(240_000);
  const { code, stdout, stderr } = await node.dkc('status');
  assert.equal(code, 1);
  assert.equal(stderr, 'dkc: the config that the API server assigns is refused on this node; dkc-system/typo:kubelet@2 is refused\n');
  const block = `
Refused:
  dkc-system/typo:kubelet@2: 4m ago: failed to validate config (see: journalctl -u dkc-agent)
    maxPods must be 0 or more [not-negative]
    cgroupDriver: differs from the local config [policy]
    and 3 more: dkc status -o wide

Next: Fix the ConfigMap, or allow single fields with the annotation dkc.dev/allow on it; dkc validate shows the same findings beforehand
`;
  assert.ok(stdout.endsWith(block), stdout);
  const json = JSON.parse((await node.dkc('status', '-o', 'json')).stdout) as Record<string, unknown>;
  assert.deepEqual(json['refused'], { source: refused, findings, at, error: statusErrors.validate, more: 3 });
  assert.equal(json['error'], statusErrors.validate, "scripts get upstream's own words");
});

test('status says in what the node drifts, by the agent while that runs and else by a look at the file', async (t) => {
  const node = await nodeOnDisk(t, { kubeletUnit: 'k3s-agent.service' });
  const a = await node.save('1');
  await node.trust(a);
  await node.assign(a);
  const drift = [{ kind: 'NotUsed', detail: 'the running kubelet was started without --config', since: '2026-03-01T00:00:00Z' }] as const;
  await node.runs('assigned', a, { drift });
  const { code, stdout } = await node.dkc('status');
  assert.equal(code, 0);
  assert.match(stdout, /^Drifted:\n {2}NotUsed, \d+\w+ ago: the running kubelet was started without --config$/m);
  assert.match(stdout, /^Next: The kubelet is not started on the effective file\..* systemctl restart k3s-agent\.service$/m);
  await writeFile(node.paths.effective, 'of another hand');
  const looked = (await node.dkc('status')).stdout;
  assert.match(looked, /^Drifted:\n {2}EffectiveFileChanged.*: \S+ was changed by another program or by hand\n/m);
  assert.match(looked, /^Next: The effective file is not what the agent wrote\..* systemctl restart dkc-agent\./m);
});

test('status says whether agent and kubelet live, or that it cannot tell, and what the kubelet answers', async (t) => {
  const kubelet = createServer((_, answer) => void answer.writeHead(healthy ? 200 : 500).end());
  let healthy = true;
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  t.after(() => kubelet.close());
  const url = `http://127.0.0.1:${(kubelet.address() as AddressInfo).port}/healthz`;
  const node = await nodeOnDisk(t, { kubeletHealthz: url });
  const locks = memoryLocks();
  await locks.take(node.paths.agentLock, 0);
  await writeFile(node.paths.agentLock, '');
  const asked = async () => {
    const { stdout } = await node.dkcIn({ locks }, 'status', '-o', 'json');
    const { agent, kubelet } = JSON.parse(stdout) as Record<'agent' | 'kubelet', unknown>;
    return [agent, kubelet];
  };
  assert.deepEqual(await asked(), [{ alive: true }, { healthy: true }]);
  healthy = false;
  assert.deepEqual(await asked(), [{ alive: true }, { healthy: false }]);
  const { stdout } = await node.dkcIn({ locks }, 'status');
  assert.match(stdout, /^Agent: +running$/m);
  assert.match(stdout, /^Kubelet: +not healthy: http:.* answered 500$/m);
  kubelet.close();
  assert.match(
    (await node.dkc('status')).stdout,
    /^Agent: +not running: systemctl status dkc-agent\nKubelet: +not healthy: http:.*(ECONNREFUSED|no answer)/m,
  );
  const denied = new LockError(node.paths.agentLock, 'it cannot be opened', { cause: new Error('EACCES') });
  const unknown = await node.dkcIn({ locks: { take: () => Promise.reject(denied) } }, 'status');
  assert.match(unknown.stdout, /^Agent: +unknown \(.*it cannot be opened.*\)$/m);
});

const noSuch = new ApiError({ method: 'GET', host: 'h', path: '/apis/dkc.dev' }, { code: 404, reason: 'NotFound', message: 'not found' });
const client = (node: object): Client => {
  const get = async ({ resource }: Resource) => (resource === 'nodes' ? node : Promise.reject(noSuch));
  return { get, close: async () => {} } as unknown as Client;
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
  assert.match(stdout, /Reported by the API server:\n {2}assigned: same\n {2}active: dkc-system\/web:kubelet@1\n {2}lastKnownGood: same\n {2}error: failed\n/); // prettier-ignore
  const away = await node.dkcIn({ connect: (query) => cliContext().context.connect(query) }, 'status', '--kubeconfig=/x');
  assert.equal(away.code, 0);
  assert.match(away.stdout, /API server: request failed: no network in this test/);
});

test('ages, spans and sizes are said in one or two units', () => {
  const now = Date.parse('2026-03-10T00:00:00Z');
  const ages = ['10T00:00:00', '09T23:58:30', '09T23:00:00', '09T00:00:00', '01T00:00:00', '10T00:04:00', '19T00:00:00'].map(
    (at) => `2026-03-${at}Z`,
  );
  assert.deepEqual(ages.map((at) => age(at, now)), ['now', '90s', '60m', '24h', '9d', 'now', 'in 9d']); // prettier-ignore
  const texts = [age(null, now), age('x', now), ...[0, 2, 6].map((at) => ago(ages[at], now))];
  assert.deepEqual(texts, ['?', '?', 'just now', '60m ago', 'in 9d']);
  assert.deepEqual([0, 999, 61_000, 600_000, 3_660_000, 7_200_000].map(span), ['0s', '0s', '1m1s', '10m', '1h1m', '2h']);
  assert.deepEqual([0, 1023, 1024, 1_500_000].map(size), ['0 B', '1023 B', '1.0 KiB', '1.4 MiB']);
});

test('status -w prints the status again whenever it is another one, until Ctrl-C', async (t) => {
  const node = await nodeOnDisk(t);
  const [one, two] = [await node.save('1'), await node.save('2')];
  await node.assign(one);
  await node.trust(one);
  await node.runs('assigned', one);
  const later = async (): Promise<void> => node.later(60_000);
  const changes = [later, () => node.assign(two), later, () => node.runs('assigned', two)];
  const { code, stdout, stderr } = await node.watched(['status', '-w'], changes);
  assert.deepEqual([code, stderr], [130, 'dkc: interrupted\n']);
  const states = stdout.match(/^State: .*/gm)?.map((line) => line.replace(/State: +/, ''));
  assert.deepEqual(states, ['assigned config, trusted', 'pending: waiting for the agent', 'assigned config, not yet trusted']);
});
