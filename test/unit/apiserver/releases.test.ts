import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { decodeBySchema } from '../../../apiserver/handlers/incoming.ts';
import { parseTypes, schemaAt } from '../../../apiserver/openapi/schema.ts';
import { started } from './started.ts';

const types = parseTypes(`
test.v1.Thing
  name! text; count int32; most* int32; inner+ Inner; items [Inner] by key; labels {text}; when+33 time; port+ intOrText; modern* flag @29
test.v1.Inner
  key! text; size quantity; on flag
`);
const written = { name: '', inner: { key: '' }, port: 0 };
const decoded = [
  { why: 'writes what is never absent', given: {}, at: 20, is: { ...written, when: null } },
  { why: 'drops zeros and nulls', given: { count: 0, labels: {}, items: [], most: null }, at: 34, is: written },
  { why: 'keeps a zero that was meant', given: { most: 0 }, at: 34, is: { ...written, most: 0 } },
  { why: 'prunes what is unknown, or of a later release', given: { foo: 1, modern: false }, at: 28, is: { ...written, when: null } },
  { why: 'keeps what is of this release', given: { modern: false }, at: 29, is: { ...written, when: null, modern: false } },
  { why: 'writes quantities in one form', given: { items: [{ key: 'a', size: '1024Mi', on: false }] }, at: 34, is: { ...written, items: [{ key: 'a', size: '1Gi' }] } }, // prettier-ignore
];
const decode = (given: unknown, at: number) => decodeBySchema(given, schemaAt(types.get('Thing') ?? assert.fail(), at), '');
for (const { why, given, at, is } of decoded) test(`decoding for 1.${at} ${why}`, () => assert.deepEqual(decode(given, at), is));
async function on(t: TestContext, version: string, path: string, body: object) {
  const { server, api } = await started({ tls: false, version });
  t.after(() => server.stop());
  const { json: created } = await api.post(path, { metadata: { name: 'x' }, ...body });
  return { api, created, patch: (spec: object) => api.patch(`${path}/x`, { spec }) };
}
const sets = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } }; // prettier-ignore

test('a DaemonSet surges, and not with pods unavailable as well', async (t) => {
  const updateStrategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const { created, patch } = await on(t, 'v1.34.0', '/apis/apps/v1/namespaces/default/daemonsets', { spec: { ...sets, updateStrategy } });
  assert.deepEqual(created['spec']?.['updateStrategy']?.['rollingUpdate'], { maxUnavailable: 0, maxSurge: 1 });
  const both = await patch({ updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } });
  assert.match(JSON.stringify(both.json), /maxSurge: Invalid value: .*: may not be set when maxUnavailable is non-zero/);
});

test('a StatefulSet keeps half of a retention policy, and lets the fields of its release change', async (t) => {
  const spec = { ...sets, serviceName: 's', ordinals: { start: 2 }, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } };
  const { created, patch } = await on(t, 'v1.34.0', '/apis/apps/v1/namespaces/default/statefulsets', { spec });
  assert.deepEqual(created['spec']?.['persistentVolumeClaimRetentionPolicy'], { whenDeleted: 'Delete', whenScaled: 'Retain' });
  assert.equal(created['status']?.['availableReplicas'], 0);
  assert.equal((await patch({ ordinals: { start: 1 }, revisionHistoryLimit: 3 })).code, 200);
});

test('a gated pod waits, says so, and only loses gates', async (t) => {
  const spec = { schedulingGates: [{ name: 'g' }], containers: [{ name: 'c', image: 'i' }] };
  const { created, patch } = await on(t, 'v1.34.0', '/api/v1/namespaces/default/pods', { spec });
  assert.equal(created['status']?.['conditions']?.['0']?.['reason'], 'SchedulingGated');
  assert.equal((await patch({ schedulingGates: [{ name: 'h' }] })).code, 422);
  assert.equal((await patch({ schedulingGates: [] })).code, 200);
});

for (const [version, served] of [
  ['v1.20.2', ['v1beta1']],
  ['v1.22.0', ['v1', 'v1beta1']],
  ['v1.34.0', ['v1']],
] as const)
  // prettier-ignore
  test(`${version} serves budgets as ${served.join(' and ')}`, async (t) => {
    const path = (of: string) => `/apis/policy/${of}/namespaces/default/poddisruptionbudgets`;
    const { api } = await on(t, version, path(served[0]), { spec: {} });
    const { json } = await api.get('/apis/policy');
    assert.deepEqual(Object.values(json['versions'] ?? {}).map((one) => one['version']), served); // prettier-ignore
    for (const other of served) assert.equal((await api.get(`${path(other)}/x`)).json['apiVersion'], `policy/${other}`);
  });
