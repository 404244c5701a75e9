import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { readWhole } from '../../../../kube/client/connection.ts';
import type { AddressInfo } from 'node:net';

const never = new AbortController().signal;
const read = (stream: Readable): Promise<string> => text(Readable.from(readWhole(stream, never, () => {})));

test('an answer that is all there is read, although its HTTP/2 stream has closed before', async (t) => {
  const server = createServer((_request, response) => response.end('all of it'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ':path': '/' });
  while (!stream.closed) await turn();
  assert.equal(stream.readableEnded, false);
  assert.equal(await read(stream), 'all of it');
});

test('a stream that ends, fails or is destroyed in the middle', async () => {
  assert.equal(await read(Readable.from([Buffer.from('one '), Buffer.from('two')], { objectMode: false })), 'one two');
  const failing = new Readable({ read() {} });
  failing.push('begun');
  const cut = read(failing);
  setImmediate(() => failing.destroy(new Error('cut')));
  await assert.rejects(cut, { name: 'BrokenConnection', reached: 'perhaps' });
  const gone = new Readable({ read() {} });
  gone.destroy();
  await assert.rejects(read(gone), { name: 'BrokenConnection' });
});

test('who stops reading ends the stream', async () => {
  const endless = new Readable({
    read() {
      this.push('more');
    },
  });
  for await (const part of readWhole(endless, never, () => {})) if (part.length > 0) break;
  assert.equal(endless.destroyed, true);
});
