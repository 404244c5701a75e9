import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import { readList } from '../../../../kube/client/list-stream.ts';
import type { KubeList, KubeObject } from '../../../../kube/api/object.ts';

const call = { method: 'GET', path: '/api/v1/nodes', host: 'h' };
const reading = { resource: nodes, call, each: () => {}, longestItem: 1_000, pause: () => Promise.resolve() };

async function* bytes(...chunks: (string | Uint8Array)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function read(body: AsyncIterable<Uint8Array>): Promise<{ items: KubeObject[]; metadata: KubeList['metadata'] }> {
  const items: KubeObject[] = [];
  const metadata = await readList(body, { ...reading, each: (item) => void items.push(item) });
  return { items, metadata };
}

test('items come in order, and the rest of the list wherever it stands', async () => {
  const items = [{ metadata: { name: 'a' } }, { metadata: { name: 'b' }, spec: { x: '}]"\\' } }];
  const metadata = { resourceVersion: '5', continue: 'c' };
  for (const list of [
    { kind: 'NodeList', apiVersion: 'v1', metadata, items },
    { items, metadata },
  ])
    // prettier-ignore
    assert.deepEqual(await read(bytes(JSON.stringify(list))), { items, metadata });
  assert.deepEqual(await read(bytes('{"metadata":{"resourceVersion":"5"},"items":null}')), {
    items: [],
    metadata: { resourceVersion: '5' },
  });
});

const refused: [why: string, body: string | Uint8Array, error: object][] = [
  ['another kind', '{"kind":"PodList","metadata":{},"items":[{"metadata":{}}]}', { problem: 'garbage', message: /"PodList"/ }],
  ['another kind that says so late', '{"metadata":{},"items":[],"kind":"PodList"}', { problem: 'garbage' }],
  ['one object', '{"kind":"Node","metadata":{}}', { problem: 'garbage', message: /"Node" and no NodeList/ }],
  ['an item without metadata', '{"metadata":{},"items":[{}]}', { problem: 'garbage' }],
  ['items that are no list', '{"metadata":{},"items":{}}', { problem: 'garbage' }],
  ['no metadata', '{"items":[]}', { problem: 'garbage' }],
  ['a failure', '{"kind":"Status","metadata":{},"status":"Failure","code":410,"reason":"Expired"}', { name: 'ApiError', code: 410 }],
  ['no JSON', 'no', { problem: 'garbage', message: /is this a Kubernetes API server/ }],
  ['broken JSON', '{"items":[{"metadata":secret}]}', { problem: 'garbage', message: /^(?!.*secret).*invalid JSON/ }],
  ['no UTF-8', Buffer.from('{"items":[{"metadata":{"a":"\xff"}}]}', 'latin1'), { problem: 'garbage' }],
  ['half a list', '{"items":[{"metadata":{}},{"meta', { problem: 'cut', message: /in the middle of the list/ }],
  ['an item beyond measure', `{"items":[{"metadata":{"a":"${'x'.repeat(1_000)}"}}]}`, { problem: 'too-large' }],
];
for (const [why, body, error] of refused) test(`a list is refused that is or has ${why}`, () => assert.rejects(read(bytes(body)), error));

test('others have their turn every quarter of a megabyte, also within one large chunk', async () => {
  const list = `{"metadata":{},"items":[${Array.from({ length: 2_000 }, () => `{"metadata":{"name":"${'x'.repeat(900)}"}}`).join()}]}`;
  let pauses = 0;
  await readList(bytes(list), { ...reading, pause: () => Promise.resolve(void pauses++) });
  assert.equal(pauses, Math.floor(list.length / (256 * 1024)));
});

test('an item that is too large is left out where that is asked for, wherever the network cuts, and says which it was', async () => {
  const metadata = { name: 'big', uid: 'u', resourceVersion: '7' };
  const big = { metadata, spec: [{ text: `\\"]}${'<'.repeat(2_000)}` }] };
  const list = Buffer.from(JSON.stringify({ metadata: { resourceVersion: '9' }, items: [big, { metadata: { name: 'a' } }, big] }));
  for (const size of [1, 999, list.length]) {
    const seen: unknown[] = [];
    async function* body() {
      for (let from = 0; from < list.length; from += size) yield list.subarray(from, from + size);
    }
    const each = (item: KubeObject) => void seen.push(item.metadata.name);
    const skipped = (what: { metadata: unknown }) => void seen.push(what.metadata);
    assert.deepEqual(await readList(body(), { ...reading, each, skipped }), { resourceVersion: '9' });
    assert.deepEqual(seen, [metadata, 'a', metadata], `cut every ${size}`);
  }
});

test('a part of a list that is no item and too large is an error all the same', async () => {
  const body = bytes(`{"metadata":{"remainder":"${'x'.repeat(2_000)}"},"items":[]}`);
  await assert.rejects(readList(body, { ...reading, skipped: () => {} }), { problem: 'too-large' });
});
