import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { byVersion, isJsonPath, valuesAt } from '../../../apiserver/crd/custom-kind.ts';
import type { LocalApi } from '../../../apiserver/local-api.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import type { ApiError } from '../../../kube/client/errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { table } from '../../support/table.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

type Value = { object: object; kept?: object; refused?: string[] };
const recorded: { definition: KubeObject; cases: Value[] } = JSON.parse(
  readFileSync(new URL('../../../fixtures/custom-values.json', import.meta.url), 'utf8'),
);

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const things: Resource = { group: 'test.io', version: 'v1', resource: 'things', kind: 'Thing', namespaced: true };
const thing = (name: string, rest: object = {}): KubeObject => ({
  apiVersion: 'test.io/v1',
  kind: 'Thing',
  metadata: { name, namespace: 'default' },
  ...rest,
});

function define(
  change: (spec: { versions: Record<string, unknown>[]; names: Record<string, unknown>; scope?: string }) => void = () => {},
) {
  const definition = structuredClone(recorded.definition);
  change(definition['spec'] as Parameters<typeof change>[0]);
  return definition;
}

let api: LocalApi;
let client: Client;
beforeEach(() => {
  const clock = new FakeClock();
  api = localApi(clock);
  client = localClient(api, { clock });
});

describe('a custom resource is held to its schema as by a real server', () => {
  for (const { object, kept, refused } of recorded.cases) {
    test(JSON.stringify(object), async () => {
      api.add({ ...recorded.definition });
      const given: KubeObject = { ...thing('t'), ...object, metadata: { name: 't', namespace: 'default', ...metadataOf(object) } };
      const made = client.create(things, given, { dryRun: true });
      if (refused === undefined) {
        const { spec, status } = await made;
        assert.deepEqual({ ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) }, kept);
      } else {
        await assert.rejects(made, (error: { details: { causes: { field: string; message: string }[] } }) => {
          const told = error.details.causes.map(({ field, message }) => `${field}: ${message}`);
          // The real one tells of fields in any order.
          assert.deepEqual(told.toSorted(), refused.toSorted());
          return true;
        });
      }
    });
  }
});

function metadataOf(object: object): object {
  return 'metadata' in object && typeof object.metadata === 'object' ? (object.metadata ?? {}) : {};
}

