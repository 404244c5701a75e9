import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rolloutsOfConfigMap } from '../../../../controllers/rollout/controller.ts';
import { Fleets } from '../../../../controllers/rollout/fleet.ts';
import { revisionOf } from '../../../../controllers/rollout/revision.ts';
import { rulesOf } from '../../../../controllers/rollout/rules.ts';
import type { NodeConfigRollout } from '../../../../controllers/rollout/types.ts';
import { memoize } from '../../../../kube/cache/contract.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const from = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kubelet', namespace: 'dkc-system' } };

function rolloutOf(name: string, matchLabels: Record<string, string>, configMap = from.metadata.name): NodeConfigRollout {
  const spec = {
    nodeSelector: { matchLabels },
    configMap: { namespace: from.metadata.namespace, name: configMap, kubeletConfigKey: 'kubelet' },
  };
  const metadata = { name, uid: `uid-${name}`, generation: 1, creationTimestamp: '2026-11-30T05:00:00Z' };
  return { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata, spec };
}

const listerOf = <T extends KubeObject>(all: readonly T[]) => {
  const byName = new Map(all.map((one) => [one.metadata.name, one]));
  return { list: () => [...all], get: (name: string) => byName.get(name) } as never;
};

test('nodes beside thousands of older rollouts are matched with them once, in several turns', () => {
  const older = Array.from({ length: 2_000 }, (_, n) => rolloutOf(`a-${n}`, { pool: `pool-${n}` }));
  const young = [rolloutOf('b', {}), rolloutOf('c', {})];
  const nodes = Array.from({ length: 60 }, (_, n) => ({
    kind: 'Node',
    metadata: { name: `node-${n}`, labels: { pool: n === 7 ? 'pool-7' : 'x' } },
  }));
  const rules = memoize(rulesOf);
  const caches = { rollouts: listerOf([...young, ...older]), nodes: listerOf(nodes), nodeConfigs: listerOf([]) };
  const by = { rules, serves: {} as never, caches };
  const fleets = new Fleets();
  const reads = young.map((rollout) => {
    for (let looks = 1; ; looks++) {
      const { size, conflicts = [] } = fleets.read(rules(rollout), by) ?? {};
      if (size !== undefined) return { looks, size, conflicts: conflicts.length };
    }
  });
  assert.deepEqual(reads, [{ looks: 3, size: 59, conflicts: 1 }, { looks: 1, size: 0, conflicts: 60 }]); // prettier-ignore
});

const sets = [rolloutOf('web', {}), rolloutOf('web-2', {}, 'other'), rolloutOf('db', {}, 'other')];
const named = (name: string): KubeObject => ({ ...from, metadata: { ...from.metadata, name } });
const changes = [
  { why: 'that is rolled out', of: named('kubelet'), wakes: ['web'] },
  { why: 'that one has made', of: revisionOf(sets[2] as NodeConfigRollout, named('other'), 'copy', 1), wakes: ['db'] },
  { why: 'that may have the name of a copy', of: named('web-2-0123456789'), wakes: ['web', 'web-2'] },
  { why: 'that nobody reads', of: named('else'), wakes: [] },
  { why: 'that is the record of touches', of: named('dkc-rollout-touches'), wakes: ['web', 'web-2', 'db'] },
];
for (const { why, of, wakes } of changes)
  test(`a ConfigMap ${why} wakes the rollouts that read it, and no other`, () => {
    assert.deepEqual(rolloutsOfConfigMap({ do: 'add', object: of }, listerOf(sets)), wakes);
  });
