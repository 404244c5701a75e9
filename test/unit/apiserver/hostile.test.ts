import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { ApiServer } from '../../../apiserver/server.ts';
import type { ApiHttp } from '../../support/api-http.ts';
import { started } from './started.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

// Every one of these gets a Status, and the server goes on.
const requests = [
  { why: 'broken percent-encoding', method: 'GET', path: '/api/v1/nodes/%zz', code: 400 },
  { why: 'a name with a slash in it', method: 'GET', path: '/api/v1/nodes/a%2Fb', code: 404 },
  { why: 'a name of dots', method: 'GET', path: '/api/v1/nodes/%2e%2e', code: 404 },
  { why: 'a path without end', method: 'GET', path: `/api/v1/${'x/'.repeat(500)}`, code: 404 },
  { why: 'a path of slashes', method: 'GET', path: '//', code: 404 },
  { why: 'an object where a name is inherited', method: 'GET', path: '/api/v1/constructor', code: 404 },
  { why: 'an inherited action', method: 'POST', path: `${configMaps}/x/constructor`, raw: '{}', code: 404 },
  { why: 'no body', method: 'POST', path: configMaps, raw: '', code: 400 },
  { why: 'half a JSON', method: 'POST', path: configMaps, raw: '{"metadata":{"name":"x"', code: 400 },
  { why: 'deep nesting', method: 'POST', path: configMaps, raw: `{"metadata":{"name":"x"},"data":${deep(100_000)}}`, code: 400 },
  { why: 'deep nesting in a patch', method: 'PATCH', path: `${configMaps}/there`, raw: deep(100_000), code: 400 },
  { why: 'invalid UTF-8', method: 'POST', path: configMaps, raw: Uint8Array.of(0x22, 0xff, 0x22), code: 400 },
  { why: 'metadata of the wrong type', method: 'POST', path: configMaps, raw: '{"metadata":"x"}', code: 400 },
  {
    why: 'a version for what is not there yet',
    method: 'POST',
    path: configMaps,
    raw: '{"metadata":{"name":"x","resourceVersion":"1"}}',
    code: 400,
  },
  { why: 'labels of the wrong type', method: 'POST', path: configMaps, raw: '{"metadata":{"name":"x","labels":[1]}}', code: 400 },
  {
    why: 'finalizers of the wrong type',
    method: 'POST',
    path: configMaps,
    raw: '{"metadata":{"name":"x","finalizers":{"a":1}}}',
    code: 400,
  },
  { why: 'data of the wrong type', method: 'POST', path: configMaps, raw: '{"metadata":{"name":"x"},"data":["a"]}', code: 400 },
  {
    why: 'a status of the wrong type',
    method: 'PUT',
    path: '/api/v1/nodes/there/status',
    raw: '{"metadata":{"name":"there"},"status":3}',
    code: 400,
  },
  { why: 'a patch that is a text', method: 'PATCH', path: `${configMaps}/there`, raw: '"x"', code: 400 },
  { why: 'a patch that turns metadata into a text', method: 'PATCH', path: `${configMaps}/there`, raw: '{"metadata":"x"}', code: 400 },
  {
    why: 'a JSON patch that removes everything',
    method: 'PATCH',
    path: `${configMaps}/there`,
    raw: '[{"op":"replace","path":"","value":3}]',
    type: 'application/json-patch+json',
    code: 400,
  },
  { why: 'delete options that are none', method: 'DELETE', path: `${configMaps}/there`, raw: '[]', code: 400 },
  { why: 'a selector of noise', method: 'GET', path: `${configMaps}?labelSelector=%00%ff((`, code: 400 },
  { why: 'a limit of noise', method: 'GET', path: `${configMaps}?limit=-1`, code: 400 },
  { why: 'a continue token of somebody else', method: 'GET', path: `${configMaps}?limit=1&continue=eyJydiI6IngifQ`, code: 400 },
  { why: 'a dry run of noise', method: 'POST', path: `${configMaps}?dryRun=Some`, raw: '{"metadata":{"name":"x"}}', code: 422 },
  { why: 'a method nobody knows', method: 'PROPFIND', path: configMaps, code: 405 },
];

// Ten levels of ten aliases each: a few hundred bytes that would be ten thousand million.
const bomb = `a0: &a0 x\n${Array.from({ length: 10 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array.from({ length: 10 }, () => `*a${n}`).join(',')}]\n`).join('')}`;

describe('hostile requests', () => {
  let server: ApiServer;
  let api: ApiHttp;
  before(async () => {
    ({ server, api } = await started({ tls: false }));
    await api.post(configMaps, { metadata: { name: 'there' } });
    await api.post('/api/v1/nodes', { metadata: { name: 'there' } });
  });
  after(async () => {
    assert.equal((await api.get('/healthz')).text, 'ok');
    await server.stop();
  });

  for (const { why, method, path, code, ...options } of requests) {
    test(`${why} is ${code}`, async () => {
      const answer = await api.call(method, path, options);
      assert.equal(answer.code, code, answer.text);
      assert.equal(answer.json['kind'], 'Status');
      assert.equal(answer.json['code'], code);
    });
  }

  test('a YAML bomb is 400', async () => {
    assert.equal((await api.call('POST', configMaps, { raw: bomb, type: 'application/yaml' })).code, 400);
  });

  test('keys of the prototype are keys', async () => {
    const made = await api.call('POST', configMaps, { raw: '{"metadata":{"name":"proto"},"data":{"__proto__":"x","constructor":"y"}}' });
    assert.equal(made.code, 201);
    assert.match((await api.get(`${configMaps}/proto`)).text, /"data":\{"__proto__":"x","constructor":"y"\}/);
  });

  const head = (length: string) =>
    `POST ${configMaps} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`;

  test('a body announced above 3 MiB is 413 before it is sent', async () => {
    assert.match(await spoken(server, [head(`content-length: ${3 * 1024 * 1024 + 1}`)]), /^HTTP\/1\.1 413 .*RequestEntityTooLarge/s);
  });

  test('a body that grows above 3 MiB is 413 while it is sent', async () => {
    const mebibyte = 'x'.repeat(1024 * 1024);
    const parts = Array.from({ length: 4 }, () => `100000\r\n${mebibyte}\r\n`);
    // The last part never comes: the answer does not wait for it.
    assert.match(await spoken(server, [head('transfer-encoding: chunked'), ...parts]), /^HTTP\/1\.1 413 .*RequestEntityTooLarge/s);
  });

  test('noise instead of HTTP closes the connection and nothing else', async () => {
    const port = Number(new URL(server.url).port);
    const socket = connectTcp(port, '127.0.0.1');
    socket.end('\x16\x03\x01 noise \r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    assert.equal((await api.get('/healthz')).code, 200);
  });

  test('a client that goes away in the middle of a body is no news', async () => {
    const port = Number(new URL(server.url).port);
    const socket = connectTcp(port, '127.0.0.1');
    socket.write(`POST ${configMaps} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\ncontent-length: 100\r\n\r\n{"meta`);
    await once(socket, 'connect');
    socket.destroy();
    await once(socket, 'close');
    assert.equal((await api.get('/healthz')).code, 200);
  });
});

/** What the server says to these bytes, as far as the end of its Status. */
async function spoken(server: ApiServer, parts: readonly string[]): Promise<string> {
  const socket = connectTcp(Number(new URL(server.url).port), '127.0.0.1');
  for (const part of parts) socket.write(part);
  let heard = '';
  for await (const data of socket.setEncoding('utf8')) {
    heard += String(data);
    if (heard.includes('"code":')) break;
  }
  socket.destroy();
  return heard;
}
