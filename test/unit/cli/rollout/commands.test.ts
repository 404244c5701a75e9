import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { whoAmI } from '../../../../cli/rollout/approve.ts';
import { rollouts, type NodeConfigRollout, type RolloutSpec } from '../../../../controllers/rollout/types.ts';
import { pods } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { plainFlags } from '../../../../cli/args/args.ts';
import { connectFlags } from '../../../../cli/connect/flags.ts';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { cliContext, runCli, type Ran } from '../../../support/cli-context.ts';
import { localClient } from '../../../support/embedded-api.ts';
import { FleetWorld } from '../../../support/fleet/fleet-world.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const env = { KUBECONFIG: '/nowhere/kubeconfig' };
const SOURCE = '--configmap dkc-system/web --key kubelet';

/** `dkc ARGV` on the fleet of a test. */
const runner = (world: FleetWorld) => (argv: string): Promise<Ran> =>
  runCli(argv.split(' '), { clock: world.clock, env, connect: async () => localClient(world.api, { clock: world.clock }) }); // prettier-ignore

/** Lets time pass until a command that waits has ended. */
async function ended(world: FleetWorld, command: Promise<Ran>): Promise<Ran> {
  const end: { ran?: Ran } = {};
  const waiting = command.then((ran) => (end.ran = ran));
  for (let seconds = 0; end.ran === undefined && seconds < 3_600; seconds++) await world.clock.advance(1_000);
  return end.ran === undefined ? assert.fail('the command does not end') : waiting;
}

