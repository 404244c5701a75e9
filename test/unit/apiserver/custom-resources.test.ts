import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { byVersion } from '../../../apiserver/crd/custom-kind.ts';
import type { LocalApi } from '../../../apiserver/local-api.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import type { ApiError } from '../../../kube/client/errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { table } from '../../support/table.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

type Value = { object: { metadata?: object }; kept?: object; refused?: string[] };
const url = new URL('../../../fixtures/custom-values.json', import.meta.url);
const recorded: { definition: KubeObject; cases: Value[] } = JSON.parse(readFileSync(url, 'utf8'));

const kind = (group: string, resource: string, name: string, namespaced: boolean): Resource => ({ group, version: 'v1', resource, kind: name, namespaced }); // prettier-ignore
const definitions = kind('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', false);
const things = kind('test.io', 'things', 'Thing', true);
const at = { name: 'a', namespace: 'default' };
const thing = (rest: object = {}, metadata: object = {}): KubeObject => ({ apiVersion: 'test.io/v1', kind: 'Thing', metadata: { ...at, ...metadata }, ...rest }); // prettier-ignore

type Spec = { versions: Record<string, unknown>[]; names: Record<string, unknown>; scope?: string };
function define(change: (spec: Spec) => unknown = () => {}): KubeObject {
  const definition = structuredClone(recorded.definition);
  change(definition['spec'] as Spec);
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
  for (const { object, kept, refused } of recorded.cases)
    test(JSON.stringify(object), async () => {
      api.add({ ...recorded.definition });
      const made = client.create<KubeObject>(things, { ...thing(object), metadata: { ...at, ...object.metadata } }, { dryRun: true });
      if (refused === undefined) {
        const { spec, status } = await made;
        assert.deepEqual({ ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) }, kept);
      } else
        await assert.rejects(made, (error: { details: { causes: { field: string; message: string }[] } }) => {
          const told = error.details.causes.map(({ field, message }) => `${field}: ${message}`);
          assert.deepEqual(told.toSorted(), refused.toSorted()); // the real one tells of fields in any order
          return true;
        });
    });
});

