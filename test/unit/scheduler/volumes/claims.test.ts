import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { seededRandom } from '../../../../base/random.ts';
import { isReachable } from '../../../../scheduler/volumes/binding.ts';
import { candidatesFor } from '../../../../scheduler/volumes/claims.ts';
import { claim, volume, type VolumeBuilder } from './storage-builders.ts';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

test('what is near a node is what it reaches, in the order of all', () => {
  const random = seededRandom(7);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const names = ['a', 'b', 'c', ''];
  const term = (): NodeSelectorTerm => {
    const some = Array.from({ length: 1 + Math.floor(random() * 2) }, () => ({
      key: pick([HOST, HOST, ZONE]),
      operator: pick(['In', 'In', 'In', 'NotIn', 'Exists']),
      values: [pick(names), pick(names)],
    }));
    return { matchExpressions: some.map(({ values, ...rest }) => (rest.operator === 'Exists' ? rest : { ...rest, values })) };
  };
  const wanted = claim('data').build();
  let found = 0;
  for (let round = 0; round < 300; round++) {
    const volumes = Array.from({ length: 8 }, (_, at): VolumeBuilder => {
      const one = volume(`pv-${at}`).size(`${pick([1, 2, 3])}Gi`);
      return random() < 0.2 ? one : one.reachedBy(...Array.from({ length: pick([1, 1, 2]) }, term));
    }).map((one) => one.build());
    const size = (one: (typeof volumes)[number]): number => Number.parseInt(one.spec?.capacity?.['storage'] ?? '', 10);
    const inOrder = volumes.toSorted((a, b) => size(a) - size(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    const candidates = candidatesFor(wanted, volumes);
    for (const host of [...names, undefined]) {
      const labels = { ...(host === undefined ? {} : { [HOST]: host }), [ZONE]: pick(names) };
      const reached = (list: Iterable<(typeof volumes)[number]>) =>
        [...list].filter((one) => isReachable(one, labels)).map((one) => one.metadata.name);
      assert.deepEqual(reached(candidates.near(labels)), reached(inOrder), `round ${round}, host ${host}`);
      found += reached(inOrder).length;
    }
  }
  assert.ok(found > 1_000, 'there was something to find');
});
