import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rolloutsOfConfigMap } from '../../../../controllers/rollout/controller.ts';
import { Fleet, Fleets } from '../../../../controllers/rollout/fleet.ts';
import { rolloutIndexes } from '../../../../controllers/rollout/observe.ts';
import { revisionOf } from '../../../../controllers/rollout/revision.ts';
import { rulesOf } from '../../../../controllers/rollout/rules.ts';
import type { NodeConfigRollout } from '../../../../controllers/rollout/types.ts';
import { type IndexBy, memoize } from '../../../../kube/cache/contract.ts';
import { IndexedStore } from '../../../../kube/cache/indexed-store.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const from = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kubelet', namespace: 'dkc-system' } };

function rolloutOf(name: string, matchLabels: Record<string, string>, configMap = from.metadata.name): NodeConfigRollout {
  const spec = { nodeSelector: { matchLabels }, configMap: { namespace: from.metadata.namespace, name: configMap, kubeletConfigKey: 'kubelet' } }; // prettier-ignore
  const metadata = { name, uid: `uid-${name}`, generation: 1, creationTimestamp: '2026-11-30T05:00:00Z' };
  return { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata, spec };
}

function storeOf<T extends KubeObject>(all: readonly T[], indexes: Record<string, IndexBy<T>> = {}): IndexedStore<T> {
  const store = new IndexedStore<T>();
  for (const [name, by] of Object.entries(indexes)) store.index(name, by);
  for (const one of all) store.put(one);
  return store;
}

test('a large fleet beside hundreds of older rollouts is matched with them once, and read in several turns', () => {
  const older = Array.from({ length: 200 }, (_, n) => rolloutOf(`a-${n}`, { pool: `pool-${n}` }));
  const young = [rolloutOf('b', {}), rolloutOf('c', {})];
  const nodes = Array.from({ length: 600 }, (_, n) => ({
    kind: 'Node',
    metadata: { name: `node-${n}`, labels: { pool: n === 7 ? 'pool-7' : 'x' } },
  }));
  const rules = memoize(rulesOf);
  const stores = { rollouts: storeOf([...young, ...older]), nodes: storeOf<KubeObject>(nodes), nodeConfigs: storeOf([]) };
  const by = { rules, serves: {} as never, caches: stores as never };
  const fleets = new Fleets();
  const reads = young.map((rollout) => {
    for (let looks = 1; looks < 9; looks++) {
      const { size, conflicts } = fleets.read(rules(rollout), by) ?? {};
      if (size !== undefined) return { looks, size, ...conflicts };
    }
    return assert.fail('it is never read to its end');
  });
  const all = { count: 600, nodes: 'node-0, node-1, node-10, node-100, node-101 and 595 more', holders: 'a-7, b' };
  assert.deepEqual(reads, [{ looks: 3, size: 599, count: 1, nodes: 'node-7', holders: 'a-7' }, { looks: 2, size: 0, ...all }]); // prettier-ignore

  const come = (name: string, pool: string): unknown[] => {
    stores.nodes.put({ kind: 'Node', metadata: { name, labels: { pool } } });
    for (const { metadata } of young) fleets.changed(metadata.name ?? '', name);
    return young.map((rollout) => fleets.read(rules(rollout), by)?.conflicts);
  };
  // A node that comes once another one has gone is no conflict for that one's sake, also when that one comes again, or goes over to another rollout.
  stores.nodes.delete('node-7');
  fleets.nodeDeleted('node-7');
  const left = { count: 600, nodes: 'fresh, node-0, node-1, node-10, node-100 and 595 more', holders: 'b' };
  assert.deepEqual(come('fresh', 'x'), [{ count: 0, nodes: '', holders: '' }, left]);
  const more = { count: 601, nodes: left.nodes.replace('595', '596') };
  for (const [pool, holder] of [
    ['pool-7', 'a-7'],
    ['pool-8', 'a-8'],
  ] as const)
    // prettier-ignore
    assert.deepEqual(come('node-7', pool), [{ count: 1, nodes: 'node-7', holders: holder }, { ...more, holders: `${holder}, b` }]);
});

test('a node that is left to the same older rollout once more is a conflict once more', () => {
  const fleet = new Fleet();
  const steps = [() => fleet.setConflict('a', 'older'), () => fleet.delete('a'), () => fleet.setConflict('a', 'older')];
  assert.deepEqual(steps.map((step) => (step(), fleet.conflicts.count)), [1, 0, 1]); // prettier-ignore
});

const sets = [rolloutOf('web', {}), rolloutOf('web-2', {}, 'other'), rolloutOf('db', {}, 'other')];
const named = (name: string): KubeObject => ({ ...from, metadata: { ...from.metadata, name } });
const changes = [
  { why: 'that is rolled out', of: named('kubelet'), wakes: ['web'] },
  { why: 'that one has made', of: revisionOf(sets[2] as NodeConfigRollout, named('other'), 'copy', 1), wakes: ['db'] },
  { why: 'that may have the name of a copy', of: named('web-2-0123456789'), wakes: ['web-2'] },
  { why: 'that nobody reads', of: named('else'), wakes: [] },
  { why: 'that is the record of touches', of: named('dkc-rollout-touches'), wakes: ['web', 'web-2', 'db'] },
];
for (const { why, of, wakes } of changes)
  test(`a ConfigMap ${why} wakes the rollouts that read it, and no other`, () => {
    assert.deepEqual([...rolloutsOfConfigMap({ do: 'add', object: of }, storeOf(sets, rolloutIndexes))], wakes);
  });
