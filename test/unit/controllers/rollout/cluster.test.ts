import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action } from '../../../../controllers/rollout/contract.ts';
import type { Caches } from '../../../../controllers/rollout/observe.ts';
import { Cluster } from '../../../../controllers/rollout/cluster/cluster.ts';
import { KnownTouches } from '../../../../controllers/rollout/touches.ts';
import {
  type ClusterFacts,
  type ClusterTouch,
  inLine,
  isFullOfFailures,
  placesFor,
  placesOf,
  Turns,
  whyNoPlace,
} from '../../../../controllers/rollout/cluster/budget.ts';
import { newRecord, readRecord, RECORD, recordFor } from '../../../../controllers/rollout/cluster/record.ts';
import { type RolloutNode, viewOf } from '../../../../controllers/rollout/node.ts';
import type { HttpAnswer } from '../../../../controllers/rollout/gates/contract.ts';
import { rollouts } from '../../../../controllers/rollout/types.ts';
import { rulesOf } from '../../../../controllers/rollout/rules.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { isNotFound } from '../../../../kube/client/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { patchNode, FleetWorld } from '../../../support/fleet/fleet-world.ts';

const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
const touch = (node: string, more: Partial<ClusterTouch> = {}): ClusterTouch => ({
  node,
  rollout: 'web',
  revision: 'web-1',
  at: '2026-03-01T00:00:00Z',
  ...more,
});

/** Nodes in a line: `a` is up, `a!` unavailable, `a?` about to be touched. */
function cluster(nodes: string, most: number, more: Partial<ClusterFacts> = {}): ClusterFacts {
  const names = nodes.split(' ').filter(Boolean);
  const named = (mark: string): Set<string> => new Set(names.filter((one) => one.endsWith(mark)).map((one) => one.slice(0, -1)));
  const [down, pending] = [named('!'), named('?')];
  return {
    budget: String(most),
    size: names.length,
    most,
    unavailable: down.size + pending.size,
    isUnavailable: (node) => down.has(node),
    pending: new Map([...pending].map((node) => [node, touch(node)])),
    isOld: () => false,
    failedElsewhere: 0,
    ahead: [],
    recorded: String(most),
    ...more,
  };
}

const places = [
  { why: 'has as many places as nodes may be unavailable', nodes: 'a b c d', most: 2, next: 'a b c', may: 'a b' },
  { why: 'counts nodes that are unavailable, of whatever rollout', nodes: 'a b c! d', most: 2, next: 'a b', may: 'a' },
  { why: 'takes no place for a node that is unavailable already', nodes: 'a b! c! d', most: 1, next: 'a b c', may: 'b c' },
  { why: 'takes back what was promised where more nodes went down', nodes: 'a b? c! d', most: 1, next: 'a b c', may: 'c' },
  { why: 'leaves a place to each that has waited longer', nodes: 'a b c d', most: 3, ahead: ['db', 'api'], next: 'a b c', may: 'a' },
  { why: 'leaves nobody a place on the way back', nodes: 'a b c d', most: 2, ahead: ['db'], isBack: true, next: 'a b c', may: 'a b' },
];
for (const { why, nodes, most, ahead = [], isBack = false, next, may } of places)
  test(`a budget of the cluster ${why}`, () => {
    const facts = cluster(nodes, most, { ahead });
    assert.equal(next.split(' ').filter(placesFor(facts, placesOf(facts, { isBack }))).join(' '), may); // prettier-ignore
  });

test('without a budget there is always a place', () => assert.ok(placesFor(undefined, placesOf(undefined))('a')));

const whys = [
  { facts: cluster('a! b', 1), says: 'the whole cluster has as many unavailable nodes as --rollout-max-unavailable allows (1)' },
  {
    facts: cluster('a! b', 1, { budget: '50%' }),
    says: 'the whole cluster has as many unavailable nodes as --rollout-max-unavailable allows (1, 50% of 2)',
  },
  {
    facts: cluster('a b', 1, { ahead: ['db', 'api'] }),
    says: 'the next node that --rollout-max-unavailable allows is for rollout db, which has waited longer',
  },
];
for (const { facts, says } of whys) test(`who waits is told: ${says}`, () => assert.equal(whyNoPlace(facts), says));

