import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedBudgets } from '../../../../scheduler/informers.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

for (const { release, version } of [
  { release: 'v1.20.2', version: 'v1beta1' },
  { release: 'v1.23.0', version: 'v1' },
])
  test(`a server of ${release} has budgets as ${version}`, async (t) => {
    const api = localApi(new FakeClock(), { version: release });
    const client = localClient(api);
    t.after(async () => {
      await client.close();
      api.stop();
    });
    const resource = await servedBudgets(client, t.signal);
    assert.equal(resource?.version, version);
    if (resource !== undefined) assert.deepEqual((await client.list(resource)).items, []);
  });

test('a server that knows the group without budgets has none', async (t) => {
  const asked: string[] = [];
  const raw = (_: string, path: string): Promise<unknown> => {
    asked.push(path);
    return Promise.resolve({ resources: [{ name: 'others' }] });
  };
  assert.equal(await servedBudgets({ raw }, t.signal), undefined);
  assert.deepEqual(asked, ['/apis/policy/v1', '/apis/policy/v1beta1']);
});
