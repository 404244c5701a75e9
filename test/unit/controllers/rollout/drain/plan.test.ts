import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planConditions, rolloutsOn, uncordonPatch } from '../../../../../controllers/rollout/drain/record.ts';
import { defaultDrainPolicy, type DrainPolicy } from '../../../../../controllers/rollout/drain/contract.ts';
import { planDrain, planGiveBack } from '../../../../../controllers/rollout/drain/plan.ts';
import { changes, node, other, pods, print, START, web } from './notation.ts';

const begun = 'drain +MaintenanceInProgress +DrainInProgress';
const cordon = 'cordon: drained-by=web/u-web drain-started=2026-03-01T00:00:00Z';

interface Row {
  why: string;
  node?: string;
  pods?: string;
  policy?: Partial<DrainPolicy>;
  /** Seconds since START. */
  at?: number;
  /** Pods whose eviction was refused, and seconds until it is tried again. */
  held?: Record<string, number>;
  step: string;
}

const rows: Row[] = [
  { why: 'begins with the cordon and its record in one write', pods: 'a b', step: `${cordon} cordoned-by=web/u-web unschedulable=true` },
  { why: 'leaves a cordon that is there already to its owner', node: 'cordon', pods: 'a', step: `${cordon} cordoned-by=` },
  { why: 'takes annotations that name no rollout for none', node: 'garbage cordon', step: `${cordon} cordoned-by=` },
  { why: 'waits for another rollout', node: 'drain:other', pods: 'a', step: 'wait 5 s: rollout other/u-other is draining the node' },
  {
    why: 'says what the node is going through before a pod goes',
    node: 'drain',
    pods: 'a',
    step: 'set conditions +MaintenanceInProgress +DrainInProgress',
  },
  { why: 'evicts what an owner creates again', node: begun, pods: 'b a c+elsewhere', step: 'evict a b' },
  {
    why: 'leaves pods of DaemonSets, mirror pods and pods that have ended',
    node: begun,
    pods: 'a+daemon b+mirror c+succeeded d+failed+bare e+daemon+terminating',
    step: 'set conditions -DrainInProgress +Drained',
  },
  {
    why: 'leaves a pod that came after the cordon because it tolerates it',
    node: begun,
    pods: 'a+tolerant+late',
    at: 90,
    step: 'set conditions -DrainInProgress +Drained',
  },
  {
    why: 'evicts a tolerant pod that was there before, and a late one that does not tolerate the cordon',
    node: begun,
    pods: 'a+tolerant b+late',
    at: 90,
    step: 'evict a b',
  },
  { why: 'fails before it cordons where a pod has no controller', pods: 'a b+bare', step: 'failed Blocked: shop/b has no controller' },
  { why: 'fails where such a pod comes later', node: begun, pods: 'a b+bare', step: 'failed Blocked: shop/b has no controller' },
  {
    why: 'names three pods that block it and counts the others',
    pods: 'a+bare b+bare c+bare d+bare e+bare',
    step: 'failed Blocked: shop/a has no controller; shop/b has no controller; shop/c has no controller; and 2 more',
  },
  {
    why: 'evicts pods without a controller where the policy says so',
    node: begun,
    pods: 'a+bare',
    policy: { unmanagedPods: 'Evict' },
    step: 'evict a',
  },
  { why: 'evicts pods with an emptyDir', node: begun, pods: 'a+emptydir', step: 'evict a' },
  {
    why: 'fails on an emptyDir where the policy says so',
    pods: 'a+emptydir',
    policy: { emptyDir: 'Block' },
    step: 'failed Blocked: shop/a has an emptyDir volume',
  },
  { why: 'passes on its own grace period', node: begun, pods: 'a', policy: { gracePeriodSeconds: 5 }, step: 'evict a in 5 s' },
  { why: 'evicts the others while a budget holds one', node: begun, pods: 'a b', held: { a: 3 }, step: 'evict b' },
  {
    why: 'waits until a refused eviction is tried again, and says why',
    node: begun,
    pods: 'a b+terminating',
    held: { a: 3 },
    step: 'wait 3 s: shop/a is not evicted: refused; shop/b is terminating',
  },
  {
    why: 'names a pod that terminates for longer than it may',
    node: begun,
    pods: 'a+terminating',
    at: 100,
    step: 'wait 5 s: shop/a is terminating, 40 s longer than its grace period allows',
  },
  {
    why: 'waits no longer than its own time',
    node: begun,
    pods: 'a',
    held: { a: 60 },
    at: 599,
    step: 'wait 1 s: shop/a is not evicted: refused',
  },
  {
    why: 'fails when its time is over',
    node: begun,
    pods: 'a+terminating b',
    held: { b: 3 },
    at: 600,
    step: 'failed Timeout: not drained in 600 s: shop/b is not evicted: refused; shop/a is terminating, 540 s longer than its grace period allows',
  },
  {
    why: 'counts from now on after the clock was set back',
    node: begun,
    pods: 'a',
    at: -60,
    step: 'restart timer: drain-started=2026-02-28T23:59:00Z',
  },
  {
    why: 'fails when somebody uncordons the node, and does not cordon it again',
    node: `${begun} uncordon`,
    pods: 'a',
    step: 'failed Uncordoned: the node was uncordoned while it was being drained',
  },
  {
    why: 'fails the same where the cordon was not ours',
    node: 'cordon drain uncordon',
    pods: 'a',
    step: 'failed Uncordoned: the node was uncordoned while it was being drained',
  },
  { why: 'ends when its condition says so', node: 'drain +MaintenanceInProgress +Drained', pods: 'a+daemon', step: 'drained' },
  { why: 'ends without conditions where it could not write them in its time', node: 'drain', at: 600, step: 'drained' },
  {
    why: 'leaves a condition of the same type to its writer',
    node: 'drain +DrainInProgress:person +Drained:other',
    pods: 'a',
    step: 'set conditions +MaintenanceInProgress',
  },
];