describe('a definition', () => {
  test('is established, and its kind is served, from the moment it is there', async () => {
    const made = await client.create(definitions, define());
    const { conditions, acceptedNames, storedVersions } = made['status'] as Record<string, { type: string; status: string }[]>;
    assert.deepEqual(
      conditions?.map(({ type, status }) => `${type}=${status}`),
      ['NamesAccepted=True', 'Established=True'],
    );
    assert.deepEqual(acceptedNames, {
      plural: 'things',
      singular: 'thing',
      kind: 'Thing',
      listKind: 'ThingList',
      shortNames: ['th'],
      categories: ['all'],
    });
    assert.deepEqual(storedVersions, ['v1']);
    await client.create(things, thing('a', { spec: { i: 3 } }));
    const list = await client.list(things);
    assert.equal(list.kind, 'ThingList');
    const found = (await client.raw('GET', '/apis/test.io/v1')) as { resources: { name: string; shortNames?: string[] }[] };
    assert.deepEqual(
      found.resources.map(({ name }) => name),
      ['things', 'things/status'],
    );
  });

  test('changes what is served when it changes', async () => {
    await client.create(definitions, define());
    const { metadata } = await client.get(definitions, { name: 'things.test.io' });
    await client.replace(definitions, {
      ...define(({ versions }) => {
        versions.push({ ...versions[0], name: 'v2', storage: false });
      }),
      metadata,
    });
    const groups = (await client.raw('GET', '/apis/test.io')) as { preferredVersion: { version: string } };
    assert.equal(groups.preferredVersion.version, 'v2');
    await client.create(things, thing('a', { spec: { i: 3 } }));
    const other = await client.get({ ...things, version: 'v2' }, { name: 'a', namespace: 'default' });
    assert.equal(other.apiVersion, 'test.io/v2');
  });

  test('gives new defaults to old objects', async () => {
    await client.create(definitions, define());
    await client.create(things, thing('a', { spec: {} }));
    const { metadata } = await client.get(definitions, { name: 'things.test.io' });
    const changed = JSON.parse(JSON.stringify(define()).replace('"default":7', '"default":8').replace('"nn":{', '"nn":{"default":"new",'));
    await client.replace(definitions, { ...changed, metadata });
    assert.deepEqual((await client.get(things, { name: 'a', namespace: 'default' }))['spec'], { d: 7, do: { x: 'hi' }, nn: 'new' });
  });

  test('takes its objects with it, and goes when the last of them has gone', async () => {
    await client.create(definitions, define());
    await client.create(things, thing('a'));
    const held = thing('held');
    await client.create(things, { ...held, metadata: { ...held.metadata, finalizers: ['test.io/held'] } });
    await client.delete(definitions, { name: 'things.test.io' });
    await api.hooks.settled();
    assert.deepEqual(
      (await client.list(things)).items.map(({ metadata }) => metadata.name),
      ['held'],
    );
    const { status } = await client.get(definitions, { name: 'things.test.io' });
    assert.equal((status as { conditions: { reason: string }[] }).conditions[2]?.reason, 'InstanceDeletionInProgress');
    await assert.rejects(client.create(things, thing('late')), {
      code: 405,
      serverMessage: 'create not allowed while custom resource definition is terminating',
    });
    await client.patch(things, { name: 'held', namespace: 'default' }, { metadata: { finalizers: null } }, { type: 'merge' });
    await api.hooks.settled();
    await assert.rejects(client.get(definitions, { name: 'things.test.io' }), { code: 404 });
    await assert.rejects(client.list(things), { code: 404 });
  });

  test('whose names are taken is not served', async () => {
    await client.create(definitions, define());
    const second = define(({ names }) => Object.assign(names, { plural: 'others', singular: 'other' }));
    const made = await client.create<KubeObject>(definitions, { ...second, metadata: { name: 'others.test.io' } });
    const [names, established] = (made['status'] as { conditions: { reason: string; message: string }[] }).conditions;
    assert.equal(names?.message, '"ThingList" is already in use');
    assert.equal(established?.reason, 'NotAccepted');
    await assert.rejects(client.list({ ...things, resource: 'others' }), { code: 404 });
  });

  const wrong: [why: string, change: Parameters<typeof define>[0], says: RegExp][] = [
    ['without a schema', ({ versions }) => delete versions[0]?.['schema'], /openAPIV3Schema: Required value: schemas are required/],
    ['without a storage version', ({ versions }) => Object.assign(versions[0] ?? {}, { storage: false }), /exactly one version/],
    ['of another scope', (spec) => Object.assign(spec, { scope: 'X' }), /spec.scope: Unsupported value: "X"/],
    ['of another name', ({ names }) => Object.assign(names, { plural: 'x' }), /must be spec\.names\.plural\+"\."\+spec\.group/],
  ];
  for (const [why, change, says] of wrong) {
    test(`is refused ${why}`, () => assert.rejects(client.create(definitions, define(change)), { code: 422, message: says }));
  }

  // Schemas in YAML.
  const nodes = table('node | says')(`
    {} | [x].type: Required value: must not be empty for specified object fields
    {type: foo} | [x].type: Unsupported value: "foo"
    {type: array} | [x].items: Required value: must be specified
    {type: integer, default: a} | [x].default: Invalid value: "string":  in body must be of type integer: "string"
    {type: object, anyOf: [{type: object}]} | [x].anyOf[0].type: Forbidden: must be empty to be structural
    {type: string, pattern: (} | [x].pattern: Invalid value: "("
    {type: string, $ref: '#/a'} | [x].$ref: Forbidden: $ref is not supported
    {type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}
      | additionalProperties and properties are mutual exclusive
  `);
  for (const { node, says } of nodes) {
    test(`is refused with a schema that is not structural: ${node}`, () => {
      const schema = { openAPIV3Schema: { type: 'object', properties: { x: parse(node) as object } } };
      const definition = define(({ versions }) => Object.assign(versions[0] ?? {}, { schema }));
      return assert.rejects(
        client.create(definitions, definition),
        (error: ApiError) => error.code === 422 && error.message.includes(says),
      );
    });
  }
});

