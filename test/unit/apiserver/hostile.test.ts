import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { table } from '../../support/table.ts';
import type { ApiServer } from '../../../apiserver/server.ts';
import type { ApiHttp } from '../../support/api-http.ts';
import { started } from './started.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

// Every one of these gets a Status, and the server goes on. CMS is the path of ConfigMaps; a POST without a body has EMPTY.
const written = table('request | raw | code | why')(
  `
  GET /api/v1/nodes/%zz                   |                                                 | 400 | broken percent-encoding
  GET /api/v1/nodes/a%2Fb                 |                                                 | 404 | a name with a slash in it
  GET /api/v1/nodes/%2e%2e                |                                                 | 404 | a name of dots
  GET //                                  |                                                 | 404 | a path of slashes
  GET /api/v1/constructor                 |                                                 | 404 | an object where a name is inherited
  POST CMS/x/constructor                  | {}                                              | 404 | an inherited action
  POST CMS                                | EMPTY                                           | 400 | no body
  POST CMS                                | {"metadata":{"name":"x"                         | 400 | half a JSON
  POST CMS                                | {"metadata":"x"}                                | 400 | metadata of the wrong type
  POST CMS                                | {"metadata":{"name":"x","resourceVersion":"1"}} | 400 | a version for what is not there yet
  POST CMS                                | {"metadata":{"name":"x","labels":[1]}}          | 400 | labels of the wrong type
  POST CMS                                | {"metadata":{"name":"x","finalizers":{"a":1}}}  | 400 | finalizers of the wrong type
  POST CMS                                | {"metadata":{"name":"x"},"data":["a"]}          | 400 | data of the wrong type
  PUT /api/v1/nodes/there/status          | {"metadata":{"name":"there"},"status":3}        | 400 | a status of the wrong type
  PATCH CMS/there                         | "x"                                             | 400 | a patch that is a text
  PATCH CMS/there                         | {"metadata":"x"}                                | 400 | a patch that turns metadata into a text
  PATCH CMS/there application/json-patch+json | [{"op":"replace","path":"","value":3}] | 400 | a JSON patch that removes everything
  DELETE CMS/there                        | []                                              | 400 | delete options that are none
  GET CMS?labelSelector=%00%ff((          |                                                 | 400 | a selector of noise
  GET CMS?limit=-1                        |                                                 | 400 | a limit of noise
  GET CMS?limit=1&continue=eyJydiI6IngifQ |                                                 | 400 | a continue token of somebody else
  POST CMS?dryRun=Some                    | {"metadata":{"name":"x"}}                       | 422 | a dry run of noise
  PROPFIND CMS                            |                                                 | 405 | a method nobody knows
`,
).map(({ request, raw, code, why }) => {
  const [method = '', path = '', type] = request.replace('CMS', configMaps).split(' ');
  const body = raw === '' ? {} : { raw: raw === 'EMPTY' ? '' : raw };
  return { why, method, path, code: Number(code), ...body, ...(type === undefined ? {} : { type }) };
});
const requests = [
  ...written,
  { why: 'a path without end', method: 'GET', path: `/api/v1/${'x/'.repeat(500)}`, code: 404 },
  { why: 'deep nesting', method: 'POST', path: configMaps, raw: `{"metadata":{"name":"x"},"data":${deep(100_000)}}`, code: 400 },
  { why: 'deep nesting in a patch', method: 'PATCH', path: `${configMaps}/there`, raw: deep(100_000), code: 400 },
  { why: 'invalid UTF-8', method: 'POST', path: configMaps, raw: Uint8Array.of(0x22, 0xff, 0x22), code: 400 },
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