const failed = [
  { why: 'they have all places', nodes: 'a! b! c', most: 2, own: 'a b', elsewhere: 0, stops: true },
  { why: 'those of others have the rest', nodes: 'a! b! c', most: 2, own: 'a', elsewhere: 1, stops: true },
  { why: 'there is a place left', nodes: 'a! b c', most: 2, own: 'a', elsewhere: 0, stops: false },
  { why: 'its own have recovered', nodes: 'a b! c', most: 1, own: 'a', elsewhere: 1, stops: false },
];
for (const { why, nodes, most, own, elsewhere, stops } of failed)
  test(`failed nodes ${stops ? 'stop' : 'do not stop'} a rollout where ${why}`, () => {
    const failures = own.split(' ').filter(Boolean).map((node) => ({ node })); // prettier-ignore
    assert.equal(isFullOfFailures(cluster(nodes, most, { failedElsewhere: elsewhere }), failures), stops);
  });

const rules = rulesOf({ metadata: { name: 'web', uid: 'u' }, spec: { nodeSelector: {}, configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } } }); // prettier-ignore
const nodeOf = (name: string, annotations: Record<string, string> = {}): RolloutNode =>
  viewOf({ kind: 'Node', metadata: { name, annotations } }, undefined, serves);
const now = Date.parse('2026-03-01T00:01:00Z');
const act = (what: Action['do'], node: RolloutNode): Action => ({ do: what, node, revision: 'web-1' }) as Action;
const records: { why: string; facts: ClusterFacts; actions: Action[]; names: string | undefined }[] = [
  { why: 'a node that is assigned', facts: cluster('a b', 1), actions: [act('assign', nodeOf('a'))], names: 'a@00:01:00' },
  { why: 'a node that is drained', facts: cluster('a b', 1), actions: [act('drain', nodeOf('a'))], names: 'a@00:01:00 drain' },
  { why: 'no drain that the Node records', facts: cluster('a b', 1), actions: [act('drain', nodeOf('a', { 'dkc.dev/drained-by': 'web/u' }))], names: undefined }, // prettier-ignore
  { why: 'what goes on beside what is new', facts: cluster('a b?', 2), actions: [act('assign', nodeOf('a'))], names: 'b@00:00:00, a@00:01:00' }, // prettier-ignore
  { why: 'nothing a second time', facts: cluster('a? b', 1), actions: [act('assign', nodeOf('a'))], names: undefined },
  { why: 'again what was written down long ago', facts: cluster('a? b', 1, { isOld: () => true }), actions: [act('assign', nodeOf('a'))], names: 'a@00:01:00' }, // prettier-ignore
  { why: 'an assignment after its drain', facts: cluster('', 1, { pending: new Map([['a', touch('a', { drain: true })]]) }), actions: [act('assign', nodeOf('a'))], names: 'a@00:01:00' }, // prettier-ignore
  { why: 'nothing of what touches no node', facts: cluster('a b', 1), actions: [act('give-back', nodeOf('a'))], names: undefined },
];
for (const { why, facts, actions, names } of records)
  test(`the record names ${why}`, () => {
    const data = recordFor({ cluster: facts, rules, now }, actions);
    const said = data && readRecord({ data }).touches.map(({ node, at, drain }) => `${node}@${at.slice(11, 19)}${drain ? ' drain' : ''}`);
    assert.equal(said?.join(', '), names);
  });

test('the record says what the budget is, also where nothing is touched', () =>
  assert.deepEqual(recordFor({ cluster: cluster('a', 1, { budget: '10%', recorded: '1' }), rules, now }, []), { maxUnavailable: '10%' }));

test('what is no record counts as none', () => {
  for (const touches of ['', '{', '{}', '[1]', '[{"node":1}]', 'null']) assert.deepEqual(readRecord({ data: { touches } }).touches, []);
});

