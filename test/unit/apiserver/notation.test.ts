import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorsText, invalidValue, prohibited, required, tooLong } from '../../../apiserver/errors.ts';
import { formatOf, resourceRequest } from '../../../apiserver/http/message.ts';
import { decodeBySchema } from '../../../apiserver/handlers/incoming.ts';
import { int32 as integer, list, object, quantityMap, text as aText, textMap } from '../../../apiserver/openapi/schema.ts';
import { humanDuration } from '../../../apiserver/kinds/kind.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const durations: [number, string][] = [
  [-5 * second, '<invalid>'],
  [0, '0s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [3 * minute + 20 * second, '3m20s'],
  [10 * minute + 59 * second, '10m'],
  [179 * minute, '179m'],
  [5 * hour + 10 * minute, '5h10m'],
  [8 * hour + 59 * minute, '8h'],
  [47 * hour, '47h'],
  [2 * day + 4 * hour, '2d4h'],
  [8 * day + 4 * hour, '8d'],
  [729 * day, '729d'],
  [760 * day, '2y30d'],
  [8 * 365 * day + day, '8y'],
];
for (const [ms, short] of durations) test(`${ms} ms is ${short}`, () => assert.equal(humanDuration(ms), short));

const routes = [
  { ask: 'GET /api/v1/nodes', is: 'list v1 nodes' },
  { ask: 'GET /api/v1/nodes?watch=true', is: 'watch v1 nodes' },
  { ask: 'GET /api/v1/nodes/a', is: 'get v1 nodes name=a' },
  { ask: 'PATCH /api/v1/nodes/a/status', is: 'patch v1 nodes name=a sub=status' },
  { ask: 'POST /api/v1/namespaces/ns/configmaps', is: 'create v1 configmaps ns=ns' },
  { ask: 'DELETE /api/v1/namespaces/ns/configmaps', is: 'deletecollection v1 configmaps ns=ns' },
  { ask: 'GET /api/v1/namespaces/ns', is: 'get v1 namespaces name=ns' },
  { ask: 'PUT /api/v1/namespaces/ns/status', is: 'update v1 namespaces name=ns sub=status' },
  { ask: 'GET /apis/events.k8s.io/v1/events', is: 'list events.k8s.io/v1 events' },
  { ask: 'GET /apis/coordination.k8s.io/v1/namespaces/ns/leases/l', is: 'get coordination.k8s.io/v1 leases ns=ns name=l' },
  { ask: 'GET /api/v1/namespaces/a%20b/pods/c%3Ad', is: 'get v1 pods ns=a b name=c:d' },
  { ask: 'GET /api/v1', is: 'nothing' },
  { ask: 'GET /apis/apps', is: 'nothing' },
  { ask: 'GET /version', is: 'nothing' },
  { ask: 'GET /api/v1/namespaces//configmaps', is: 'nothing' },
];
for (const { ask, is } of routes) {
  test(`${ask} means ${is}`, () => {
    const [method = '', target = ''] = ask.split(' ');
    const [path = '', query = ''] = target.split('?');
    const found = resourceRequest(method, path, new URLSearchParams(query));
    const words = found && [
      found.verb,
      found.group === '' ? found.version : `${found.group}/${found.version}`,
      found.resource,
      ...(found.namespace === '' ? [] : [`ns=${found.namespace}`]),
      ...(found.name === '' ? [] : [`name=${found.name}`]),
      ...(found.subresource === '' ? [] : [`sub=${found.subresource}`]),
    ];
    assert.equal(words?.join(' ') ?? 'nothing', is);
  });
}

const accepts = [
  { header: '', as: undefined },
  { header: '*/*', as: undefined },
  { header: 'application/json', as: undefined },
  { header: 'application/vnd.kubernetes.protobuf, application/json', as: undefined },
  { header: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json', as: 'Table' },
  { header: 'application/json; as=Table; v=v1beta1; g=meta.k8s.io', as: 'Table' },
  { header: 'application/json;as=Table;v=v9;g=meta.k8s.io,application/json', as: undefined },
  { header: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', as: 'PartialObjectMetadataList' },
];
for (const { header, as } of accepts) test(`Accept: ${header} asks for ${as ?? 'the object'}`, () => assert.equal(formatOf(header).as, as));
test('Accept of what cannot be written is 406', () =>
  assert.throws(() => formatOf('application/json;as=Table;v=v9;g=meta.k8s.io'), { code: 406 }));

test('one error stands plain, several in brackets, a repeated one once', () => {
  const [name, size] = [required('a.b', 'must be set'), tooLong('', 5)];
  assert.equal(fieldErrorsText([name]), 'a.b: Required value: must be set');
  assert.equal(fieldErrorsText([name, name, size]), '[a.b: Required value: must be set, : Too long: must have at most 5 bytes]');
  assert.equal(fieldErrorsText([invalidValue('c', 'x"y', 'bad')]), String.raw`c: Invalid value: "x\"y": bad`);
  assert.equal(fieldErrorsText([prohibited('d', 'no')]), 'd: Forbidden: no');
});

const schema = object(
  '',
  { name: aText(''), count: integer(''), data: textMap(''), capacity: quantityMap(''), items: list('', aText('')) },
  ['name'],
);
const decodings: { given: unknown; kept: unknown }[] = [
  { given: { name: '', unknown: 1 }, kept: { name: '' } },
  { given: { name: 'a', count: null, data: {}, items: [] }, kept: { name: 'a' } },
  { given: { data: { a: null, b: 'c' } }, kept: { data: { a: '', b: 'c' } } },
  { given: { capacity: { cpu: 4, memory: '1Gi' } }, kept: { capacity: { cpu: '4', memory: '1Gi' } } },
];
for (const { given, kept } of decodings) {
  test(`${JSON.stringify(given)} is kept as ${JSON.stringify(kept)}`, () => assert.deepEqual(decodeBySchema(given, schema, ''), kept));
}
for (const given of [{ name: 1 }, { count: 1.5 }, { count: '1' }, { data: [] }, { data: { a: 1 } }, { items: 'x' }, { items: [1] }, []]) {
  test(`${JSON.stringify(given)} is of the wrong type`, () => assert.throws(() => decodeBySchema(given, schema, ''), { code: 400 }));
}
