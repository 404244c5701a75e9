import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeProtobuf } from '../../../apiserver/http/protobuf-body.ts';

/** A length-delimited field; all numbers here are below 128. */
const field = (number: number, ...content: (string | Uint8Array)[]): Uint8Array => {
  const body = Buffer.concat(content.map((one) => Buffer.from(one)));
  return Buffer.concat([Uint8Array.of(number * 8 + 2, body.length), body]);
};
const envelope = (apiVersion: string, kind: string, ...object: Uint8Array[]): Uint8Array =>
  Buffer.concat([Buffer.from('k8s\0'), field(1, field(1, apiVersion), field(2, kind)), field(2, ...object)]);

const good = envelope(
  'v1',
  'ConfigMap',
  field(1, field(1, 'name'), field(8), field(11, field(1, 'key'), field(2, 'value')), field(14, 'a'), field(14, 'b')),
  field(2, field(1, 'a'), field(2, 'text')),
  field(3, field(1, 'b'), field(2, Uint8Array.of(255))),
  Uint8Array.of(4 * 8, 1),
  field(15, 'a field of the future'),
);

test('reads a ConfigMap as kubectl sends it, and takes no cut of it for another object', () => {
  const metadata = { name: 'name', creationTimestamp: null, labels: { key: 'value' }, finalizers: ['a', 'b'] };
  const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'text' }, binaryData: { b: '/w==' }, immutable: true };
  assert.deepEqual(decodeProtobuf(good), whole);
  for (let length = 0; length < good.length; length++) {
    let read: unknown;
    try {
      read = decodeProtobuf(good.subarray(0, length));
    } catch (error) {
      assert.match(String(error), /StatusError: /, `cut at ${length}`);
    }
    assert.notDeepEqual(read, whole, `cut at ${length}`);
  }
});

test('a kind it does not know is 415', () => {
  assert.throws(() => decodeProtobuf(envelope('v1', 'Pod', field(1, field(1, 'x')))), { code: 415 });
});
