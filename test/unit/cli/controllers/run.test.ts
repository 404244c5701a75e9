import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { holderOf, type Lease } from '../../../../kube/election/lease.ts';
import { text } from '../../kube/process/process-world.ts';
import { eventually } from '../../../support/eventually.ts';
import { longContract } from '../process/long-contract.ts';
import { LEASES, podOn, quick, up } from '../process/long-world.ts';
import { definitions } from '../../../../deploy/manifests.ts';
import { idle, start, type Seen } from './controllers-world.ts';

longContract({
  name: 'controllers run',
  lease: 'dkc-controllers',
  away: { says: 'warn: cannot reach the API server, retrying; details with -v', waits: /^\[-\]caches failed: not synced: daemonsets\.apps \(Cannot GET /m }, // prettier-ignore
  start,
  broken: {
    part: 'daemonset',
    start: (t, argv) =>
      start(t, argv, { makers: { ...idle(), daemonset: () => ({ name: 'daemonset', run: () => Promise.reject(new Error('a bug')) }) } }),
  },
});

/** What keeps a process alive. */
const sockets = (): string[] => process.getActiveResourcesInfo().filter((name) => /^(TCP|Pipe|Timeout)/.test(name));

test('controllers run: one ready line, at work, seen, and gone on SIGTERM without a trace', { timeout: 120_000 }, async (t) => {
  const before = sockets();
  const { server, kubeconfig } = await up(t);
  const seen: Seen = {};
  const flags = ['--namespace=team-a', '--object-selector=by=dkc', '--concurrent-syncs=2', '--daemonset-placement=controller', '--debug'];
  const run = start(t, [`--kubeconfig=${await kubeconfig()}`, ...flags, ...quick], { makers: idle(seen) });
  const { ready, metrics, pid } = await run.ready;
  assert.deepEqual([ready, pid], [true, process.pid]);
  await eventually('they work', () => seen.working?.length === 2);
  const sets = { namespace: 'team-a', objectSelector: 'by=dkc', workers: 2 };
  assert.deepEqual([seen.daemonset, seen.statefulset], [{ ...sets, placement: 'controller' }, sets]);
  const started = run.fields[run.lines.indexOf('info: starting controllers')];
  const said = { controllers: 'daemonset,statefulset', server: server.url, lease: 'kube-system/dkc-controllers' };
  assert.deepEqual(started, { ...said, namespace: 'team-a', objectSelector: 'by=dkc', placement: 'controller', workers: 2 });
  const found = await text(`${metrics}/metrics`);
  for (const name of [
    'leader_election_master_status{name="dkc-controllers"} 1',
    'reflector_last_resource_version{',
    'rest_client_requests_total{',
  ])
    assert.ok(found.includes(`\n${name}`), name);
  assert.match(await text(`${metrics}/readyz?verbose`), /\[\+\]caches ok: all have synced\n\[\+\]leader ok: this process is the leader/);
  assert.match(await text(`${metrics}/debug/caches`), /"name": "pods"/);

  assert.equal(await run.stop(), 0);
  assert.deepEqual(seen.working, []);
  assert.deepEqual([run.out().split('\n').length, run.err()], [2, '']);
  const lease = server.hooks.storage.get(LEASES, 'kube-system/dkc-controllers') as Lease;
  assert.equal(holderOf(lease), '', 'released for the next one');
  await assert.rejects(fetch(metrics ?? ''));
  await server.stop();
  assert.equal(run.clock.sleepers, 0);
  await eventually('sockets and timers are gone', () => sockets().length <= before.length);
});

test("without a kubeconfig it is the pod's service account, whose token is read again", { timeout: 120_000 }, async (t) => {
  const token = { token: 'second', user: 'system:serviceaccount:kube-system:dkc-controllers', groups: ['system:masters'] };
  const { server, dir } = await up(t, { tls: true, tokens: [token] });
  const pod = await podOn({ server, dir });
  const run = start(t, quick, { ...pod, env: { ...pod.env, KUBECONFIG: '/home/admin/.kube/config' } });
  const { metrics } = await run.ready;
  assert.ok(run.lines.includes("warn: ignoring $KUBECONFIG: without --kubeconfig the pod's service account is used"));
  assert.equal(run.fields[run.lines.indexOf('info: starting controllers')]?.['server'], server.url);
  await writeFile(join(pod.serviceAccount, 'token'), 'worthless');
  await text(`${metrics}/metrics`, /^rest_client_requests_total\{.*code="401".*\} [1-9]/m);
  await writeFile(join(pod.serviceAccount, 'token'), token.token);
  await eventually('the new one is taken', () => run.lines.includes('info: leader election works again'));
  assert.equal(await run.stop(), 0);
});

const impossible = [
  { why: 'there is neither kubeconfig nor pod, and $KUBECONFIG is set', argv: [], env: { KUBECONFIG: '/home/admin/.kube/config' }, code: 3, says: /^dkc: Cannot reach the API server: not running in a pod \(KUBERNETES_SERVICE_HOST and [A-Z_]+ are not set\); set --kubeconfig=FILE; dkc controllers run ignores \$KUBECONFIG\n$/ },
  { why: 'the kubeconfig is not there', argv: ['--kubeconfig=/gone'], code: 3, says: /^dkc: Cannot read kubeconfig \/gone: no such file; correct the path \(ENOENT[^\n]*\)\n$/ },
  { why: 'a flag is wrong', argv: ['--controllers=rollouts', '--kubeconfig=/gone'], code: 2, says: /^dkc: controllers run: --controllers has an unknown controller "rollouts", did you mean rollout\?; see / },
]; // prettier-ignore
for (const { why, argv, env = {}, code, says } of impossible)
  test(`controllers run ends with ${code} where ${why}`, async (t) => {
    const run = start(t, argv, { env });
    assert.equal(await run.ended, code);
    assert.match(run.err(), says);
  });

test('an address that is taken ends it with 3', async (t) => {
  const { server, kubeconfig } = await up(t);
  const run = start(t, [`--kubeconfig=${await kubeconfig()}`, `--metrics-bind-address=${new URL(server.url).host}`]);
  assert.equal(await run.ended, 3);
  assert.match(run.err(), /^dkc: Cannot serve metrics on 127\.0\.0\.1:\d+: choose another --metrics-bind-address/);
});

test('rollouts wait, not ready, for their definition, and then learn what the server serves', async (t) => {
  const { server, kubeconfig } = await up(t);
  const seen: Seen = {};
  const page = '--page-bind-address=127.0.0.1:0';
  const run = start(t, ['--controllers=rollout', page, `--kubeconfig=${await kubeconfig()}`, ...quick], { makers: idle(seen) });
  await eventually('the log names the remedy', () =>
    run.fields.some(({ error }) => String(error).includes('does not serve NodeConfigRollouts; to install them: dkc deploy manifests')),
  );
  assert.deepEqual(Object.keys(seen), []);
  for (const definition of definitions({ cel: false })) server.add(definition);
  await run.ready;
  const { configMapNamespace, serves } = seen.rollout ?? assert.fail();
  assert.deepEqual([configMapNamespace, serves?.servesNodeConfigs], ['dkc-system', true]);
  const url = await eventually('the page is served', () => run.fields.find(({ url }) => typeof url === 'string')?.['url']);
  server.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } });
  await eventually('the page has the node', async () => {
    const fleet = (await (await fetch(`${String(url)}/fleet.json`)).json()) as { nodes: { name: string; state: string }[] };
    return fleet.nodes.some(({ name, state }) => name === 'node-a' && state === 'no-agent');
  });
  assert.equal(await run.stop(), 0);
});
