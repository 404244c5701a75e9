import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planConditions, rolloutsOn, uncordonPatch } from '../../../../../controllers/rollout/drain/record.ts';
import { defaultDrainPolicy } from '../../../../../controllers/rollout/drain/contract.ts';
import { planDrain, planGiveBack } from '../../../../../controllers/rollout/drain/plan.ts';
import { Precedence } from '../../../../../controllers/rollout/fleet.ts';
import { abandonedOn } from '../../../../../controllers/rollout/maintenance.ts';
import { rulesOf } from '../../../../../controllers/rollout/rules.ts';
import { table } from '../../../../support/table.ts';
import { changes, node, other, pods, print, START, web } from './notation.ts';

const begun = 'drain +MaintenanceInProgress +DrainInProgress';

/**
 * Nodes and pods are those of notation.ts, `new` is a node that nobody has touched, `begun` one that has gone through the first two steps. `at=90` is a time in
 * seconds since START, `held=a:3` a pod whose eviction was refused and may be tried again in 3 s, `silent`: the right to write status is missing; all else is
 * of the policy. BEGIN in a step is the record of the drain.
 */
const rows = table('node | pods | given | step | why')(`
  new | a b |  | cordon: BEGIN cordoned-by=web/u-web unschedulable=true | begins with the cordon and its record in one write
  cordon | a |  | cordon: BEGIN cordoned-by= | leaves a cordon that is there already to its owner
  garbage cordon |  |  | cordon: BEGIN cordoned-by= | takes annotations that name no rollout for none
  drain:other | a |  | wait 5 s: rollout other/u-other is draining the node | waits for another rollout
  drain | a |  | set conditions +MaintenanceInProgress +DrainInProgress | says what the node is going through before a pod goes
  drain | a | silent | evict a | evicts without conditions where those may not be written
  begun | b a c+elsewhere |  | evict a b | evicts what an owner creates again
  begun | a+daemon b+mirror c+succeeded d+failed+bare e+daemon+terminating | | set conditions -DrainInProgress +Drained
    | leaves pods of DaemonSets, mirror pods and pods that have ended
  begun | a+tolerant+late | at=90 | set conditions -DrainInProgress +Drained
    | leaves a pod that came after the cordon because it tolerates it
  begun | a+tolerant b+late | at=90 | evict a b
    | evicts a tolerant pod that was there before, and a late one that does not tolerate the cordon
  new | a b+bare |  | failed Blocked: shop/b has no controller | fails before it cordons where a pod has no controller
  new | a+bare b+bare c+bare d+bare e+bare |
    | failed Blocked: shop/a has no controller; shop/b has no controller; shop/c has no controller; and 2 more
    | names three pods that block it and counts the others
  begun | a+bare | unmanagedPods=Evict | evict a | evicts pods without a controller where the policy says so
  new | a+emptydir | emptyDir=Block | failed Blocked: shop/a has an emptyDir volume | fails on an emptyDir where the policy says so
  begun | a | gracePeriodSeconds=5 | evict a in 5 s | passes on its own grace period
  begun | a b | held=a:3 | evict b | evicts the others while a budget holds one
  begun | a b+terminating | held=a:3 | wait 3 s: shop/a is not evicted: refused; shop/b is terminating
    | waits until a refused eviction is tried again, and says why
  begun | a+terminating | at=100 | wait 5 s: shop/a is terminating, 40 s longer than its grace period allows
    | names a pod that terminates for longer than it may
  begun | a | at=599 held=a:60 | wait 1 s: shop/a is not evicted: refused | waits no longer than its own time
  begun | a+terminating b | at=600 held=b:3
    | failed Timeout: not drained in 600 s: shop/b is not evicted: refused; shop/a is terminating, 540 s longer than its grace period allows
    | fails when its time is over
  begun | a | at=-60 | restart timer: drain-started=2026-02-28T23:59:00Z | counts from now on after the clock was set back
  begun uncordon | a | | failed Uncordoned: the node was uncordoned while it was being drained
    | fails when somebody uncordons the node, and does not cordon it again
  drain +MaintenanceInProgress +Drained | a+daemon |  | drained | ends when its condition says so
  drain |  | at=600 | drained | ends without conditions where it could not write them in its time
  drain +DrainInProgress:person +Drained:other | a | | set conditions +MaintenanceInProgress
    | leaves a condition of the same type to its writer
`);