test('rollouts wait in a line: whose last place is the longest ago is the first, and who is not looked at any more is not waited for', () => {
  const turns = new Turns(0);
  const served: Record<string, number> = { api: 0, db: 0, web: 0 };
  let waits = false;
  const ahead = (rollout: string, at: number): string =>
    turns.ahead(rollout, at, Object.entries(served).map(([key, servedAt]) => ({ key, servedAt, waits }))).join(' '); // prettier-ignore
  for (const name of Object.keys(served)) turns.reconciled(name, true, 0);
  assert.deepEqual([ahead('api', 0), ahead('db', 0), ahead('web', 0)], ['', 'api', 'api db']);
  served['api'] = 1_000;
  assert.deepEqual([ahead('db', 1_000), ahead('web', 1_000), ahead('api', 1_000)], ['', 'db', 'db web']);
  // Another process gave it a place.
  served['db'] = 2_000;
  assert.deepEqual([ahead('web', 2_000), ahead('api', 2_000), ahead('db', 2_000)], ['', 'web', 'web api']);
  turns.reconciled('web', false, 3_000);
  assert.deepEqual([ahead('api', 3_000), ahead('db', 3_000), turns.waiting], ['', 'api', ['api', 'db']]);
  turns.reconciled('db', true, 100_000);
  assert.equal(ahead('db', 100_000), '');
  // A status counts for a while, as long as this process has not looked.
  waits = true;
  served['new'] = 0;
  assert.deepEqual([ahead('db', 80_000), ahead('db', 100_000)], ['new api', '']);
});

test('when a rollout had a place last is in its status; a time that has yet to come says nothing', () => {
  const of = (...times: string[]) =>
    inLine({ metadata: { name: 'web' }, status: { waitsFor: 'ClusterMaxUnavailable', touches: { nodes: times.map((at) => ({ node: 'a', at })) } } }, now); // prettier-ignore
  assert.deepEqual(inLine({ metadata: { name: 'web' } }, now), { key: 'web', servedAt: 0, waits: false });
  assert.deepEqual(of('2026-03-01T00:00:00Z', '2026-03-01T00:00:30Z'), { key: 'web', servedAt: now - 30_000, waits: true });
  assert.equal(of('2026-03-01T00:01:30Z').servedAt, now + 30_000);
  assert.equal(of('2026-03-01T10:00:00Z').servedAt, 0);
});

