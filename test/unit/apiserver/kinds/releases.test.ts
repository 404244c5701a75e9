import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBySchema } from '../../../../apiserver/handlers/incoming.ts';
import { parseTypes, schemaAt } from '../../../../apiserver/openapi/schema.ts';
import { ApiHttp } from '../../../support/api-http.ts';
import type { Loose } from '../../../support/api-http.ts';
import { started } from '../started.ts';

const types = parseTypes(`
test.v1.Thing
  name! text; count int32; most* int32; inner+ Inner; items [Inner] by key; labels {text}; when+33 time; port+ intOrText; modern* flag @29
test.v1.Inner
  key! text; size quantity; on flag
`);

const decoded = [
  { why: 'writes what is never absent', given: {}, at: 20, is: { name: '', inner: { key: '' }, when: null, port: 0 } },
  { why: 'drops zeros', given: { count: 0, labels: {}, items: [] }, at: 34, is: { name: '', inner: { key: '' }, port: 0 } },
  { why: 'keeps a zero that was meant', given: { most: 0 }, at: 34, is: { name: '', most: 0, inner: { key: '' }, port: 0 } },
  { why: 'prunes what is unknown', given: { foo: 1 }, at: 34, is: { name: '', inner: { key: '' }, port: 0 } },
  { why: 'prunes what is of a later release', given: { modern: false }, at: 28, is: { name: '', inner: { key: '' }, when: null, port: 0 } },
  {
    why: 'keeps what is of this release',
    given: { modern: false },
    at: 29,
    is: { name: '', inner: { key: '' }, when: null, port: 0, modern: false },
  },
  {
    why: 'goes into lists, and writes quantities in one form',
    given: { items: [{ key: 'a', size: '1024Mi', on: false }] },
    at: 34,
    is: { name: '', inner: { key: '' }, items: [{ key: 'a', size: '1Gi' }], port: 0 },
  },
];

for (const { why, given, at, is } of decoded) {
  test(`decoding for 1.${at} ${why}`, () => {
    const schema = types.get('Thing');
    assert.ok(schema);
    assert.deepEqual(decodeBySchema(given, schemaAt(schema, at), ''), is);
  });
}

for (const [text, says] of [
  ['a.v1.A\n  b Nobody', /no type Nobody/],
  ['  b text', /fields without a type/],
  ['a.v1.A\n  b', /no field: b/],
  ['a.v1.A\n  b text @x', /no field/],
] as const) {
  test(`a table that cannot be read says so: ${JSON.stringify(text)}`, () => assert.throws(() => parseTypes(text), says));
}

const selector = { matchLabels: { a: 'b' } };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

interface Served {
  created: Loose;
  patch: (change: object) => Promise<{ code: number; json: Loose }>;
}

async function on(version: string, group: string, resource: string, body: object): Promise<Served> {
  const { server } = await started({ tls: false, version });
  const api = new ApiHttp({ url: server.url, ca: '', token: server.token });
  const path = `/${group === '' ? 'api' : 'apis'}/${group}${group === '' ? '' : '/'}v1/namespaces/default/${resource}`;
  const { json } = await api.post(path, { metadata: { name: 'x' }, ...body });
  stopping.push(() => server.stop());
  return { created: json, patch: (change) => api.patch(`${path}/x`, change) };
}

const stopping: (() => Promise<void>)[] = [];
const stopAll = async (): Promise<void> => {
  for (const stop of stopping.splice(0)) await stop();
};

// What the contract holds of defaults and of fields that do not change is not repeated here.
test('a DaemonSet surges, and not with pods unavailable as well', async (t) => {
  t.after(stopAll);
  const updateStrategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const { created, patch } = await on('v1.34.0', 'apps', 'daemonsets', { spec: { selector, template, updateStrategy } });
  assert.deepEqual(created['spec']?.['updateStrategy']?.['rollingUpdate'], { maxUnavailable: 0, maxSurge: 1 });
  const both = await patch({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } } });
  assert.match(JSON.stringify(both.json), /maxSurge: Invalid value: .*: may not be set when maxUnavailable is non-zero/);
});

test('a StatefulSet keeps half of a retention policy, and lets the fields of its release change', async (t) => {
  t.after(stopAll);
  const modern = { ordinals: { start: 2 }, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } };
  const { created, patch } = await on('v1.34.0', 'apps', 'statefulsets', { spec: { selector, template, serviceName: 's', ...modern } });
  assert.deepEqual(created['spec']?.['persistentVolumeClaimRetentionPolicy'], { whenDeleted: 'Delete', whenScaled: 'Retain' });
  assert.equal(created['status']?.['availableReplicas'], 0);
  assert.equal((await patch({ spec: { ordinals: { start: 1 }, revisionHistoryLimit: 3 } })).code, 200);
});

for (const [version, served] of [
  ['v1.20.2', ['v1beta1']],
  ['v1.22.0', ['v1', 'v1beta1']],
  ['v1.34.0', ['v1']],
] as const) {
  test(`${version} serves budgets as ${served.join(' and ')}`, async () => {
    const { server } = await started({ tls: false, version });
    const api = new ApiHttp({ url: server.url, ca: '', token: server.token });
    const group = await api.get('/apis/policy');
    assert.deepEqual(
      Object.values(group.json['versions'] ?? {}).map((one) => one['version']),
      served,
    );
    const made = await api.post(`/apis/policy/${served[0]}/namespaces/default/poddisruptionbudgets`, { metadata: { name: 'p' }, spec: {} });
    assert.equal(made.code, 201);
    for (const other of served) {
      const { json } = await api.get(`/apis/policy/${other}/namespaces/default/poddisruptionbudgets/p`);
      assert.equal(json['apiVersion'], `policy/${other}`);
    }
    await server.stop();
  });
}

test('a gated pod waits, says so, and only loses gates', async (t) => {
  t.after(stopAll);
  const spec = { schedulingGates: [{ name: 'g' }], containers: [{ name: 'c', image: 'i' }] };
  const { created, patch } = await on('v1.34.0', '', 'pods', { spec });
  assert.equal(created['status']?.['conditions']?.['0']?.['reason'], 'SchedulingGated');
  assert.equal((await patch({ spec: { schedulingGates: [{ name: 'h' }] } })).code, 422);
  assert.equal((await patch({ spec: { schedulingGates: [] } })).code, 200);
});
