import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decodeWatch } from '../../../../kube/client/watch-stream.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { WatchEvent } from '../../../../kube/client/client.ts';

const call = { method: 'GET', path: '/api/v1/nodes', host: 'h' };

async function decode(chunks: readonly Uint8Array[], longest = 1_000): Promise<WatchEvent[]> {
  async function* body() {
    yield* chunks;
  }
  const events: WatchEvent[] = [];
  for await (const event of decodeWatch<KubeObject>(body(), call, longest)) events.push(event);
  return events;
}

const bytes = (text: string) => [Buffer.from(text)];
const line = (type: string, rv: string, more: object = {}) =>
  `${JSON.stringify({ type, object: { metadata: { resourceVersion: rv }, ...more } })}\n`;

test('events come out as they went in, wherever the network cuts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'),
          text: fc.string({ unit: 'grapheme', maxLength: 8 }),
        }),
        { maxLength: 6 },
      ),
      fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 20 }),
      async (events, cuts) => {
        const all = Buffer.from(events.map(({ type, text }, at) => line(type, String(at), { text })).join(''));
        const chunks: Uint8Array[] = [];
        for (let from = 0, cut = 0; from < all.length; cut++) {
          const size = (cuts[cut % cuts.length] ?? 0) + (cut % 2);
          chunks.push(all.subarray(from, from + size));
          from += size;
        }
        const seen = await decode(chunks);
        assert.deepEqual(
          seen.map(({ type, object }) => [type, object['text']]),
          events.map(({ type, text }) => [type, text]),
        );
      },
    ),
    { numRuns: 200 },
  );
});

test('the end, a blank line, and a last line without newline are all fine', async () => {
  assert.deepEqual(await decode([]), []);
  assert.deepEqual(await decode(bytes('\n\r\n \n')), []);
  assert.equal((await decode(bytes(`${line('ADDED', '1')}${line('MODIFIED', '2').trim()}`))).length, 2);
});

const refused: { why: string; body: Uint8Array[]; error: object; events?: number }[] = [
  { why: 'is cut off', body: bytes('{"type":"ADDED","obj'), error: { problem: 'cut', message: /ended in the middle of an event/ } },
  {
    why: 'is cut inside a letter',
    body: [Buffer.from('{"type":"ADDED","object":{"metadata":{"name":"ä').subarray(0, -1)],
    error: { problem: 'cut' },
  },
  { why: 'is no JSON', body: bytes('<html>\n'), error: { problem: 'garbage', message: /is this a Kubernetes API server/ } },
  { why: 'is no UTF-8', body: [Buffer.from([0x22, 0xff, 0x22, 0x0a])], error: { problem: 'garbage' } },
  { why: 'is no event', body: bytes('{"kind":"Status"}\n'), error: { problem: 'garbage' } },
  { why: 'is of an unknown type', body: bytes('{"type":"EXPLODED","object":{"metadata":{}}}\n'), error: { problem: 'garbage' } },
  { why: 'has no object', body: bytes('{"type":"ADDED","object":null}\n'), error: { problem: 'garbage' } },
  { why: 'has an object without metadata', body: bytes('{"type":"ADDED","object":{}}\n'), error: { problem: 'garbage' } },
  { why: 'is too long in one piece', body: bytes(`${' '.repeat(1_001)}\n`), error: { problem: 'too-large' } },
  {
    why: 'never ends',
    body: Array.from({ length: 50 }, () => Buffer.alloc(100, 0x61)),
    error: { problem: 'too-large', message: /more than 1000 bytes/ },
  },
  {
    why: 'is an ERROR',
    body: bytes('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n'),
    error: { name: 'ApiError', code: 410, reason: 'Expired' },
  },
  { why: 'is an ERROR without a Status', body: bytes('{"type":"ERROR","object":{}}\n'), error: { name: 'ApiError', code: 500 } },
];
for (const { why, body, error } of refused) {
  test(`a watch line that ${why} is an error, after the events before it`, async () => {
    await assert.rejects(decode(body), error);
    const seen: string[] = [];
    async function* whole() {
      yield Buffer.from(line('ADDED', '1'));
      yield* body;
    }
    await assert.rejects(async () => {
      for await (const event of decodeWatch<KubeObject>(whole(), call, 1_000)) seen.push(event.type);
    }, error);
    assert.deepEqual(seen, ['ADDED']);
  });
}

test('a line that is too long is left out where that is asked for, wherever the network cuts, and says whose it was', async () => {
  const metadata = { name: 'big', namespace: 'ns', uid: 'u', resourceVersion: '7' };
  const big = `${JSON.stringify({ type: 'MODIFIED', object: { metadata, spec: `\\"}${'<'.repeat(1_000)}` } })}\n`;
  const all = Buffer.from(`${line('ADDED', '1')}${big}${line('ADDED', '2')}${big}${line('ADDED', '3')}`);
  for (const size of [1, 7, 100, 1_001, all.length]) {
    const seen: unknown[] = [];
    async function* body() {
      for (let from = 0; from < all.length; from += size) yield all.subarray(from, from + size);
    }
    const options = { skipped: (what: unknown) => seen.push(what) };
    for await (const { object } of decodeWatch<KubeObject>(body(), call, 500, options)) seen.push(object.metadata.resourceVersion);
    assert.deepEqual(
      seen,
      ['1', { of: 'bytes', type: 'MODIFIED', metadata }, '2', { of: 'bytes', type: 'MODIFIED', metadata }, '3'],
      `cut every ${size}`,
    );
  }
});

test('a line that is too long and does not say whose it is, or never ends', async () => {
  const seen: unknown[] = [];
  async function* body() {
    yield Buffer.from(`{"object":{"spec":"${'x'.repeat(1_000)}","metadata":{"name":"late"}},"type":"ADDED"}\n`);
    for (let n = 0; n < 100; n++) yield Buffer.alloc(1_000, 0x61);
  }
  const read = async (): Promise<void> => {
    for await (const event of decodeWatch<KubeObject>(body(), call, 500, { skipped: (what) => seen.push(what) })) seen.push(event);
  };
  await assert.rejects(read(), { problem: 'cut' });
  assert.deepEqual(seen, [{ of: 'bytes', type: 'ADDED', metadata: undefined }]);
});
