import assert from 'node:assert/strict';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { table } from '../../support/table.ts';
import type { ApiServer } from '../../../apiserver/server.ts';
import type { ApiHttp } from '../../support/api-http.ts';
import { started } from './started.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

// Every one of these gets a Status, and the server goes on. CMS is the path of ConfigMaps; a POST without a body has EMPTY.
const written = table('request | raw | code')(`
  GET /api/v1/nodes/%zz                   |                                                 | 400
  GET /api/v1/constructor                 |                                                 | 404
  POST CMS                                | EMPTY                                           | 400
  POST CMS                                | {"metadata":{"name":"x"                         | 400
  POST CMS                                | {"metadata":{"name":"x","resourceVersion":"1"}} | 400
  POST CMS                                | {"metadata":{"name":"x","labels":[1]}}          | 400
  PUT /api/v1/nodes/there/status          | {"metadata":{"name":"there"},"status":3}        | 400
  PATCH CMS/there                         | {"metadata":"x"}                                | 400
  PATCH CMS/there application/json-patch+json | [{"op":"replace","path":"","value":3}]      | 400
  DELETE CMS/there                        | []                                              | 400
  GET CMS?labelSelector=%00%ff((          |                                                 | 400
  GET CMS?limit=1&continue=eyJydiI6IngifQ |                                                 | 400
`);
const requests = [
  ...written.map(({ request, raw, code }) => {
    const [method = '', path = '', type] = request.replace('CMS', configMaps).split(' ');
    const body = raw === '' ? {} : { raw: raw === 'EMPTY' ? '' : raw };
    return { why: `${request} ${raw}`, method, path, code: Number(code), ...body, ...(type === undefined ? {} : { type }) };
  }),
  { why: 'a path without end', method: 'GET', path: `/api/v1/${'x/'.repeat(500)}`, code: 404 },
  { why: 'deep nesting', method: 'POST', path: configMaps, raw: `{"metadata":{"name":"x"},"data":${deep(100_000)}}`, code: 400 },
  { why: 'invalid UTF-8', method: 'POST', path: configMaps, raw: Uint8Array.of(0x22, 0xff, 0x22), code: 400 },
];

// Ten levels of ten aliases each: a few hundred bytes that would be ten thousand million.
const aliases = (n: number) => Array.from({ length: 10 }, () => `*a${n}`).join(',');
const bomb = `a0: &a0 x\n${Array.from({ length: 10 }, (_, n) => `a${n + 1}: &a${n + 1} [${aliases(n)}]\n`).join('')}`;

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

  for (const { why, method, path, code, ...options } of requests)
    test(`${why} is ${code}`, async () => {
      const answer = await api.call(method, path, options);
      assert.deepEqual([answer.code, answer.json['kind'], answer.json['code']], [code, 'Status', code], answer.text);
    });

  test('a YAML bomb is 400, and keys of the prototype are keys', async () => {
    assert.equal((await api.call('POST', configMaps, { raw: bomb, type: 'application/yaml' })).code, 400);
    const made = await api.call('POST', configMaps, { raw: '{"metadata":{"name":"proto"},"data":{"__proto__":"x","constructor":"y"}}' });
    assert.equal(made.code, 201);
    assert.match((await api.get(`${configMaps}/proto`)).text, /"data":\{"__proto__":"x","constructor":"y"\}/);
  });

  const head = (length: string) =>
    `POST ${configMaps} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`;

  test('a body above 3 MiB is 413: before it is sent where it is announced, else while it is sent', async () => {
    const tooLarge = /^HTTP\/1\.1 413 .*RequestEntityTooLarge/s;
    assert.match(await spoken(server, [head(`content-length: ${3 * 1024 * 1024 + 1}`)]), tooLarge);
    const parts = Array.from({ length: 4 }, () => `100000\r\n${'x'.repeat(1024 * 1024)}\r\n`);
    // The last part never comes: the answer does not wait for it.
    assert.match(await spoken(server, [head('transfer-encoding: chunked'), ...parts]), tooLarge);
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
