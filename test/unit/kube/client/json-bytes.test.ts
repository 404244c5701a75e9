import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, nodes } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { hasTooManyValues, MAX_JSON_VALUES, type TooLarge, withoutManagedFields } from '../../../../kube/client/json-bytes.ts';
import { readList } from '../../../../kube/client/list-stream.ts';
import { standIn } from './api-stand-in.ts';
import { decodeWatch } from '../../../../kube/client/watch-stream.ts';

const call = { method: 'GET', path: '/api/v1/nodes', host: 'h' };

const texts: [why: string, text: string, many: boolean][] = [
  ['a list of as many commas and brackets as are taken', `[${'0,'.repeat(MAX_JSON_VALUES - 1)}0]`, false],
  ['one more', `[${'0,'.repeat(MAX_JSON_VALUES)}0]`, true],
  ['objects in a list', `[${'{},'.repeat(MAX_JSON_VALUES)}0]`, true],
  ['members of one object', `{${'"a":0,'.repeat(MAX_JSON_VALUES / 2 + 1)}"a":0}`, true],
  ['marks in a string', `["${'[{:,'.repeat(MAX_JSON_VALUES)}"]`, false],
  ['a quote that is escaped', `["${String.raw`\",`.repeat(MAX_JSON_VALUES)}"]`, false],
  ['a backslash that is escaped before the end of a string', `["\\\\"${',0'.repeat(MAX_JSON_VALUES + 1)}]`, true],
  ['a string that never ends', `${' '.repeat(MAX_JSON_VALUES)}"`, false],
];
for (const [why, text, many] of texts)
  test(`values are counted outside of strings: ${why}`, () => assert.equal(hasTooManyValues(Buffer.from(text)), many));

const odd = {
  kind: 'Node',
  metadata: { name: 'odd', uid: 'u', resourceVersion: '7', annotations: {} },
  spec: Array.from({ length: MAX_JSON_VALUES }, () => []),
};
const left = { name: 'odd', uid: 'u', resourceVersion: '7' };

const read = async (list: KubeObject[], skipped?: (what: TooLarge) => void): Promise<KubeObject[]> => {
  const items: KubeObject[] = [];
  async function* body() {
    yield Buffer.from(JSON.stringify({ kind: 'NodeList', metadata: {}, items: list }));
  }
  const each = (item: KubeObject): void => void items.push(item);
  await readList(body(), { resource: nodes, call, each, longestItem: 2 ** 24, skipped, pause: () => Promise.resolve() });
  return items;
};

test('an item of a list with too many values is left out by its name, and the others are read, without managed fields', async () => {
  const managedFields = [{ fieldsV1: Object.fromEntries(Array.from({ length: MAX_JSON_VALUES }, (_, at) => [`f:${at}`, {}])) }];
  const skipped: TooLarge[] = [];
  const items = await read([odd, { metadata: { name: 'a', managedFields }, spec: { x: 1 } }], (what) => skipped.push(what));
  assert.deepEqual(items, [{ metadata: { name: 'a' }, spec: { x: 1 } }]);
  assert.deepEqual(skipped, [{ of: 'values', type: undefined, metadata: left }]);
  await assert.rejects(read([odd]), { problem: 'too-large', message: /an item has more than 100000 values/ });
});

test('a client tells which object has too many values, and leaves out of lists and watches what has too many bytes', async (t) => {
  const big = { ...odd, metadata: { ...odd.metadata, name: 'big' }, spec: '<'.repeat(2_000) };
  const small = { metadata: { name: 'a', resourceVersion: '8' } };
  await using server = await standIn('http', ({ url = '' }, response) => {
    const events = [big, small].map((object) => `${JSON.stringify({ type: 'MODIFIED', object })}\n`);
    const list = JSON.stringify({ kind: 'NodeList', metadata: {}, items: url.includes('fieldSelector') ? [odd] : [big, small] });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(url.includes('watch=true') ? events.join('') : url.endsWith('/odd') ? JSON.stringify(odd) : list);
  });
  const client = createClient({ origin: 'test', server: server.url }, { largestObject: 1_000_000 });
  const strict = createClient({ origin: 'test', server: server.url }, { largestObject: 1_000 });
  t.after(() => Promise.all([client.close(), strict.close()]));
  const why = { problem: 'too-large', message: /GET \/api\/v1\/nodes.*the object has more than 100000 values/ };
  await assert.rejects(client.get(nodes, { name: 'odd' }), why);
  await assert.rejects(client.list(nodes, { fieldSelector: 'metadata.name=odd' }), why);
  const seen: unknown[] = [];
  const skipped = ({ metadata }: TooLarge) => void seen.push(`not ${metadata?.name}`);
  await strict.listEach(nodes, {}, ({ metadata }) => void seen.push(metadata.name), { skipped });
  for await (const { object } of strict.watch(nodes, { skipped }, new AbortController().signal)) seen.push(object.metadata.name);
  assert.deepEqual(seen, ['not big', 'a', 'not big', 'a']);
});