test('a rollout is created, waits for approval, is approved and is watched to its end; a bad one is watched to its return, tried again and undone', async () => {
  await using world = await FleetWorld.start();
  await world.addNodes(4);
  await world.payload({ podPidsLimit: 1_000 });
  const run = runner(world);

  const dry = await run(`rollout create web ${SOURCE} --all --steps=1,100% --approve=1 --dry-run`);
  assert.deepEqual([dry.code, dry.stderr.includes('dry run, nothing was changed')], [0, true]);
  assert.match(dry.stdout, /^web: 4 nodes selected, at most 1 unavailable at once\n\nSTEP +NODES +ADDS +TOTAL +WHO\n1 +1 node, then approval +1 +1\/4 +node-\d\n2 +100% +3 +4\/4 +(node-\d(, |\n)){3}\nNo kubelet would reject the configuration\.\n/); // prettier-ignore
  await world.addPod('bare', 'node-2', { isBare: true });
  const drains = `rollout create web ${SOURCE} --all --drain=Always --dry-run`;
  assert.match((await run(drains)).stdout, /^1 pod would block the drain of 1 node \(spec\.drainPolicy\):\n  default\/bare on node-2 has no controller$/m); // prettier-ignore
  await world.client.delete(pods, { name: 'bare', namespace: 'default' }, { body: { gracePeriodSeconds: 0 } });
  assert.match((await run('rollout status web')).stderr, /NodeConfigRollout web: not found; `dkc rollout status` lists them/);

  assert.deepEqual(await run(`rollout create web ${SOURCE} --all --steps=1,100% --approve=1`), { code: 0, stdout: 'nodeconfigrollout.dkc.dev/web created\n', stderr: '' }); // prettier-ignore
  assert.match((await run(`rollout create web ${SOURCE} --all`)).stderr, /it already exists; to roll out other content edit its ConfigMap/);
  await world.until('web', 'it waits', ({ status }) => status?.waitsFor === 'Approval');

  const tree = await run('rollout status web');
  assert.equal(tree.code, 0);
  assert.match(tree.stdout, /^Phase: +◷ Holding \(waits for: Approval\)$/m);
  assert.match(tree.stdout, /^├─ ◌ step 1: 1 node, then approval   1\/1 settled\n│  └─ ✔ node-\d   settled\n└─ • step 2: 100%   0\/3 settled\n   ├─ • node-\d   waiting\n/m); // prettier-ignore
  assert.match((await run('rollout status')).stdout, /^NAME   PHASE     STEP   SELECTED   UPDATED   SETTLED   FAILED   AGE\nweb    Holding   1\/2    4          1         1         0 {8}\d+[sm]\n$/); // prettier-ignore
  assert.equal((await run('rollout status -o name')).stdout, 'nodeconfigrollout.dkc.dev/web\n');

  const wrong = [
    { argv: 'rollout approve web --step=2', says: 'Cannot approve NodeConfigRollout web: step 1 waits for approval, not step 2' },
    { argv: 'rollout resume web', says: 'Cannot resume NodeConfigRollout web: it is not paused; it is Holding and waits for Approval' },
    { argv: 'rollout resume web --retry', says: 'Cannot retry NodeConfigRollout web: it has not stopped; it is Holding and waits for Approval' }, // prettier-ignore
    { argv: 'rollout undo web', says: 'Cannot undo NodeConfigRollout web: there is no earlier revision; dkc unassign' },
  ];
  for (const { argv, says } of wrong) {
    assert.match((await run(argv)).stderr, new RegExp(`^dkc: ${says}`), argv);
  }

  assert.equal((await run('rollout approve ncr/web --as=jane')).stdout, 'nodeconfigrollout.dkc.dev/web step 1 approved by jane\n');
  const watched = await ended(world, run('rollout watch web'));
  assert.deepEqual([watched.code, watched.stderr], [0, '']);
  assert.match(watched.stdout, /^Progressing 2\/2: [^\n]*\n(.*\n)*Complete 2\/2: 4\/4 nodes settled \(.*\); all 4 nodes have the revision\n$/); // prettier-ignore
  const done = await world.rollout('web');
  assert.deepEqual(done.status?.approvals?.map(({ step, by, revision }) => [step, by, revision === done.status?.revision]), [[1, 'jane', true]]); // prettier-ignore

  world.agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
  await world.payload({ podPidsLimit: 1_300 });
  await world.until('web', 'it begins again', ({ status }) => status?.revision !== done.status?.revision);
  const failed = await ended(world, run('rollout status web -w'));
  assert.deepEqual([failed.code, /^dkc: rollout web: RolledBack: .*1 node failed: node-\d/.test(failed.stderr)], [1, true], failed.stderr);
  assert.match((await run('rollout status web')).stdout, /✖ node-\d   failed   failed trial.*; rolled back/);

  const history = JSON.parse((await run('rollout history web -o json')).stdout) as { revision: number; nodes: number; role: string }[];
  assert.deepEqual(history.map(({ revision, nodes, role }) => [revision, nodes, role]), [[2, 0, 'current'], [1, 4, 'previous']]); // prettier-ignore
  assert.match((await run('rollout history web --revision=2')).stdout, /"podPidsLimit":1300/);
  const diff = await run('rollout diff web');
  assert.equal(diff.code, 1);
  assert.match(diff.stdout, /^4 nodes \(.*\), kubelet v1\.36\.3, from dkc-system\/web-\w+:kubelet@\d+ to dkc-system\/web:kubelet:\nFIELD +CLASS +FROM +TO\npodPidsLimit +\S+ +1000 +1300\n$/); // prettier-ignore
  assert.equal((await run('rollout diff web --revision=1')).code, 0);

  assert.match((await run('rollout resume web')).stderr, /it has stopped: .*dkc rollout resume web --retry/);
  assert.equal((await run('rollout resume web --retry')).stdout, 'nodeconfigrollout.dkc.dev/web resumed; attempt 2 starts at step 1\n');
  await world.until('web', 'the second attempt', ({ status }) => status?.attempt === 2);
  const undone = await run('rollout undo web');
  assert.match(undone.stdout, /rolls out web-\w+ \(revision 1\) again\n$/);
  assert.match(undone.stderr, /edits of ConfigMap web are no longer rolled out; .*"configMap":\{"name":"web"\}/);
  assert.match(undone.stderr, /it was complete before, so steps, holds and approvals are skipped/);
  // All nodes have it: nobody has to approve that.
  await world.until('web', 'it is complete', ({ status }) => status?.revision === done.status?.revision && status?.phase === 'Complete');

  assert.equal((await run('rollout pause web')).stdout, 'nodeconfigrollout.dkc.dev/web paused\n');
  assert.equal((await run('rollout pause web')).stdout, 'nodeconfigrollout.dkc.dev/web is already paused\n');
  const paused = await world.phase('web', 'Paused');
  assert.equal(paused.status?.waitsFor, 'Resume');
  assert.match((await run('rollout abort web')).stderr, /it is complete; dkc rollout undo web/);
  assert.equal((await run('rollout resume web')).code, 0);
  await world.phase('web', 'Complete');

  await world.payload({ podPidsLimit: 1_200 });
  await world.edit('web', { configMap: { name: 'web' } });
  const next = await world.until('web', 'it waits', ({ status }) => status?.waitsFor === 'Approval');
  assert.equal((await run('rollout pause web')).code, 0);
  const aborted = await run('rollout abort web -o json');
  assert.equal((JSON.parse(aborted.stdout) as NodeConfigRollout).spec?.abortedRevision, next.status?.revision);
  // A pause does not keep it from going back.
  await world.phase('web', 'RolledBack');
});

test('a watch without a controller says so, and ends with 1 where its time is over or the rollout is deleted', async () => {
  await using world = await FleetWorld.start();
  const stopping = world.controller.stop();
  await world.clock.advance(30_000);
  await stopping;
  await world.roll('web');
  const run = runner(world);
  const late = await ended(world, run('rollout watch web --timeout=20s'));
  assert.equal(late.code, 1);
  assert.match(late.stderr, /no rollout controller has processed NodeConfigRollout web yet; .* dkc controllers run --controllers=rollout .*-name=dkc-rollout\n.*timed out after 20s/); // prettier-ignore
  const deleted = run('rollout watch web');
  await world.client.delete(rollouts, { name: 'web' });
  assert.match((await ended(world, deleted)).stderr, /rollout web was deleted|not found/);
});

