import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, nodes } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { hasTooManyValues, MAX_JSON_VALUES, type TooLarge, withoutManagedFields } from '../../../../kube/client/json-bytes.ts';
import { readList } from '../../../../kube/client/list-stream.ts';
import { decodeWatch } from '../../../../kube/client/watch-stream.ts';
import { standIn } from './api-stand-in.ts';
import { assert as holds, jsonValue, property, record, string } from 'fast-check';

const call = { method: 'GET', path: '/api/v1/nodes', host: 'h' };
const pad = ' '.repeat(MAX_JSON_VALUES);

const texts: { why: string; text: string; many: boolean }[] = [
  { why: 'a list of as many commas and brackets as are taken', text: `[${'0,'.repeat(MAX_JSON_VALUES - 1)}0]`, many: false },
  { why: 'one more', text: `[${'0,'.repeat(MAX_JSON_VALUES)}0]`, many: true },
  { why: 'lists in lists', text: '['.repeat(MAX_JSON_VALUES) + ']'.repeat(MAX_JSON_VALUES), many: false },
  { why: 'objects in a list', text: `[${'{},'.repeat(MAX_JSON_VALUES)}0]`, many: true },
  { why: 'members of one object', text: `{${'"a":0,'.repeat(MAX_JSON_VALUES / 2 + 1)}"a":0}`, many: true },
  { why: 'marks in a string', text: `["${'[{:,'.repeat(MAX_JSON_VALUES)}"]`, many: false },
  { why: 'a quote that is escaped', text: `["${String.raw`\",`.repeat(MAX_JSON_VALUES)}"]`, many: false },
  { why: 'a backslash that is escaped before the end of a string', text: `["\\\\"${',0'.repeat(MAX_JSON_VALUES + 1)}]`, many: true },
  { why: 'many strings', text: `[${'"",'.repeat(MAX_JSON_VALUES + 1)}0]`, many: true },
  { why: 'a string that never ends', text: `${pad}"`, many: false },
  { why: 'blanks', text: `${pad}{}`, many: false },
];
for (const { why, text, many } of texts)
  test(`values are counted outside of strings: ${why}`, () => assert.equal(hasTooManyValues(Buffer.from(text)), many));

const odd = {
  kind: 'Node',
  metadata: { name: 'odd', uid: 'u', resourceVersion: '7', annotations: {} },
  spec: Array.from({ length: MAX_JSON_VALUES }, () => []),
};
const left = { name: 'odd', uid: 'u', resourceVersion: '7' };

test('an item of a list with too many values is left out by its name, and the others are read', async () => {
  const read = async (skipped?: (what: TooLarge) => void): Promise<string[]> => {
    const names: string[] = [];
    async function* body() {
      yield Buffer.from(
        JSON.stringify({ kind: 'NodeList', metadata: {}, items: [{ metadata: { name: 'a' } }, odd, { metadata: { name: 'b' } }] }),
      );
    }
    const each = ({ metadata }: KubeObject): void => void names.push(metadata.name ?? '');
    await readList(body(), { resource: nodes, call, each, longestItem: 2 ** 24, skipped, pause: () => Promise.resolve() });
    return names;
  };
  const skipped: TooLarge[] = [];
  assert.deepEqual(await read((what) => skipped.push(what)), ['a', 'b']);
  assert.deepEqual(skipped, [{ of: 'values', type: undefined, metadata: left }]);
  await assert.rejects(read(), { problem: 'too-large', message: /an item has more than 100000 values/ });
});

test('an item whose values are in its managed fields is read as a watch reads it, without them', async () => {
  const managedFields = [{ fieldsV1: Object.fromEntries(Array.from({ length: MAX_JSON_VALUES }, (_, at) => [`f:${at}`, {}])) }];
  async function* body() {
    yield Buffer.from(
      JSON.stringify({ kind: 'NodeList', metadata: {}, items: [{ metadata: { name: 'a', managedFields }, spec: { x: 1 } }] }),
    );
  }
  const items: KubeObject[] = [];
  const each = (item: KubeObject): void => void items.push(item);
  await readList(body(), { resource: nodes, call, each, longestItem: 2 ** 24, pause: () => Promise.resolve() });
  assert.deepEqual(items, [{ metadata: { name: 'a' }, spec: { x: 1 } }]);
});