const lean = (text: string): string => Buffer.from(withoutManagedFields(Buffer.from(text))).toString();
const event = (object: string): string => `{"type":"MODIFIED","object":${object}}`;
const fields = String.raw`[{"manager":"a","fieldsV1":{"f:spec":{"k:{\"name\":\"]}\"}":{".":{}}}}}]`;

const cases: [why: string, text: string, left?: string][] = [
  ['takes out empty ones', event('{"metadata":{"name":"a","managedFields":[]}}'), event('{"metadata":{"name":"a"}}')],
  ['leaves those of a template', event(`{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"x":1,"managedFields":${fields}}}}}`)],
  ['leaves what a spec calls so', event('{"metadata":{"name":"a"},"spec":{"x":1,"managedFields":[1]}}')],
  ['leaves a list of that name in text', event(String.raw`{"metadata":{"annotations":{"a":"{\"x\":1,\"managedFields\":[1]}"}}}`)],
  ['leaves a list without an end', '{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[{"x":"'],
];
for (const [why, text, left = text] of cases) test(`an event without managed fields ${why}`, () => assert.equal(lean(text), left));

const line = (type: string, metadata: object, more: object = {}) => `${JSON.stringify({ type, object: { metadata, ...more } })}\n`;
const first = line('ADDED', { resourceVersion: '1' });

/** Types, versions and what was left out, in `seen`. @throws what the decoder does */
async function decode(text: string | Uint8Array, seen: unknown[], { size = Infinity, skip = false } = {}): Promise<void> {
  const all = Buffer.from(text);
  async function* body() {
    for (let from = 0; from < all.length; from += size) yield all.subarray(from, from + size);
  }
  const options = skip ? { skipped: (what: unknown) => seen.push(what) } : {};
  for await (const { type, object } of decodeWatch<KubeObject>(body(), call, 500, options))
    seen.push(`${type} ${object.metadata.resourceVersion}`);
}

test('events come out as they went in, wherever the network cuts; blank lines and a last line without newline are fine', async () => {
  const text = `\n\r\n \n${first}${line('BOOKMARK', { resourceVersion: '2', name: 'ä€😀' })}${line('DELETED', { resourceVersion: '3' }).trim()}`;
  for (const size of [1, 2, 7, Infinity]) {
    const seen: unknown[] = [];
    await decode(text, seen, { size });
    assert.deepEqual(seen, ['ADDED 1', 'BOOKMARK 2', 'DELETED 3'], `cut every ${size}`);
  }
});

const refused: [why: string, body: string | Uint8Array, error: object][] = [
  ['is cut off', '{"type":"ADDED","obj', { problem: 'cut', message: /ended in the middle of an event/ }],
  ['is cut inside a letter', Buffer.from('{"type":"ADDED","object":{"metadata":{"name":"ä').subarray(0, -1), { problem: 'cut' }],
  ['is no JSON', '<html>\n', { problem: 'garbage', message: /is this a Kubernetes API server/ }],
  ['is no UTF-8', Buffer.from([0x22, 0xff, 0x22, 0x0a]), { problem: 'garbage' }],
  ['is of an unknown type', '{"type":"EXPLODED","object":{"metadata":{}}}\n', { problem: 'garbage' }],
  ['has no object', '{"type":"ADDED","object":null}\n', { problem: 'garbage' }],
  ['is too long in one piece', `${' '.repeat(501)}\n`, { problem: 'too-large' }],
  ['never ends', 'a'.repeat(5_000), { problem: 'too-large', message: /more than 500 bytes/ }],
  [
    'is an ERROR',
    '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n',
    { name: 'ApiError', code: 410, reason: 'Expired' },
  ],
  ['is an ERROR without a Status', '{"type":"ERROR","object":{}}\n', { name: 'ApiError', code: 500 }],
];
for (const [why, body, error] of refused)
  test(`a watch line that ${why} is an error, after the events before it`, async () => {
    for (const size of [100, Infinity]) {
      const seen: unknown[] = [];
      await assert.rejects(decode(Buffer.concat([Buffer.from(first), Buffer.from(body)]), seen, { size }), error);
      assert.deepEqual(seen, ['ADDED 1']);
    }
  });

test('a line that is too long is left out where that is asked for, wherever the network cuts, and says whose it was', async () => {
  const metadata = { name: 'big', namespace: 'ns', uid: 'u', resourceVersion: '7' };
  const big = line('MODIFIED', metadata, { spec: `\\"}${'<'.repeat(1_000)}` });
  for (const size of [1, 100, 1_001, Infinity]) {
    const seen: unknown[] = [];
    await assert.rejects(decode(`${big}${first}${big}${'a'.repeat(5_000)}`, seen, { size, skip: true }), { problem: 'cut' });
    const left = { of: 'bytes', type: 'MODIFIED', metadata };
    assert.deepEqual(seen, [left, 'ADDED 1', left], `cut every ${size}`);
  }
  const seen: unknown[] = [];
  const late = `{"object":{"spec":"${'x'.repeat(1_000)}","metadata":{"name":"late"}},"type":"ADDED"}\n`;
  await decode(late, seen, { skip: true });
  assert.deepEqual(seen, [{ of: 'bytes', type: 'ADDED', metadata: undefined }], 'it does not say whose it is');
});
