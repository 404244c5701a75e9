import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetNode } from '../../../../controllers/fleet/read-fleet-node.ts';
import type { FleetNode } from '../../../../controllers/fleet/fleet-node.ts';
import { settling, type Goal, type Settling } from '../../../../cli/fleet/wait.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';

const source = (name: string, rv = '1') => ({
  namespace: 'dkc-system',
  name,
  uid: `uid-${name}`,
  resourceVersion: rv,
  kubeletConfigKey: 'kubelet',
});
const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const node = (over: Partial<FleetNode>): FleetNode => ({
  node: 'a',
  carrier: 'node',
  wanted: web,
  reports: true,
  assigned: null,
  active: null,
  lastKnownGood: null,
  error: null,
  agent: null,
  ready: null,
  kubeletVersion: '',
  ...over,
});
const failed = 'failed trial, see dkc-agent log for details';

const waits: { why: string; before: Partial<FleetNode>; now: Partial<FleetNode>; late?: boolean; goal?: Goal; at: Settling['at'] }[] = [
  { why: 'waits for an agent', before: {}, now: { reports: false }, at: 'waiting' },
  { why: 'waits until the source is taken over', before: {}, now: { assigned: source('old') }, at: 'waiting' },
  { why: 'waits until it is active', before: {}, now: { assigned: source('web'), active: source('old') }, at: 'waiting' },
  {
    why: 'waits while another version is active',
    before: {},
    now: { assigned: source('web', '2'), active: source('web', '1') },
    at: 'waiting',
  },
  { why: 'is settled when the assigned is active', before: {}, now: { assigned: source('web'), active: source('web') }, at: 'settled' },
  { why: 'fails on an error that is new', before: {}, now: { error: failed }, at: 'failed' },
  { why: 'gives an error of before some time', before: { error: failed }, now: { error: failed }, at: 'waiting' },
  { why: 'takes the error of before as an answer in the end', before: { error: failed }, now: { error: failed }, late: true, at: 'failed' },
  {
    why: 'takes no old error beside a new assigned for an answer: the agent is only about to start on it',
    before: { error: failed, assigned: source('old') },
    now: { error: failed, assigned: source('web') },
    at: 'waiting',
  },
  {
    why: 'takes an old error as new once another config is active',
    before: { error: failed, active: source('web') },
    now: { error: failed, assigned: source('web'), active: source('old') },
    at: 'failed',
  },
  {
    why: 'waits for trust while the config that it runs is on trial',
    before: {},
    now: { assigned: source('web'), active: source('web'), lastKnownGood: source('old') },
    goal: 'trusted',
    at: 'waiting',
  },
  {
    why: 'waits for trust while another version is trusted',
    before: {},
    now: { assigned: source('web', '2'), active: source('web', '2'), lastKnownGood: source('web', '1') },
    goal: 'trusted',
    at: 'waiting',
  },
  {
    why: 'is settled when the node trusts what it runs',
    before: {},
    now: { assigned: source('web'), active: source('web'), lastKnownGood: source('web') },
    goal: 'trusted',
    at: 'settled',
  },
  {
    why: 'fails when the trial fails',
    before: {},
    now: { assigned: source('web'), active: source('old'), lastKnownGood: source('old'), error: failed },
    goal: 'trusted',
    at: 'failed',
  },
  { why: 'gives a failed download some time', before: {}, now: { error: statusErrors.download }, goal: 'trusted', at: 'waiting' },
  { why: 'takes a download that still fails for an answer', before: {}, now: { error: statusErrors.download }, late: true, at: 'failed' },
  { why: 'fails when somebody else assigns something else', before: {}, now: { wanted: null }, at: 'failed' },
];
for (const { why, before, now, late = false, goal = 'active', at } of waits)
  test(`assign --wait ${why}`, () => assert.equal(settling({ wanted: web, goal }, node(before), node(now), late).at, at));

test('assign --wait fails when the Node goes away', () =>
  assert.equal(settling({ wanted: web, goal: 'trusted' }, node({}), undefined, false).at, 'failed'));

test('a Node of another shape reads as one without an assignment', () => {
  const odd = { metadata: { name: 'a' }, spec: { configSource: 'x' }, status: { config: { assigned: [], error: 7 } } };
  assert.deepEqual(fleetNode(odd), node({ wanted: null }));
});

const versions = [
  { why: 'waits while the version of before is in use', old: '1', now: '1', at: 'waiting' },
  { why: 'is settled on the version that was assigned', old: '1', now: '2', at: 'settled' },
  { why: 'is settled at once where that version is in use already', old: '2', now: '2', at: 'settled' },
  { why: 'is settled on a version that came later still', old: '1', now: '3', at: 'settled' },
];
for (const { why, old, now, at } of versions)
  test(`assign --wait ${why}`, () => {
    const on = (rv: string) => node({ assigned: source('web', rv), active: source('web', rv) });
    const version = { uid: 'uid-web', resourceVersion: '2' };
    assert.equal(settling({ wanted: web, version, goal: 'active' }, on(old), on(now), false).at, at);
  });