test('an event with too many values is left out by its name, and those behind it come', async () => {
  const small = { metadata: { name: 'a', resourceVersion: '8' } };
  const lines = [odd, small].map((object) => `${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  const decode = async (text: string, skipped?: (what: TooLarge) => void): Promise<(string | undefined)[]> => {
    async function* body() {
      yield Buffer.from(text);
    }
    const names: (string | undefined)[] = [];
    for await (const { object } of decodeWatch<KubeObject>(body(), call, 2 ** 24, { skipped })) names.push(object.metadata.name);
    return names;
  };
  const skipped: TooLarge[] = [];
  assert.deepEqual(await decode(lines.join(''), (what) => skipped.push(what)), ['a']);
  assert.deepEqual(skipped, [{ of: 'values', type: 'MODIFIED', metadata: left }]);
  await assert.rejects(decode(lines.join('')), { problem: 'too-large', message: /an event of more than 100000 values/ });
  await assert.rejects(decode(lines[0]?.trimEnd() ?? ''), { problem: 'too-large' }, 'also without its newline');
});

test(
  'one object with too many values is an error that says which; a long list of ordinary ones is none',
  { timeout: 60_000 },
  async (t) => {
    const many = Array.from({ length: 60_000 }, () => ({ metadata: { name: 'n', labels: { a: 'b' } } }));
    await using server = await standIn('http', ({ url = '' }, response) => {
      const list = { kind: 'NodeList', metadata: {}, items: many };
      const answer = url.includes('fieldSelector') ? { ...list, items: [odd] } : url.endsWith('/odd') ? odd : list;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    const client = createClient({ origin: 'test', server: server.url });
    t.after(() => client.close());
    const why = { problem: 'too-large', message: /GET \/api\/v1\/nodes.*the object has more than 100000 values/ };
    await assert.rejects(client.get(nodes, { name: 'odd' }), why);
    await assert.rejects(client.list(nodes, { fieldSelector: 'metadata.name=odd' }), why);
    assert.equal((await client.list(nodes)).items.length, 60_000);
  },
);

test('an object of more bytes than a client takes is left out of lists and watches by its name', { timeout: 60_000 }, async (t) => {
  const big = { ...odd, metadata: { ...odd.metadata, name: 'big' }, spec: '<'.repeat(2_000) };
  const small = { metadata: { name: 'a', resourceVersion: '8' } };
  await using server = await standIn('http', ({ url = '' }, response) => {
    const events = [big, small].map((object) => `${JSON.stringify({ type: 'MODIFIED', object })}\n`);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(url.includes('watch=true') ? events.join('') : JSON.stringify({ kind: 'NodeList', metadata: {}, items: [big, small] }));
  });
  const client = createClient({ origin: 'test', server: server.url }, { largestObject: 1_000 });
  t.after(() => client.close());
  const seen: unknown[] = [];
  const skipped = ({ metadata }: TooLarge) => void seen.push(`not ${metadata?.name}`);
  await client.listEach(nodes, {}, ({ metadata }) => void seen.push(metadata.name), { skipped });
  for await (const { object } of client.watch(nodes, { skipped }, new AbortController().signal)) seen.push(object.metadata.name);
  assert.deepEqual(seen, ['not big', 'a', 'not big', 'a']);
});

const lean = (text: string): string => Buffer.from(withoutManagedFields(Buffer.from(text))).toString();
const event = (object: string): string => `{"type":"MODIFIED","object":${object}}`;
const fields = String.raw`[{"manager":"a","fieldsV1":{"f:spec":{"k:{\"name\":\"]}\"}":{".":{}}}}}]`;

const cases = [
  {
    why: 'takes them out where servers write them',
    text: event(`{"kind":"Pod","metadata":{"name":"a","managedFields":${fields}},"spec":{"x":[1]}}`),
    left: event('{"kind":"Pod","metadata":{"name":"a"},"spec":{"x":[1]}}'),
  },
  { why: 'takes out empty ones', text: event('{"metadata":{"name":"a","managedFields":[]}}'), left: event('{"metadata":{"name":"a"}}') },
  { why: 'leaves what has none', text: event('{"metadata":{"name":"a"}}') },
  {
    why: 'leaves those of a template',
    text: event(`{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"x":1,"managedFields":${fields}}}}}`),
  },
  { why: 'leaves what a spec calls so', text: event('{"metadata":{"name":"a"},"spec":{"x":1,"managedFields":[1]}}') },
  { why: 'leaves what is called so in a list', text: event('{"metadata":[1,{"x":1,"managedFields":[1]}]}') },
  { why: 'leaves those that come first', text: event(`{"metadata":{"managedFields":${fields},"name":"a"}}`) },
  {
    why: 'leaves a list of that name in text',
    text: event(String.raw`{"metadata":{"annotations":{"a":"{\"x\":1,\"managedFields\":[1]}"}}}`),
  },
  { why: 'leaves a list without an end', text: '{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[{"x":"' },
  { why: 'leaves a field of that name at the root', text: '{"type":"ADDED","managedFields":[1],"object":{"metadata":{}}}' },
];
for (const { why, text, left = text } of cases) test(`an event without managed fields ${why}`, () => assert.equal(lean(text), left));

test('an event without managed fields is otherwise what it was', () => {
  const shape = record({ name: string(), annotations: jsonValue(), managedFields: jsonValue() });
  holds(
    property(shape, jsonValue(), jsonValue(), (metadata, spec, before) => {
      const whole = { type: 'ADDED', object: { before, metadata, spec } };
      const { managedFields, ...rest } = metadata;
      const expected = Array.isArray(managedFields) ? { ...whole, object: { ...whole.object, metadata: rest } } : whole;
      const seen: unknown = JSON.parse(lean(JSON.stringify(whole)));
      // What stands before may hold a list of that name too: then the whole is left, and the parser sees all of it.
      if (!JSON.stringify(before).includes('managedFields')) assert.deepEqual(seen, JSON.parse(JSON.stringify(expected)));
    }),
  );
});
