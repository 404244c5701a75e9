import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback, parseBindAddress, urlOf } from '../../../../kube/serving/serve.ts';

for (const [text, host, port] of [
  ['127.0.0.1:0', '127.0.0.1', 0],
  ['[::1]:10259', '::1', 10_259],
  [':8080', '', 8_080],
  ['localhost:65535', 'localhost', 65_535],
] as const) {
  test(`${text} is an address`, () => assert.deepEqual(parseBindAddress(text), { host, port }));
}

test('an empty address is off', () => assert.equal(parseBindAddress(''), undefined));

for (const text of ['127.0.0.1', '8080', '127.0.0.1:x', '127.0.0.1:65536', '::1:80', '[127.0.0.1]:80', '[::1]', 'a b:80', '127.0.0.1:-1']) {
  test(`${text} is no address`, () => {
    assert.throws(() => parseBindAddress(text, '--flag'), /^ActionError: Cannot use --flag ".*": give HOST:PORT/);
  });
}

for (const [host, expected] of [
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['0:0:0:0:0:0:0:1', true],
  ['localhost', true],
  ['', false],
  ['0.0.0.0', false],
  ['::', false],
  ['1::1', false],
  ['10.0.0.1', false],
  ['127.0.0.1.example.com', false],
  ['localhost.example.com', false],
] as const) {
  test(`${host === '' ? 'everywhere' : host} is ${expected ? '' : 'not '}loopback`, () => assert.equal(isLoopback(host), expected));
}

test('a URL brackets IPv6', () => assert.equal(urlOf({ host: '::1', port: 1 }), 'http://[::1]:1'));