const up = { kind: 'Node', metadata: { name: 'up' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
const cache = (...of: KubeObject[]) => ({ list: () => of, get: (key: string) => of.find(({ metadata }) => key.endsWith(metadata.name ?? '')), size: of.length }); // prettier-ignore

test('a touch that never shows counts for four minutes, wherever the wall clock is set', async () => {
  const record = { metadata: { name: RECORD }, data: { touches: JSON.stringify([touch('up')]) } };
  const caches = { rollouts: cache(), nodes: cache(up), nodeConfigs: cache(), configMaps: cache(record) } as unknown as Caches;
  const clock = new FakeClock();
  const follows = new Cluster('50%', clock, 'dkc-system');
  const unavailable = (): number | undefined => follows.read('web', caches, serves, clock.now())?.unavailable;
  assert.equal(unavailable(), 1);
  clock.jump(3_600_000);
  assert.equal(unavailable(), 1);
  await clock.advance(239_999);
  assert.equal(unavailable(), 1);
  await clock.advance(1);
  assert.equal(unavailable(), 0);
});

test('a node with an unhealthy kubelet has a place, and its failure is one elsewhere for all rollouts but its own', () => {
  const sick = { metadata: { name: 'up' }, status: { observedGeneration: 1, conditions: [{ type: 'Healthy', status: 'False' }] } };
  const web = { metadata: { name: 'web' }, status: { failures: [{ node: 'up', error: 'bad', at: '' }] } };
  const caches = { rollouts: cache(web), nodes: cache(up), nodeConfigs: cache(sick), configMaps: cache() } as unknown as Caches;
  const follows = new Cluster(1, new FakeClock(), 'dkc-system');
  const said = ['web', 'db'].map((name) => follows.read(name, caches, serves, now));
  assert.deepEqual(said.map((facts) => [facts?.unavailable, facts?.failedElsewhere]), [[1, 0], [1, 1]]); // prettier-ignore
});

test('rollouts of two pools share the budget of the cluster and take turns; a pool that is down holds both', async () => {
  await using world = await FleetWorld.start({ maxUnavailable: 2 });
  for (let at = 0; at < 6; at++) for (const pool of ['web', 'db']) await world.addNode(`${pool}-${at}`, { labels: { pool } });
  await world.addNode('other', {});
  for (const pool of ['web', 'db']) await world.payload({ maxPods: 120 }, pool);
  for (const pool of ['web', 'db'])
    await world.roll(pool, {
      nodeSelector: { matchLabels: { pool } },
      configMap: { namespace: 'dkc-system', name: pool, kubeletConfigKey: 'kubelet' },
      maxUnavailable: '100%',
      steps: [{ nodes: '100%' }],
    });
  await world.until('web', 'both have settled nodes', ({ status }) => (status?.nodes?.settled ?? 0) >= 2);
  await world.until('db', 'the other one has not been left behind', ({ status }) => (status?.nodes?.settled ?? 0) >= 2, 180_000);
  assert.notEqual((await world.rollout('web')).status?.phase, 'Complete');

  await world.setReady('other', false);
  await patchNode(world, 'web-0', { spec: { unschedulable: true } });
  for (const pool of ['web', 'db']) {
    const held = await world.until(pool, 'it waits', ({ status }) => status?.waitsFor === 'ClusterMaxUnavailable' && status.nodes?.inFlight === 0); // prettier-ignore
    assert.match(held.status?.message ?? '', /the whole cluster has as many unavailable nodes as --rollout-max-unavailable allows \(2\)$/);
    assert.ok((await world.events(pool)).some((event) => event.startsWith('ClusterMaxUnavailable: the whole cluster has')));
  }
  const assigned = world.agents.assigned.length;
  await world.clock.advance(600_000);
  assert.equal(world.agents.assigned.length, assigned);

  await world.setReady('other', true);
  await patchNode(world, 'web-0', { spec: { unschedulable: false } });
  for (const pool of ['web', 'db']) await world.phase(pool, 'Complete');
  assert.equal(world.agents.mostInFlight, 2);
  const record = await world.client.get(configMaps, { name: RECORD, namespace: 'dkc-system' });
  assert.equal(readRecord(record as { data?: Record<string, string> }).maxUnavailable, '2');
});

test('a rollout that is deleted while its gates are checked is not remembered: no change of a node enqueues it', async () => {
  await using world = await FleetWorld.start({ maxUnavailable: 1 });
  await world.addNode('other', { ready: false });
  await world.addNode('web-0', { labels: { pool: 'web' } });
  await world.payload({ maxPods: 120 });
  const answer = Promise.withResolvers<HttpAnswer>();
  world.prometheus = () => answer.promise;
  const gates = [{ name: 'slow', prometheus: { url: 'http://prometheus', query: 'up' } }];
  await world.roll('web', { nodeSelector: { matchLabels: { pool: 'web' } }, gates });
  await world.clock.advance(5_000);
  await world.client.delete(rollouts, { name: 'web' });
  await world.clock.advance(1_000);
  answer.resolve({ status: 200, text: '{"status":"success","data":{"resultType":"vector","result":[]}}' });
  await world.clock.advance(60_000);
  world.enqueued.length = 0;
  await patchNode(world, 'other', { metadata: { labels: { beat: '1' } } });
  await world.clock.advance(5_000);
  assert.deepEqual(world.enqueued, []);
});

test('a controller without the budget deletes the record of one that had it', async () => {
  await using world = await FleetWorld.start();
  await world.addNodes(2);
  await world.client.create(configMaps, newRecord('dkc-system', { maxUnavailable: '1' }), { namespace: 'dkc-system' });
  await world.payload({ maxPods: 120 });
  await world.roll('web');
  await world.phase('web', 'Complete');
  await assert.rejects(world.client.get(configMaps, { name: RECORD, namespace: 'dkc-system' }), isNotFound);
});

for (const { why, has, configs = '100', writtenAt, behind } of [
  { why: 'older than those that the last touches were decided on are waited for', has: '90', writtenAt: '120', behind: true },
  { why: 'of which one is older are waited for', has: '100', configs: '90', writtenAt: '120', behind: true },
  { why: 'as new as those are not', has: '100', writtenAt: '120', behind: false },
  { why: 'of a store that was restored from a backup since are not', has: '90', writtenAt: '80', behind: false },
])
  test(`caches ${why}, for five minutes`, () => {
    let now = 0;
    const touches = new KnownTouches({ monotonic: () => now });
    const said = { nodesVersion: '100', nodeConfigsVersion: '100' };
    const isBehind = () => touches.isBehind(said, { nodesVersion: has, nodeConfigsVersion: configs }, writtenAt);
    assert.equal(isBehind(), behind);
    now = 300_000;
    assert.equal(isBehind(), false);
  });
