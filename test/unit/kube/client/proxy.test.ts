import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlain, request as plainRequest } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { connect } from 'node:net';
import { test } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import { proxyFor } from '../../../../kube/client/proxy.ts';
import { makeAuthority } from '../../../support/certificates.ts';
import { table } from '../../../support/table.ts';
import { clientOf, json, node, Trust } from './api-stand-in.ts';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { KeyPair } from '../../../support/certificates.ts';
import type { Kind } from './api-stand-in.ts';

const trust = new Trust();

/** A forward proxy: tunnels, and whole URLs over plain HTTP. `seen` is what was asked of it: method, target, and who asked. */
async function proxy(t: TestContext, tls?: KeyPair) {
  const sockets = new Set<Socket>();
  const server = tls === undefined ? createPlain() : createSecure(tls);
  const self = { url: '', seen: [] as string[], answer: 200, close: () => void server.close() };
  const note = (method = '', target = '', who = '-') => self.seen.push(`${method} ${target} ${who}`);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.on('connect', (request, socket) => {
    note(request.method, request.url, request.headers['proxy-authorization']);
    if (self.answer === 0) return;
    if (self.answer !== 200) return void socket.end(`HTTP/1.1 ${self.answer} No\r\n\r\n`);
    const [host = '', port] = (request.url ?? '').split(':');
    const outer = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      outer.pipe(socket).pipe(outer);
    });
    sockets.add(outer);
    for (const end of [outer, socket]) end.on('error', () => outer.destroy());
    socket.on('close', () => outer.destroy());
  });
  server.on('request', (request, response) => {
    note(request.method, request.url, request.headers['proxy-authorization']);
    const { headers, method = 'GET', url = '' } = request;
    request.pipe(
      plainRequest(url, { method, headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers))),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  self.url = `http${tls === undefined ? '' : 's'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return self;
}

const through = (t: TestContext, kind: Kind, proxy: string, connectTimeoutMs = 60_000) =>
  trust.pair(t, kind, (_request, response) => json(response, 200, node('n', '1')), { access: { proxy }, connectTimeoutMs });

const withUser = (url: string) => url.replace('://', '://us%40er:s3cret@');
const basic = `Basic ${Buffer.from('us@er:s3cret').toString('base64')}`;

test('requests go through a tunnel of an https proxy to a server, and through a proxy itself to an http:// server', async (t) => {
  const way = await proxy(t, trust.serverPair);
  const { client, server } = await through(t, 'h2', withUser(way.url));
  for (let n = 0; n < 3; n++) assert.equal((await client.get(nodes, { name: 'n' })).metadata.name, 'n');
  assert.deepEqual(way.seen, [`CONNECT ${new URL(server.url).host} ${basic}`]);
  const plainWay = await proxy(t);
  const plain = await through(t, 'http', withUser(plainWay.url));
  await plain.client.get(nodes, { name: 'n' });
  assert.deepEqual(plainWay.seen, [`GET ${plain.server.url}/api/v1/nodes/n ${basic}`]);
});

test('a proxy that refuses, hangs, is not there or not trusted is named, and its password is not', async (t) => {
  const way = await proxy(t);
  const other = await makeAuthority();
  t.after(() => other.remove());
  const secure = await proxy(t, await other.server());
  const gone = await proxy(t);
  const failure = async (url: string, answer: number) => {
    way.answer = answer;
    const { client } = await through(t, 'h2', withUser(url), answer === 0 ? 200 : 60_000);
    const error: unknown = await client.get(nodes, { name: 'n' }).then(
      () => assert.fail('no error'),
      (failed: unknown) => failed,
    );
    assert.ok(error instanceof Error);
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /s3cret|us@er/);
    return error.message;
  };
  const name = (url: string) => new RegExp(`through the proxy ${url}`);
  const refused = await failure(way.url, 407);
  assert.match(refused, name(way.url));
  assert.match(refused, /it requires another user or password \(407\)/);
  assert.match(await failure(way.url, 503), /it refused to connect to 127\.0\.0\.1:\d+ \(503\)/);
  assert.match(await failure(way.url, 0), /no answer within/);
  assert.match(await failure(secure.url, 200), name(secure.url));
  gone.close();
  assert.match(await failure(gone.url, 200), /ECONNREFUSED/);
  const plain = clientOf(t, { origin: 'test', server: 'http://api.test', proxy: withUser(gone.url) });
  await assert.rejects(plain.get(nodes, { name: 'n' }), { problem: 'unreachable', message: name(gone.url) });
});

const P = 'http://p:3128/';
test('the proxy of a server is what the variables of its scheme say, and none for this machine', () => {
  const cases: [server: string, env: Record<string, string>, proxy?: string][] = [
    ['https://api:6443', {}],
    ['https://api:6443', { HTTPS_PROXY: P, https_proxy: 'http://other' }, P],
    ['https://api:6443', { HTTPS_PROXY: '', https_proxy: P }, P],
    ['https://api:6443', { HTTP_PROXY: P }],
    ['http://api', { HTTP_PROXY: P }, P],
    ['http://api', { HTTPS_PROXY: P }],
    ['https://api', { all_proxy: P }, P],
    ['https://api', { ALL_PROXY: 'http://other', HTTPS_PROXY: 'p:3128' }, P],
    ['https://localhost:6443', { HTTPS_PROXY: P }],
  ];
  for (const [server, env, proxy] of cases) assert.equal(proxyFor(server, env), proxy, `${server} ${JSON.stringify(env)}`);
});

// NO_PROXY, servers it exempts, and servers it does not.
const exempt = table('list | direct | proxied')(`
  *                     | https://anything https://10.0.0.1                 |
  .corp                 | https://a.corp https://a.b.corp                   | https://corp
  corp:6443             | https://corp:6443 https://a.corp:6443             | https://corp https://corp:443
  10.0.0.1              | https://10.0.0.1:6443                             | https://10.0.0.10
  10.96.0.0/12          | https://10.96.0.1 https://10.111.255.255:6443     | https://10.112.0.0 https://host
  fd00::/8              | https://[fd00::1]:6443                            | https://[fe80::1] https://10.0.0.1
  [fd00::1]:6443        | https://[fd00::1]:6443                            | https://[fd00::1]
  a , b ,,              | https://a https://b                               | https://c
  10.0.0.0/33,a/b,:,.   |                                                   | https://10.0.0.1 https://a
`);
for (const { list, direct, proxied } of exempt)
  test(`NO_PROXY=${list}`, () => {
    const goes = (servers: string) => servers.split(' ').filter(Boolean).map((server) => proxyFor(server, { HTTPS_PROXY: P, no_proxy: list })); // prettier-ignore
    assert.deepEqual([new Set(goes(direct)), new Set(goes(proxied))], [new Set(direct && [undefined]), new Set(proxied && [P])]);
  });