describe('a drain', () => {
  for (const row of rows) {
    test(row.why, () => {
      const held = row.held ?? {};
      const step = planDrain({
        node: node(row.node),
        pods: pods(row.pods ?? ''),
        owner: web,
        policy: { ...defaultDrainPolicy, ...row.policy },
        now: START + (row.at ?? 0) * 1_000,
        heldBack: (uid) => (held[uid.slice(2)] === undefined ? undefined : { why: 'refused', leftMs: (held[uid.slice(2)] ?? 0) * 1_000 }),
      });
      assert.equal(print(step), row.step);
      // A write from an outdated Node must fail.
      if (step.do === 'patch') assert.deepEqual((step.body['metadata'] as { uid: string; resourceVersion: string }).resourceVersion, '7');
    });
  }
});

const kubectl = { manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } };
const ours = { ...kubectl, manager: 'dkc-drain' };
const giveBacks: { why: string; node: string; managers?: object[]; step: string; patch?: string }[] = [
  {
    why: 'begins with the conditions',
    node: `${begun} +Drained`,
    step: 'remove conditions -MaintenanceInProgress -DrainInProgress -Drained',
  },
  {
    why: 'leaves conditions of others',
    node: 'drain +DrainInProgress:person +Drained:other +MaintenanceInProgress',
    step: 'remove conditions -MaintenanceInProgress',
  },
  { why: 'removes cordon and record', node: 'drain', step: 'uncordon', patch: 'drained-by= drain-started= cordoned-by= unschedulable=' },
  {
    why: 'knows its cordon by managedFields too',
    node: 'drain',
    managers: [ours, { ...kubectl, manager: 'ancient-changes' }],
    step: 'uncordon',
    patch: 'drained-by= drain-started= cordoned-by= unschedulable=',
  },
  {
    why: 'leaves the cordon of a person who uncordoned and cordoned again',
    node: 'drain',
    managers: [kubectl, { manager: 'kubelet' }],
    step: 'uncordon',
    patch: 'drained-by= drain-started= cordoned-by=',
  },
  { why: 'leaves a cordon that was there before', node: 'cordon drain', step: 'uncordon', patch: 'drained-by= drain-started=' },
  {
    why: 'removes the record where the cordon is gone',
    node: 'drain uncordon',
    step: 'uncordon',
    patch: 'drained-by= drain-started= cordoned-by=',
  },
  { why: 'has nothing to do for a node that was not drained', node: 'cordon', step: 'given-back' },
  { why: 'leaves what is another rollout’s', node: 'drain:other', step: 'given-back' },
];

describe('a node is given back:', () => {
  for (const row of giveBacks) {
    test(row.why, () => {
      const given = node(row.node);
      if (row.managers !== undefined) given.metadata.managedFields = row.managers;
      assert.equal(print(planGiveBack(given, web, START)), row.step);
      const patch = uncordonPatch(given, web);
      if (row.step === 'uncordon') assert.equal(changes(patch ?? {}), row.patch);
    });
  }
});

test('conditions for work without a drain are set, exchanged and not written twice', () => {
  const planned = planConditions(node(), web, ['MaintenancePlanned'], START);
  assert.ok(planned);
  assert.equal(print(planned), 'set conditions +MaintenancePlanned');
  const [condition] = (planned.body['status'] as { conditions: object[] }).conditions;
  assert.deepEqual(condition, {
    type: 'MaintenancePlanned',
    status: 'True',
    reason: 'AdminRequested',
    message: 'NodeConfigRollout web/u-web: the kubelet configuration of this node is going to change',
    lastHeartbeatTime: '2026-03-01T00:00:00Z',
    lastTransitionTime: '2026-03-01T00:00:00Z',
  });
  const step = planConditions(node('+MaintenancePlanned'), web, ['MaintenanceInProgress'], START);
  assert.equal(step && print(step), 'set conditions -MaintenancePlanned +MaintenanceInProgress');
  assert.equal(planConditions(node('+MaintenancePlanned'), web, ['MaintenancePlanned'], START), undefined);
  assert.equal(planConditions(node('+MaintenancePlanned'), other, [], START), undefined);
});

for (const { why, text, names } of [
  { why: 'none for a node that nobody works on', text: 'cordon +Drained:person', names: [] },
  { why: 'each once', text: 'drain +DrainInProgress +MaintenanceInProgress', names: ['web'] },
  { why: 'one of whose work a condition alone is left', text: 'drain +MaintenancePlanned:other', names: ['web', 'other'] },
  { why: 'none whose name cannot be read', text: 'garbage', names: [] },
]) {
  test(`rollouts on a node: ${why}`, () => {
    assert.deepEqual(
      rolloutsOn(node(text)).map(({ name }) => name),
      names,
    );
  });
}
