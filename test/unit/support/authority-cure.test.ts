import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cureAuthority, huffman } from '../../support/real-parts/authority-cure.ts';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const frame = (type: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  return Buffer.concat([head, body]);
};
const authority = (text: string): Buffer => Buffer.concat([Buffer.from([0x41, 0x80 | huffman(text).length]), huffman(text)]);

/** What comes out when `bytes` go in cut into pieces of `size`. */
function through(path: string, bytes: Buffer, size: number): Buffer {
  const cure = cureAuthority(path);
  for (let at = 0; at < bytes.length; at += size) cure.write(bytes.subarray(at, at + size));
  return (cure.read() as Buffer | null) ?? Buffer.alloc(0);
}

test('Huffman codes are those of RFC 7541, appendix C.4', () => {
  assert.equal(huffman('www.example.com').toString('hex'), 'f1e3c2e5f23a6ba0ab90f4ff');
  assert.equal(huffman('no-cache').toString('hex'), 'a8eb10649cbf');
});

test('a path whose characters have longer codes is refused with a remedy', () => {
  assert.throws(() => huffman('/run/a#b'), /choose a socket path/);
});

test('slashes of the authority become dots in every header frame, however the bytes are cut', () => {
  const path = '/tmp/dkc-X1/cri.sock';
  const data = frame(0, authority(path)); // the same bytes as data of a call: to be left alone
  const headers = (text: string): Buffer => frame(1, Buffer.concat([Buffer.from([0x82]), authority(text), Buffer.from([0x86])]));
  const sent = Buffer.concat([preface, frame(4, Buffer.alloc(0)), headers(path), data, headers(path)]);
  const cured = headers('.tmp.dkc-X1.cri.sock');
  const want = Buffer.concat([preface, frame(4, Buffer.alloc(0)), cured, data, cured]);
  for (let size = 1; size <= sent.length; size++) {
    assert.equal(through(path, sent, size).toString('hex'), want.toString('hex'), `in pieces of ${size}`);
  }
});

test('a data frame goes on before it is whole', () => {
  const begun = Buffer.concat([preface, frame(0, Buffer.from('abcdef')).subarray(0, 12)]);
  assert.deepEqual(through('/run/s', begun, begun.length), begun);
});