describe('a definition', () => {
  type Status = { conditions: { type: string; status: string; reason: string; message: string }[]; acceptedNames: object };

  test('is established, and its kind is served, from the moment it is there', async () => {
    const { conditions, acceptedNames } = (await client.create(definitions, define()))['status'] as Status;
    assert.deepEqual(conditions.map(({ type, status }) => `${type}=${status}`), ['NamesAccepted=True', 'Established=True']); // prettier-ignore
    const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList', shortNames: ['th'], categories: ['all'] };
    assert.deepEqual(acceptedNames, names);
    await client.create(things, thing({ spec: { i: 3 } }));
    assert.equal((await client.list(things)).kind, 'ThingList');
    const found = (await client.raw('GET', '/apis/test.io/v1')) as { resources: { name: string }[] };
    assert.deepEqual(found.resources.map(({ name }) => name), ['things', 'things/status']); // prettier-ignore
    const document = JSON.stringify(await client.raw('GET', '/openapi/v3/apis/test.io/v1'));
    for (const word of ['"Thing"', '"ios"', 'int-or-string']) assert.ok(document.includes(word), word);
  });

  test('that changes serves another version, and gives new defaults to old objects', async () => {
    const { metadata } = await client.create(definitions, define());
    await client.create(things, thing({ spec: {} }));
    const next = define(({ versions }) => versions.push({ ...versions[0], name: 'v2', storage: false }));
    await client.replace(definitions, { ...JSON.parse(JSON.stringify(next).replaceAll('"nn":{', '"nn":{"default":"new",')), metadata });
    assert.equal(((await client.raw('GET', '/apis/test.io')) as { preferredVersion: { version: string } }).preferredVersion.version, 'v2');
    assert.equal((await client.get({ ...things, version: 'v2' }, at)).apiVersion, 'test.io/v2');
    assert.deepEqual((await client.get(things, at))['spec'], { d: 7, do: { x: 'hi' }, nn: 'new' });
  });

  test('takes its objects with it, and goes when the last of them has gone', async () => {
    await client.create(definitions, define());
    await client.create(things, thing());
    await client.create(things, thing({}, { name: 'held', finalizers: ['test.io/held'] }));
    const definition = { name: 'things.test.io' };
    await client.delete(definitions, definition);
    await api.hooks.settled();
    assert.deepEqual((await client.list(things)).items.map(({ metadata }) => metadata.name), ['held']); // prettier-ignore
    const { conditions } = (await client.get(definitions, definition))['status'] as Status;
    assert.equal(conditions[2]?.reason, 'InstanceDeletionInProgress');
    const says = 'create not allowed while custom resource definition is terminating';
    await assert.rejects(client.create(things, thing({}, { name: 'late' })), { code: 405, serverMessage: says });
    await client.patch(things, { ...at, name: 'held' }, { metadata: { finalizers: null } }, { type: 'merge' });
    await api.hooks.settled();
    await assert.rejects(client.get(definitions, definition), { code: 404 });
    await assert.rejects(client.list(things), { code: 404 });
  });

  const wrong: [why: string, change: (spec: Spec) => unknown, says: string][] = [
    ['without a schema', ({ versions }) => delete versions[0]?.['schema'], 'openAPIV3Schema: Required value: schemas are required'],
  ];
  // Schemas in YAML.
  const nodes = table('node | says')(`
    {} | [x].type: Required value: must not be empty for specified object fields
    {type: array} | [x].items: Required value: must be specified
    {type: integer, default: a} | [x].default: Invalid value: "string":  in body must be of type integer: "string"
    {type: object, anyOf: [{type: object}]} | [x].anyOf[0].type: Forbidden: must be empty to be structural
    {type: string, pattern: (} | [x].pattern: Invalid value: "("
    {type: object, properties: {a: {type: string}}, additionalProperties: {type: string}} | additionalProperties and properties are mutual exclusive
  `);
  for (const { node, says } of nodes) {
    const schema = { openAPIV3Schema: { type: 'object', properties: { x: parse(node) as object } } };
    wrong.push([`with the schema ${node}`, ({ versions }) => Object.assign(versions[0] ?? {}, { schema }), says]);
  }
  for (const [why, change, says] of wrong)
    test(`is refused ${why}`, () =>
      assert.rejects(client.create(definitions, define(change)), ({ code, message }: ApiError) => code === 422 && message.includes(says)));
});

describe('an object of a custom kind', () => {
  beforeEach(async () => {
    api.add({ ...recorded.definition });
    await client.create(things, thing({ spec: { i: 3 }, status: { r: 1 } }));
  });
  const seen = async () => {
    const { spec, status, metadata } = await client.get(things, at);
    return [(spec as { i: number }).i, status, metadata.generation];
  };

  test('has a status that only its subresource writes, and a generation that counts the rest', async () => {
    assert.deepEqual(await seen(), [3, undefined, 1]);
    await client.patch(things, at, { spec: { i: 2 }, status: { r: 5 } }, { type: 'merge', subresource: 'status' });
    assert.deepEqual(await seen(), [3, { r: 5 }, 1]);
    await client.patch(things, at, { spec: { i: 4 }, status: null }, { type: 'merge' });
    assert.deepEqual(await seen(), [4, { r: 5 }, 2]);
  });

  test('is validated when it is patched, not merged strategically, and not replaced without its version', async () => {
    await assert.rejects(client.patch(things, at, { spec: {} }, { type: 'strategic' }), { code: 415 });
    await assert.rejects(client.replace(things, thing()), { code: 422 });
    await assert.rejects(client.patch(things, at, { spec: { i: 9 } }, { type: 'merge' }), { code: 422 });
    assert.deepEqual(await seen(), [3, undefined, 1]);
  });
});

test('versions are preferred as group discovery orders them', () => {
  const names = ['v1alpha1', 'foo', 'v1', 'v1beta2', 'v10', 'v2', 'v1beta1', 'bar'];
  assert.deepEqual(names.toSorted(byVersion), ['v10', 'v2', 'v1', 'v1beta2', 'v1beta1', 'v1alpha1', 'bar', 'foo']);
});