describe('a drain', () => {
  for (const { node: text, pods: there, given, step: expected, why } of rows) {
    test(why, () => {
      const options = given.split(' ').map((word) => word.split('='));
      const of = (name: string): number => Number(options.find(([key]) => key === name)?.[1] ?? 0);
      const held = new Map(options.filter(([key]) => key === 'held').map(([, value = '']) => value.split(':') as [string, string]));
      const policy = options.filter(([key = '']) => key in defaultDrainPolicy || key === 'gracePeriodSeconds');
      const step = planDrain({
        node: node(text.replace('begun', begun).replace('new', '')),
        pods: pods(there),
        owner: web,
        policy: { ...defaultDrainPolicy, ...Object.fromEntries(policy.map(([key, value]) => [key, Number(value) || value])) },
        now: START + of('at') * 1_000,
        isSilent: given === 'silent',
        heldBack: (uid) => (held.has(uid.slice(2)) ? { why: 'refused', leftMs: Number(held.get(uid.slice(2))) * 1_000 } : undefined),
      });
      assert.equal(print(step), expected.replace('BEGIN', 'drained-by=web/u-web drain-started=2026-03-01T00:00:00Z'));
      // A write from an outdated Node must fail.
      if (step.do === 'patch') assert.deepEqual((step.body['metadata'] as { uid: string; resourceVersion: string }).resourceVersion, '7');
    });
  }
});

/** `managers` are those of the cordon by managedFields. */
const giveBacks = table('node | managers | step | why')(`
  begun +Drained |  | remove conditions -MaintenanceInProgress -DrainInProgress -Drained | begins with the conditions
  drain +DrainInProgress:person +Drained:other +MaintenanceInProgress | | remove conditions -MaintenanceInProgress
    | leaves conditions of others
  drain          |  | uncordon: drained-by= drain-started= cordoned-by= unschedulable=   | removes cordon and record
  drain | dkc-drain ancient-changes | uncordon: drained-by= drain-started= cordoned-by= unschedulable=
    | knows its cordon by managedFields too
  drain | kubectl | uncordon: drained-by= drain-started= cordoned-by= | leaves the cordon of a person who uncordoned and cordoned again
  cordon drain   |  | uncordon: drained-by= drain-started=                               | leaves a cordon that was there before
  drain uncordon |  | uncordon: drained-by= drain-started= cordoned-by=                  | removes the record where the cordon is gone
  cordon         |  | given-back                                                         | has nothing to do for a node that was not drained
  drain:other    |  | given-back                                                         | leaves what is another rollout’s
`);

describe('a node is given back:', () => {
  for (const { node: text, managers, step, why } of giveBacks) {
    test(why, () => {
      const given = node(text.replace('begun', begun));
      const fieldsV1 = { 'f:spec': { 'f:unschedulable': {} } };
      const names = managers.split(' ').filter(Boolean);
      if (names.length > 0) given.metadata.managedFields = [...names.map((manager) => ({ manager, fieldsV1 })), { manager: 'kubelet' }];
      const planned = print(planGiveBack(given, web, START));
      assert.equal(planned === 'uncordon' ? `uncordon: ${changes(uncordonPatch(given, web) ?? {})}` : planned, step);
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
    const found = rolloutsOn(node(text)).map(({ name }) => name);
    assert.deepEqual(found, names);
  });
}

// Rollouts are written NAME=POOL, the oldest first, with ! when the spec is invalid; the node is in pool a.
const leftovers: { why: string; on: string; alive: string; abandoned: string[] }[] = [
  { why: 'nothing where nobody has written', on: 'cordon', alive: 'web=a', abandoned: [] },
  { why: 'nothing of the rollout that has the node', on: 'drain +DrainInProgress', alive: 'web=a other=a', abandoned: [] },
  { why: 'what a deleted rollout drained', on: 'drain', alive: 'other=a', abandoned: ['web'] },
  { why: 'conditions alone', on: 'drain +MaintenanceInProgress:other', alive: 'web=a', abandoned: ['other'] },
  { why: 'what a rollout drained that does not select the node any more', on: 'drain', alive: 'web=b', abandoned: ['web'] },
  { why: 'what a rollout drained before an older one selected the node', on: 'drain', alive: 'other=a web=a', abandoned: ['web'] },
  { why: 'nothing of a rollout whose spec is invalid', on: 'drain', alive: 'web=b! other=a', abandoned: [] },
];
for (const { why, on, alive, abandoned } of leftovers)
  test(`abandoned on a node: ${why}`, () => {
    const rules = alive.split(' ').map((text) => {
      const [, name = '', pool = '', invalid = ''] = /^(\w+)=(\w+)(!?)$/.exec(text) ?? [];
      const configMap = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
      const nodeSelector = { matchLabels: { pool } };
      const spec = { nodeSelector, configMap, ...(invalid === '' ? {} : { drainTimeout: 'long' }) };
      return rulesOf({ metadata: { name, uid: `u-${name}` }, spec });
    });
    const given = node(on);
    given.metadata.labels = { pool: 'a' };
    const found = abandonedOn(given, new Precedence(rules)).map(({ name }) => name);
    assert.deepEqual(found, abandoned);
  });
