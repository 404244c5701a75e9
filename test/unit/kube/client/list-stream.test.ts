import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import { readList } from '../../../../kube/client/list-stream.ts';
import type { KubeList, KubeObject } from '../../../../kube/api/object.ts';

const call = { method: 'GET', path: '/api/v1/nodes', host: 'h' };

async function* bytes(...chunks: (string | Uint8Array)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function read(
  body: AsyncIterable<Uint8Array>,
  { longestItem = 1_000, pause = () => Promise.resolve() }: { longestItem?: number; pause?: () => Promise<void> } = {},
): Promise<{ items: KubeObject[]; metadata: KubeList['metadata'] }> {
  const items: KubeObject[] = [];
  const metadata = await readList(body, { resource: nodes, call, each: (item) => void items.push(item), longestItem, pause });
  return { items, metadata };
}

test('items come in order, and the rest of the list wherever it stands', async () => {
  const items = [{ metadata: { name: 'a' } }, { metadata: { name: 'b' }, spec: { x: '}]"\\' } }];
  for (const list of [
    { kind: 'NodeList', apiVersion: 'v1', metadata: { resourceVersion: '5', continue: 'c' }, items },
    { items, metadata: { resourceVersion: '5', continue: 'c' } },
  ]) {
    assert.deepEqual(await read(bytes(JSON.stringify(list))), { items, metadata: { resourceVersion: '5', continue: 'c' } });
  }
  const empty = { items: [], metadata: { resourceVersion: '5' } };
  assert.deepEqual(await read(bytes('{"metadata":{"resourceVersion":"5"},"items":null}')), empty);
  assert.deepEqual(await read(bytes('{"metadata":{"resourceVersion":"5"}}')), empty);
});

const refused: { why: string; body: string | Uint8Array; error: object; items?: number }[] = [
  {
    why: 'another kind',
    body: '{"kind":"PodList","metadata":{},"items":[{"metadata":{}}]}',
    error: { problem: 'garbage', message: /"PodList"/ },
  },
  { why: 'another kind that says so late', body: '{"metadata":{},"items":[],"kind":"PodList"}', error: { problem: 'garbage' } },
  { why: 'one object', body: '{"kind":"Node","metadata":{}}', error: { problem: 'garbage', message: /"Node" and no NodeList/ } },
  { why: 'an item without metadata', body: '{"metadata":{},"items":[{}]}', error: { problem: 'garbage' } },
  { why: 'an item whose name is no text', body: '{"metadata":{},"items":[{"metadata":{"name":7}}]}', error: { problem: 'garbage' } },
  { why: 'an item that is no object', body: '{"metadata":{},"items":[7]}', error: { problem: 'garbage' } },
  { why: 'items that are no list', body: '{"metadata":{},"items":{}}', error: { problem: 'garbage' } },
  { why: 'no metadata', body: '{"items":[]}', error: { problem: 'garbage' } },
  {
    why: 'a failure',
    body: '{"kind":"Status","metadata":{},"status":"Failure","code":410,"reason":"Expired"}',
    error: { name: 'ApiError', code: 410 },
  },
  { why: 'no JSON', body: 'no', error: { problem: 'garbage', message: /is this a Kubernetes API server/ } },
  { why: 'broken JSON', body: '{"items":[{"metadata":secret}]}', error: { problem: 'garbage', message: /^(?!.*secret).*invalid JSON/ } },
  { why: 'no UTF-8', body: Buffer.from('{"items":[{"metadata":{"a":"\xff"}}]}', 'latin1'), error: { problem: 'garbage' } },
  { why: 'half a list', body: '{"items":[{"metadata":{}},{"meta', error: { problem: 'cut', message: /in the middle of the list/ } },
  { why: 'a list without its last bracket', body: '{"metadata":{},"items":[{"metadata":{}}]', error: { problem: 'cut' } },
  { why: 'nothing', body: '', error: { problem: 'cut' } },
  { why: 'an item beyond measure', body: `{"items":[{"metadata":{"a":"${'x'.repeat(1_000)}"}}]}`, error: { problem: 'too-large' } },
];
for (const { why, body, error } of refused) test(`a list is refused that is or has ${why}`, () => assert.rejects(read(bytes(body)), error));

test('others have their turn every quarter of a megabyte, also within one large chunk', async () => {
  const item = `{"metadata":{"name":"${'x'.repeat(900)}"}}`;
  const list = `{"metadata":{},"items":[${Array.from({ length: 2_000 }, () => item).join()}]}`;
  let pauses = 0;
  const pause = () => Promise.resolve(void pauses++);
  assert.equal((await read(bytes(list), { pause })).items.length, 2_000);
  assert.equal(pauses, Math.floor(list.length / (256 * 1024)));
  const chunks = Array.from({ length: Math.ceil(list.length / 10_000) }, (_, at) => list.slice(at * 10_000, (at + 1) * 10_000));
  pauses = 0;
  await read(bytes(...chunks), { pause });
  assert.ok(pauses >= 6 && pauses <= 8, `${pauses} pauses`);
});

test('what the receiver of items throws ends the reading, and the body with it', async () => {
  let isClosed = false;
  async function* endless() {
    try {
      yield Buffer.from('{"items":[');
      for (;;) yield Buffer.from('{"metadata":{}},');
    } finally {
      isClosed = true;
    }
  }
  const mistake = new Error('mistake');
  const each = () => {
    throw mistake;
  };
  const reading = { resource: nodes, call, each, longestItem: 100, pause: () => Promise.resolve() };
  await assert.rejects(readList(endless(), reading), (error) => error === mistake);
  assert.ok(isClosed);
});

test('an item that is too large is left out where that is asked for, wherever the network cuts, and says which it was', async () => {
  const metadata = { name: 'big', uid: 'u', resourceVersion: '7' };
  const big = { metadata, spec: [{ text: `\\"]}${'<'.repeat(2_000)}` }] };
  const small = (name: string) => ({ metadata: { name } });
  const list = Buffer.from(JSON.stringify({ metadata: { resourceVersion: '9' }, items: [big, small('a'), big, small('b'), big] }));
  for (const size of [1, 7, 999, 1_500, list.length]) {
    const seen: unknown[] = [];
    async function* body() {
      for (let from = 0; from < list.length; from += size) yield list.subarray(from, from + size);
    }
    const reading = { resource: nodes, call, longestItem: 1_000, pause: () => Promise.resolve() };
    const each = (item: KubeObject) => void seen.push(item.metadata.name);
    const skipped = (what: { metadata: unknown }) => void seen.push(what.metadata);
    assert.deepEqual(await readList(body(), { ...reading, each, skipped }), { resourceVersion: '9' });
    assert.deepEqual(seen, [metadata, 'a', metadata, 'b', metadata], `cut every ${size}`);
  }
});

test('a part of a list that is no item and too large is an error all the same', async () => {
  const body = bytes(`{"metadata":{"remainder":"${'x'.repeat(2_000)}"},"items":[]}`);
  const reading = { resource: nodes, call, each: () => {}, skipped: () => {}, longestItem: 1_000, pause: () => Promise.resolve() };
  await assert.rejects(readList(body, reading), { problem: 'too-large' });
});
