import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodes, type KubeList, type KubeObject } from '../../../../kube/api/object.ts';
import { readList } from '../../../../kube/client/list-stream.ts';
import * as fc from 'fast-check';
import { ListDecoder, ListSyntaxError } from '../../../../kube/client/list-decoder.ts';

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

const text = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));

/** What the decoder makes of a body, put together again as JSON.parse would have it. Undefined: it was refused, here or by JSON.parse. */
function decode(chunks: readonly Uint8Array[], longest = 1e6): Record<string, unknown> | undefined {
  const seen: Record<string, unknown> = {};
  let items: unknown[] = [];
  const decoder = new ListDecoder(
    {
      items: () => (seen['items'] = items = []),
      item: (bytes) => items.push(text(bytes)),
      field: (name, value) => (seen[text(name) as string] = text(value)),
    },
    longest,
  );
  try {
    for (const chunk of chunks) decoder.push(chunk);
  } catch (error) {
    assert.ok(error instanceof ListSyntaxError || error instanceof SyntaxError || error instanceof TypeError, String(error));
    return undefined;
  }
  return decoder.isComplete ? seen : undefined;
}

function cutAt(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let from = 0, turn = 0; from < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(Uint8Array.from(bytes.subarray(from, from + size)));
    from += size;
  }
  return chunks;
}

const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 });
const anyString = fc.string({ unit: 'grapheme', maxLength: 12 });
const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' });
const list = fc
  .record({ items: fc.array(json, { maxLength: 8 }), more: fc.dictionary(anyString, json, { maxKeys: 4 }), first: fc.boolean() })
  .map(({ items, more, first }) => {
    const { items: _, ['__proto__']: __, ...others } = more;
    return first ? { items, ...others } : { ...others, items };
  });

test('whatever is done to the bytes, the decoder takes what JSON.parse takes, and nothing else', () => {
  const alphabet = fc.constantFrom(' ', '\n', ...'{ } [ ] , : " \\ 1 - e true null "items" "a" é'.split(' '));
  fc.assert(
    fc.property(list, fc.nat(), fc.nat({ max: 6 }), fc.array(alphabet, { maxLength: 3 }), sizes, (value, at, removed, added, cuts) => {
      const written = JSON.stringify(value);
      const from = at % (written.length + 1);
      const broken = written.slice(0, from) + added.join('') + written.slice(from + removed);
      let expected: unknown;
      try {
        expected = JSON.parse(broken.toWellFormed());
      } catch {
        expected = undefined;
      }
      const isObject = typeof expected === 'object' && expected !== null && !Array.isArray(expected);
      // Only the parser of names can tell two `items` from one that is data; twice is refused by us alone.
      if (isObject && (broken.match(/"items"/g) ?? []).length > 1) return;
      assert.deepEqual(decode(cutAt(Buffer.from(broken), cuts)), isObject ? expected : undefined, broken);
    }),
    { numRuns: 600 },
  );
});

/** Each is no JSON, or no object, or has its items twice, which JSON.parse alone takes. */
const noLists = String.raw`
  <html></html> | [] | {items:[]} | {"items":[]}{ | {"items":[],} | {"items":[1,]} | {"items":[1}} | {"items":[1 2]} | {"items":[{"a":[}]]}
  | {"items":[],"items":[]} | {"items":[],"it\u0065ms":[]} | {"items":null,"items":[]}
  | `.split('|');
test('a body that is no JSON, no object, or has its items twice is refused, whole and byte by byte', () => {
  for (const body of noLists) for (const sizes of [[1], [10_000]]) assert.equal(decode(cutAt(Buffer.from(body), sizes)), undefined, body);
});

test('one text has a limit, in one piece and in many; the whole has none', () => {
  const body = Buffer.from(JSON.stringify({ items: Array.from({ length: 50 }, () => 'x'.repeat(18)), metadata: {} }));
  for (const cuts of [[1], [7], [10_000]]) {
    assert.deepEqual(decode(cutAt(body, cuts), 20), JSON.parse(body.toString()));
    assert.equal(decode(cutAt(body, cuts), 19), undefined);
  }
  // What never ends is refused before it is all there.
  const decoder = new ListDecoder({ items() {}, item() {}, field() {} }, 100);
  decoder.push(Buffer.from('{"items":["'));
  assert.throws(() => {
    for (let n = 0; n < 11; n++) decoder.push(Buffer.alloc(10, 'x'));
  }, /more than 100 bytes/);
});
