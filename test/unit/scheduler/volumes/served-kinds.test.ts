import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../kube/client/errors.ts';
import { servedStorageKinds } from '../../../../scheduler/volumes/view.ts';

const always = ['storageclasses', 'csinodes', 'csidrivers'];
const all = [...always, 'csistoragecapacities'];
const cases: { why: string; v1?: string[]; v1beta1?: string[]; capacities: string | undefined; drivers: string | undefined }[] = [
  { why: 'has all of them', v1: all, capacities: 'v1', drivers: 'v1' },
  { why: 'has capacities on trial', v1: always, v1beta1: ['csistoragecapacities', 'csidrivers'], capacities: 'v1beta1', drivers: 'v1' },
  { why: 'has nothing of the kind', capacities: undefined, drivers: undefined },
];

function answer(names: string[] | undefined): unknown {
  if (names !== undefined) return { resources: names.map((name) => ({ name })) };
  throw new ApiError({ method: 'GET', path: '/x', host: 'h' }, { code: 404, reason: 'NotFound', message: 'gone' });
}

for (const c of cases)
  test(`a server ${c.why}`, async () => {
    const served = await servedStorageKinds({ raw: async (_, path) => answer(path.endsWith('/v1') ? c.v1 : c.v1beta1) });
    assert.deepEqual(
      [served.csiStorageCapacities?.version, served.csiDrivers?.version, served.csiNodes?.version],
      [c.capacities, c.drivers, c.drivers],
    );
    assert.equal(served.csiStorageCapacities?.kind, c.capacities === undefined ? undefined : 'CSIStorageCapacity');
  });

test('a server that does not answer is no server without them', async () => {
  await assert.rejects(servedStorageKinds({ raw: () => Promise.reject(new Error('away')) }), /away/);
});