describe('an object of a custom kind', () => {
  const at = { name: 'a', namespace: 'default' };
  beforeEach(async () => {
    api.add({ ...recorded.definition });
    await client.create(things, thing('a', { spec: { i: 3 }, status: { r: 1 } }));
  });

  test('has a status that only its subresource writes, and a generation that counts the rest', async () => {
    assert.equal((await client.get(things, at))['status'], undefined);
    await client.patch(things, at, { spec: { i: 2 }, status: { r: 5 } }, { type: 'merge', subresource: 'status' });
    const found = await client.get(things, at);
    assert.deepEqual(found['status'], { r: 5 });
    assert.equal((found['spec'] as { i: number }).i, 3);
    assert.equal(found.metadata.generation, 1);
    await client.patch(things, at, { spec: { i: 4 }, status: null }, { type: 'merge' });
    const changed = await client.get(things, at);
    assert.deepEqual(changed['status'], { r: 5 });
    assert.equal(changed.metadata.generation, 2);
  });

  test('is not merged strategically, and not replaced without its version', async () => {
    await assert.rejects(client.patch(things, at, { spec: {} }, { type: 'strategic' }), { code: 415 });
    await assert.rejects(client.replace(things, thing('a')), { code: 422 });
  });

  test('is validated when it is patched, and left as it was when that fails', async () => {
    await assert.rejects(client.patch(things, at, { spec: { i: 9 } }, { type: 'merge' }), { code: 422 });
    await assert.rejects(client.patch(things, at, [{ op: 'add', path: '/spec/s', value: 'b' }], { type: 'json' }), { code: 422 });
    assert.equal(((await client.get(things, at))['spec'] as { i: number }).i, 3);
  });

  test('is shown with the columns of its definition', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = (await client.raw('GET', '/apis/test.io/v1/things', { accept })) as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    assert.deepEqual(
      table.columnDefinitions.map(({ name }) => name),
      ['Name', 'I'],
    );
    assert.deepEqual(table.rows[0]?.cells, ['a', 3]);
  });

  test('is described in the OpenAPI documents', async () => {
    const document = JSON.stringify(await client.raw('GET', '/openapi/v3/apis/test.io/v1'));
    for (const word of ['"Thing"', '"ios"', 'int-or-string']) assert.ok(document.includes(word), word);
  });
});

describe('a JSON path', () => {
  const object = {
    spec: { replicas: 3, list: [{ name: 'a', on: 'yes' }, { name: 'b' }] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
    metadata: { labels: { 'a.b/c': 'x' } },
  };
  const cases = [
    { path: '.spec.replicas', found: [3] },
    { path: '.spec.list[1].name', found: ['b'] },
    { path: '.spec.list[-1].name', found: ['b'] },
    { path: '.spec.list[*].name', found: ['a', 'b'] },
    { path: '.status.conditions[?(@.type=="Ready")].status', found: ['True'] },
    { path: ".metadata.labels['a.b/c']", found: ['x'] },
    { path: '.metadata.labels.a\\.b/c', found: ['x'] },
    { path: '.spec.nothing.there', found: [] },
    { path: '.spec.__proto__', found: [] },
  ];
  for (const { path, found } of cases) test(path, () => assert.deepEqual(valuesAt(object, path), found));
  for (const path of ['spec', '.a[', '.a[?(@.b)]', '{.a}']) test(`${path} is none`, () => assert.equal(isJsonPath(path), false));
});

test('versions are preferred as group discovery orders them', () => {
  const names = ['v1alpha1', 'foo', 'v1', 'v1beta2', 'v10', 'v2', 'v1beta1', 'bar'];
  assert.deepEqual(names.toSorted(byVersion), ['v10', 'v2', 'v1', 'v1beta2', 'v1beta1', 'v1alpha1', 'bar', 'foo']);
});
