import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCluster } from '../../../../cli/scheduler/why-pod.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';

const call = { method: 'GET', path: '/x', host: 'h' };
const refusal = (code: number, reason: string): ApiError => new ApiError(call, { code, reason, message: 'no' });

/** A server that has one object of each kind, called as it was asked for. @param answer - what it says instead */
function serverThat(answer: (asked: string) => ApiError | undefined): { client: Pick<Client, 'listEach'>; asked: string[] } {
  const asked: string[] = [];
  const listEach = async (resource: Resource, query: object, each: (item: KubeObject) => void): Promise<object> => {
    const name = `${resource.resource} ${resource.version}`;
    asked.push(`${name}${Object.values(query).map((value) => ` ${value}`).join('')}`); // prettier-ignore
    const error = answer(name);
    if (error !== undefined) throw error;
    each({ metadata: { name } });
    return {};
  };
  return { client: { listEach } as unknown as Pick<Client, 'listEach'>, asked };
}

const { signal } = new AbortController();
const names = (list: readonly { metadata: { name?: string } }[]): string => list.map(({ metadata }) => metadata.name).join();

test('every kind is listed once, and of the pods those that have not ended', async () => {
  const { client, asked } = serverThat(() => undefined);
  const { pods, budgets, capacities, replicationControllers } = await readCluster(client, signal);
  assert.equal(asked.length, 16);
  assert.ok(asked.includes('pods v1 status.phase!=Succeeded,status.phase!=Failed'));
  const found = [pods, budgets, capacities, replicationControllers].map(names);
  assert.deepEqual(found, ['pods v1', 'poddisruptionbudgets v1', 'csistoragecapacities v1', 'replicationcontrollers v1']);
});

test('kinds that the server has in another version, or not at all, are read as they are', async () => {
  const old = serverThat((asked) => (/^poddisruptionbudgets v1$|^csi/.test(asked) ? refusal(404, 'NotFound') : undefined));
  const { budgets, capacities, csiNodes } = await readCluster(old.client, signal);
  assert.deepEqual([budgets, capacities, csiNodes].map(names), ['poddisruptionbudgets v1beta1', '', '']);
});

test('a kind that may not be listed is no empty one', async () => {
  const { client } = serverThat((asked) => (asked.startsWith('poddisruptionbudgets') ? refusal(403, 'Forbidden') : undefined));
  await assert.rejects(readCluster(client, signal), ApiError);
});
