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
const budget = (amount: Uint8Array) =>
  envelope('policy/v1', 'PodDisruptionBudget', field(1, field(1, 'b')), field(2, field(1, amount), field(4)));

test('reads a ConfigMap and a budget as kubectl sends them, and takes no cut of one for another object; a kind it does not know is 415', () => {
  const meta = field(1, field(1, 'name'), field(8), field(11, field(1, 'key'), field(2, 'value')), field(14, 'a'), field(14, 'b'));
  const data = [field(2, field(1, 'a'), field(2, 'text')), field(3, field(1, 'b'), field(2, Uint8Array.of(255)))];
  const good = envelope('v1', 'ConfigMap', meta, ...data, Uint8Array.of(4 * 8, 1), field(15, 'a field of the future'));
  const metadata = { name: 'name', creationTimestamp: null, labels: { key: 'value' }, finalizers: ['a', 'b'] };
  const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'text' }, binaryData: { b: '/w==' }, immutable: true };
  assert.deepEqual(decodeProtobuf(good), whole);
  const cut = (length: number): unknown => {
    try {
      return decodeProtobuf(good.subarray(0, length));
    } catch (error) {
      return assert.match(String(error), /StatusError: /, `cut at ${length}`);
    }
  };
  for (let length = 0; length < good.length; length++) assert.notDeepEqual(cut(length), whole, `cut at ${length}`);
  const minusTen = Uint8Array.of(2 * 8, 0xf6, ...Array.from({ length: 8 }, () => 0xff), 1);
  assert.deepEqual(decodeProtobuf(budget(minusTen))['spec'], { minAvailable: -10 });
  assert.deepEqual(decodeProtobuf(budget(Buffer.concat([Uint8Array.of(8, 1), field(3, '50%')])))['spec'], { minAvailable: '50%' });
  assert.throws(() => decodeProtobuf(envelope('v1', 'Pod', field(1, field(1, 'x')))), { code: 415 });
});
