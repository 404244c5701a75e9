import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { aborted } from '../../../../base/waiting.ts';
import { controllersRun } from '../../../../cli/controllers/command.ts';
import { type Makers, runControllers } from '../../../../cli/controllers/run.ts';
import { type ControllerName, controllersSettings } from '../../../../cli/controllers/settings.ts';
import { controllerRevisions, daemonSets, nodes, persistentVolumeClaims, pods, statefulSets, storageClasses } from '../../../../kube/api/object.ts'; // prettier-ignore
import type { DaemonSetOptions, StatefulSetOptions } from '../../../../controllers/common/types.ts';
import { rollouts } from '../../../../controllers/rollout/types.ts';
import type { ServerFacts } from '../../../../controllers/fleet/server-facts.ts';
import { fleetPage } from '../../../../controllers/page/page.ts';
import type { RolloutOptions } from '../../../../controllers/rollout/observe.ts';
import type { Runnable, Runtime } from '../../../../kube/process/contract.ts';
import { text } from '../../kube/process/process-world.ts';
import { eventually } from '../../../support/eventually.ts';
import { longContract, podOn, quick, type Running, startLong, up } from '../process/long.ts';
import { definitions } from '../../../../deploy/manifests.ts';

/** What controllers that do nothing were told, and which of them are at work. */
interface Seen {
  daemonset?: DaemonSetOptions;
  statefulset?: StatefulSetOptions;
  rollout?: RolloutOptions & { serves: ServerFacts };
  working?: string[];
}

const reads = {
  daemonset: [daemonSets, pods, nodes, controllerRevisions],
  statefulset: [statefulSets, pods, persistentVolumeClaims, controllerRevisions, storageClasses],
  rollout: [rollouts],
};

/** They read what the controllers read, and do nothing. */
function idle(seen: Seen = {}): Makers {
  const made = (name: ControllerName, { informers }: Runtime, told: Seen): Runnable => {
    Object.assign(seen, told);
    for (const kind of reads[name]) informers.of(kind);
    const run = async (signal: AbortSignal): Promise<void> => {
      seen.working = [...(seen.working ?? []), name].toSorted();
      await aborted(signal);
      seen.working = seen.working.filter((one) => one !== name);
    };
    return { name, run };
  };
  return {
    daemonset: (runtime, daemonset) => made('daemonset', runtime, { daemonset }),
    statefulset: (runtime, statefulset) => made('statefulset', runtime, { statefulset }),
    rollout: (runtime, rollout) => made('rollout', runtime, { rollout }),
    page: fleetPage,
  };
}

/** `dkc controllers run ARGV` in this process. */
function start(
  t: TestContext,
  argv: readonly string[],
  { makers = idle(), env = {}, serviceAccount }: { makers?: Makers; env?: Record<string, string>; serviceAccount?: string } = {},
): Running {
  const run = (...[context, args]: Parameters<typeof controllersRun.run>) =>
    runControllers(context, controllersSettings(args), makers, serviceAccount);
  const command = { ...controllersRun, run };
  return startLong(t, { name: 'controllers run', argv, command, env });
}

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

test('controllers run hands its settings on, and says them when it starts', { timeout: 120_000 }, async (t) => {
  const { server, kubeconfig } = await up(t);
  const seen: Seen = {};
  const flags = ['--namespace=team-a', '--object-selector=by=dkc', '--concurrent-syncs=2', '--daemonset-placement=controller'];
  const run = start(t, [`--kubeconfig=${await kubeconfig()}`, ...flags, ...quick], { makers: idle(seen) });
  await eventually('they work', () => seen.working?.length === 2);
  const sets = { namespace: 'team-a', objectSelector: 'by=dkc', workers: 2 };
  assert.deepEqual([seen.daemonset, seen.statefulset], [{ ...sets, placement: 'controller' }, sets]);
  const said = { controllers: 'daemonset,statefulset', server: server.url, lease: 'kube-system/dkc-controllers', placement: 'controller' };
  assert.deepEqual(run.fields[run.lines.indexOf('info: starting controllers')], { ...said, ...sets });
  await run.stop();
  assert.deepEqual(seen.working, []);
});

test('a right to write that is missing is known before it is needed', { timeout: 120_000 }, async (t) => {
  const account = { token: 'reader', user: 'reader', groups: [] };
  const { server, kubeconfig } = await up(t, { tokens: [account] });
  const [apiVersion, apiGroup, metadata] = ['rbac.authorization.k8s.io/v1', 'rbac.authorization.k8s.io', { name: 'read' }];
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }];
  server.add({ apiVersion, kind: 'ClusterRole', metadata, rules });
  const subjects = [{ kind: 'User', name: account.user, apiGroup }];
  server.add({ apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef: { apiGroup, kind: 'ClusterRole', name: 'read' }, subjects });
  const run = start(t, [`--kubeconfig=${await kubeconfig(account.token)}`, '--leader-elect=false']);
  const { metrics } = await run.ready;
  assert.match(await text(`${metrics}/readyz`, /rights failed/), /^\[-\]rights failed: missing: .*create, patch, delete pods/m);
  assert.equal(run.fields[run.lines.indexOf('warn: missing rights')]?.['vital'], true);
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
  assert.match(await text(`${String(url)}/fleet.json`), /"nodes":\[\]/);
  assert.equal(await run.stop(), 0);
});
