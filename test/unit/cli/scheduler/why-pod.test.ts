import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { readCluster, whyPod } from '../../../../cli/scheduler/why-pod.ts';
import { cliContext, runCli, type Ran } from '../../../support/cli-context.ts';
import { node, pod } from '../../scheduler/builders.ts';
import type { ExplainPod, Explained } from '../../../../scheduler/explain.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

const api = localApi(realClock);
before(() => {
  api.add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const built = [pod('shop/big').cpu('64').build(), pod('shop/batch').spec({ schedulerName: 'batch' }).build(), pod('shop/there').on('node-a').build()]; // prettier-ignore
  for (const one of [node('node-a').build(), node('node-b').cordoned().build(), ...built]) {
    const { uid: _uid, resourceVersion: _version, ...metadata } = one.metadata;
    api.add({ ...one, metadata });
  }
});
after(() => api.stop());

const connect = async () => localClient(api);

async function why(argv: readonly string[], explain: ExplainPod): Promise<Ran> {
  const { context, out, err } = cliContext({ connect, path: (text) => text });
  const entry = { name: 'why pod', summary: 'Say', group: 'Scheduler', load: async () => whyPod(async () => explain) } as const;
  const code = await dispatch([entry], ['why', 'pod', ...argv], context);
  return { code, stdout: out(), stderr: err() };
}

const line: Explained = { object: 'shop/big', reason: 'NodeResourcesFit', detail: '1 of 2 nodes: Insufficient cpu (node-a)' };
const unknown = {
  object: 'shop/big',
  reason: 'kept-room-unknown',
  detail: 'reservations for pods that are updated are known only to the running scheduler; ask it with --debug-address',
};
const never: ExplainPod = () => assert.fail('there is nothing to decide');

test('why pod tells it in a table, and the same as JSON', async () => {
  const table = await why(['shop/big'], () => [line]);
  assert.deepEqual([table.code, table.stderr], [0, '']);
  assert.match(table.stdout, /^REASON +DETAIL\nNodeResourcesFit +1 of 2 nodes: Insufficient cpu \(node-a\)\n/);
  assert.deepEqual(JSON.parse((await why(['shop/big', '-o', 'json'], () => [line])).stdout), [line, unknown]);
});

test('a pod that needs no decision is told without one', async () => {
  const told = async (name: string) => JSON.parse((await why([name, '-o', 'json'], never)).stdout) as Explained[];
  assert.deepEqual((await told('shop/there')).map(({ reason }) => reason), ['bound']); // prettier-ignore
  assert.deepEqual((await told('shop/batch')).map(({ reason }) => reason), ['other-scheduler']); // prettier-ignore
});

const failures = [
  { why: 'two namespaces', argv: ['shop/big', '-n', 'other'], code: 2, says: 'why pod: shop/big is in namespace shop, but --namespace is other; see dkc why pod --help' }, // prettier-ignore
  { why: 'an address that is none', argv: ['shop/big', '--debug-address=:'], code: 2, says: 'why pod: --debug-address must be HOST:PORT, such as 127.0.0.1:10462; see dkc why pod --help' }, // prettier-ignore
];
for (const { why: about, argv, code, says } of failures)
  test(`why pod ends with ${code} on ${about}`, async () => {
    assert.deepEqual(await why(argv, never), { code, stdout: '', stderr: `dkc: ${says}\n` });
  });

const room = { namespace: 'shop', name: 'db-1', node: 'node-a', priority: 0, why: 'db rolls', requests: { cpu: '3' }, expiresAt: 'THEN' };
const queued = { namespace: 'shop', name: 'big', pool: 'backoff', held: false, attempts: 2, backoffUntil: null, flushAt: null, wakesOn: ['rain'] }; // prettier-ignore

/** Stands in for the debug pages of a scheduler that runs. */
async function debugPages(t: { after(end: () => void): void }, pages: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    response.statusCode = page === undefined ? 404 : 200;
    response.setHeader('connection', 'close');
    response.end(JSON.stringify(page ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the running scheduler is asked for kept room and for the queue', async (t) => {
  const other = { ...queued, name: 'other', pool: 'active' };
  const pools = { active: 1, backoff: 1, unschedulable: 0, gated: 0 };
  const address = await debugPages(t, { '/debug/reservations': [room], '/debug/scheduler-queue': { pools, inFlight: 0, pods: [other, queued] } }); // prettier-ignore
  const { stdout } = await why(['shop/big', `--debug-address=${address}`, '-o', 'json'], () => []);
  assert.deepEqual(JSON.parse(stdout), [
    { object: 'node-a', reason: 'kept-room', detail: 'cpu 3 is reserved for shop/db-1 until THEN: db rolls' },
    { object: 'shop/big', reason: 'backoff', detail: 'tried 2 times; in backoff after a failure' },
    { object: 'shop/big', reason: 'retried-when', detail: 'rain' },
  ]);
});

test('a scheduler that shows nothing ends it with 3, and the line says how to have it shown', async (t) => {
  const address = await debugPages(t, {});
  const { code, stderr } = await why(['shop/big', `--debug-address=${address}`], () => []);
  assert.equal(code, 3);
  assert.match(stderr, /^dkc: Cannot read http:\/\/127\.0\.0\.1:\d+\/debug\/\S+: HTTP status 404; it must be the address of a scheduler started with --debug/); // prettier-ignore
});

test('dkc why pod asks the real decision', async () => {
  const { code, stdout } = await runCli(['why', 'pod', 'shop/big', '-o', 'json'], { connect });
  assert.equal(code, 0);
  const reasons = (JSON.parse(stdout) as Explained[]).map(({ reason }) => reason);
  for (const reason of ['NodeResourcesFit', 'NodeUnschedulable']) assert.ok(reasons.includes(reason), reasons.join());
});

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
const namesOf = (list: readonly { metadata: { name?: string } }[]): string => list.map(({ metadata }) => metadata.name).join();

test('kinds that the server has in another version, or not at all, are read as they are; one that may not be listed is no empty one', async () => {
  const old = serverThat((asked) => (/^poddisruptionbudgets v1$|^csi/.test(asked) ? refusal(404, 'NotFound') : undefined));
  const { budgets, capacities, csiNodes } = await readCluster(old.client, signal);
  assert.deepEqual([budgets, capacities, csiNodes].map(namesOf), ['poddisruptionbudgets v1beta1', '', '']);
  const { client } = serverThat((asked) => (asked.startsWith('poddisruptionbudgets') ? refusal(403, 'Forbidden') : undefined));
  await assert.rejects(readCluster(client, signal), ApiError);
});
