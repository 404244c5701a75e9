import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';

/** Leases, as leader election relies on them: of writers that saw the same version one is heard. */
export function leaseContract(here: () => ContractWorld): void {
  const leases = (): string => `/apis/coordination.k8s.io/v1/namespaces/${here().namespace}/leases`;

  test('of many who take the same lease at once one gets it, by update and by patch', async () => {
    const { api } = here();
    const path = `${leases()}/taken`;
    for (const way of ['put', 'patch'] as const) {
      const { json: seen } = await api.post(leases(), { metadata: { name: 'taken' }, spec: { leaseDurationSeconds: 15 } });
      const { name, resourceVersion } = seen['metadata'] ?? {};
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          api[way](path, { metadata: { name, resourceVersion }, spec: { holderIdentity: `holder-${n}` } }),
        ),
      );
      const codes = answers.map(({ code }) => code).sort((a, b) => a - b);
      assert.deepEqual(codes, [200, 409, 409, 409, 409, 409, 409, 409], way);
      const winner = answers.findIndex(({ code }) => code === 200);
      assert.equal((await api.get(path)).json['spec']?.['holderIdentity'], `holder-${winner}`);
      await api.delete(path);
    }
  });

  test('of many who create the same lease at once one does', async () => {
    const { api } = here();
    const made = Array.from({ length: 8 }, () => api.post(leases(), { metadata: { name: 'made-once' } }));
    const answers = await Promise.all(made);
    assert.deepEqual(
      answers.map(({ code }) => code).sort((a, b) => a - b),
      [201, 409, 409, 409, 409, 409, 409, 409],
    );
    const lost = answers.find(({ code }) => code === 409);
    assert.equal(lost?.json['reason'], 'AlreadyExists');
    assert.equal(lost.json['message'], 'leases.coordination.k8s.io "made-once" already exists');
  });

  test('times are kept to the microsecond', async () => {
    const { api } = here();
    const spec = { acquireTime: '2030-01-02T03:04:05.678901Z', renewTime: '2030-01-02T03:04:06.000000Z', leaseTransitions: 3 };
    const { code, json } = await api.post(leases(), { metadata: { name: 'timed' }, spec });
    assert.equal(code, 201, text(json['message']));
    assert.deepEqual((await api.get(`${leases()}/timed`)).json['spec'], spec);
  });

  test('a lease that says nonsense is 422', async () => {
    const { api } = here();
    const { code, json } = await api.post(leases(), {
      metadata: { name: 'nonsense' },
      spec: { leaseDurationSeconds: 0, leaseTransitions: -1 },
    });
    assert.equal(code, 422);
    assert.match(text(json['message']), /spec\.leaseDurationSeconds: Invalid value: 0: must be greater than 0/);
    assert.match(text(json['message']), /spec\.leaseTransitions: Invalid value: -1: /);
  });
}
