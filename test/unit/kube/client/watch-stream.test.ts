import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeWatch } from '../../../../kube/client/watch-stream.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const call = { method: 'GET', path: '/api/v1/nodes', host: 'h' };
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
  ['is no event', '{"kind":"Status"}\n', { problem: 'garbage' }],
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