const made: { why: string; flags: string; spec: Partial<RolloutSpec> }[] = [
  { why: 'selects by labels', flags: '-l pool=web,tier!=test', spec: { nodeSelector: { matchLabels: { pool: 'web' }, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['test'] }] } } }, // prettier-ignore
  { why: 'has steps with a hold, none after the last', flags: '--all --steps=2,50%,100% --hold=10m --approve=all', spec: { nodeSelector: {}, steps: [{ nodes: 2, hold: '10m', approve: true }, { nodes: '50%', hold: '10m', approve: true }, { nodes: '100%' }] } }, // prettier-ignore
  { why: 'has budgets', flags: '--all --max-unavailable=5% --failure-budget=3 --on-failure=Pause --drain=Never', spec: { nodeSelector: {}, maxUnavailable: '5%', failureBudget: 3, onFailure: 'Pause', drain: 'Never' } }, // prettier-ignore
];
for (const { why, flags, spec } of made)
  test(`a rollout from flags ${why}, and no server is asked for it`, async () => {
    const { code, stdout } = await runCli(`rollout create web ${SOURCE} ${flags} --dry-run=client -o json`.split(' '));
    const object = JSON.parse(stdout) as NodeConfigRollout;
    assert.deepEqual([code, object.metadata.name, object.spec], [0, 'web', { configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' }, ...spec }]); // prettier-ignore
  });

const refused = [
  { argv: 'create web --configmap web --key kubelet --all', says: '--configmap must be NAMESPACE/NAME' },
  { argv: `create web ${SOURCE} --all --drain-policy=pods=Evict`, says: '--drain-policy must be unmanagedPods=WHAT' },
  { argv: `create web ${SOURCE} --all --drain-policy=emptyDir=Keep`, says: 'spec.drainPolicy.emptyDir: must be Evict or Block' },
  { argv: `create Web ${SOURCE} --all`, says: 'invalid name "Web"' },
  { argv: 'pause deployment/web', says: 'invalid name "deployment/web": it must be NAME or ncr/NAME' },
  { argv: `create web ${SOURCE}`, says: 'no nodes are selected: give -l SELECTOR or --all' },
  { argv: `create web ${SOURCE} --all --steps=1,200%`, says: 'spec.steps[1].nodes: must be a number of nodes from 1 on, or a percentage of 1% to 100%' }, // prettier-ignore
  { argv: `create web ${SOURCE} --all --window=3h`, says: '--window must be five cron fields' },
  { argv: 'watch web -o yaml', says: 'works with -o table, wide and json' },
  { argv: 'status -w', says: '--watch needs NAME' },
];
test('what no rollout can be is refused with 2 and the flag that says so', async () => {
  for (const { argv, says } of refused) {
    const client = { close: async () => {}, get: async () => ({ metadata: { name: 'web' } }) } as unknown as Client;
    const { code, stderr } = await runCli(['rollout', ...argv.split(' ')], { connect: async () => client });
    assert.deepEqual([code, stderr.includes(says)], [2, true], `${argv}: ${stderr}`);
  }
});

test('who may not watch is told so, instead of waiting without end', async () => {
  await using world = await FleetWorld.start();
  const run = runner(world);
  await world.addNodes(1);
  assert.equal((await run(`rollout create web ${SOURCE} --all --paused`)).code, 0);
  const watches = [['rollout watch web', 'nodeconfigrollouts'], ['nodes -w', 'nodeconfigs'], ['unassign node-0 --wait', 'nodes']] as const; // prettier-ignore
  for (const [argv, resource] of watches) {
    world.api.hooks.setFaults(parseFaults([{ verb: 'watch', resource, status: 403 }]));
    const { code, stderr } = await run(argv);
    assert.equal(code, 3, argv);
    assert.match(stderr, new RegExp(`Cannot watch ${resource}\\S*: the verbs list and watch on ${resource}\\S* are needed \\(Cannot GET .* 403 Forbidden`)); // prettier-ignore
  }
  world.api.hooks.setFaults([]);
});

test('an approver is who the API server says, on older servers the user of the kubeconfig', async (t) => {
  const args = plainFlags('rollout approve', connectFlags, []);
  const KUBECONFIG = join(await tempDir(t), 'config');
  await writeFile(KUBECONFIG, 'current-context: a\ncontexts: [{name: a, context: {cluster: c, user: jane}}]\n');
  const { context } = cliContext({ env: { KUBECONFIG } });
  const server = (known: string | undefined) => ({
    create: (async ({ version }: { version: string }) => {
      if (version === known) return { metadata: {}, status: { userInfo: { username: `${known}-user` } } };
      throw new ApiError({ method: 'POST', path: '/', host: 'a' }, { code: 404, reason: 'NotFound', message: 'gone' });
    }) as unknown as Client['create'],
  });
  const seen = await Promise.all(['v1', 'v1beta1', undefined].map((known) => whoAmI(context, args, server(known))));
  assert.deepEqual(seen, ['v1-user', 'v1beta1-user', 'jane']);
});
