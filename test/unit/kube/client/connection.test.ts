import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFile, readFile } from 'node:fs/promises';
import { connect, constants } from 'node:http2';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { describeError } from '../../../../base/errors.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { type ClusterAccess, kubeconfigSource } from '../../../../kube/client/access.ts';
import { readBody } from '../../../../kube/client/connection.ts';
import { clientOf, type Handler, json, node, type Response, type StandIn, status, Trust, bodyOf } from './api-stand-in.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { childServer } from './child-server.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { noRestMetrics } from '../../../../kube/client/requests.ts';
import { silentLog } from '../../../../base/log.ts';
import { Credentials, type Endpoint, type Identity, Rotation } from '../../../../kube/client/credentials.ts';

const trust = new Trust();
const h2 = (t: TestContext, handler: Handler): Promise<StandIn> =>
  trust.server(t, 'h2', handler, { ca: trust.authority.ca, requestCert: true });
const to = (server: StandIn, more: Partial<ClusterAccess> = {}): ClusterAccess => trust.access(server, more);

const ok = (response: Response) => json(response, 200, node('n', '1'));

test('a GOAWAY lets what is under way finish and sends the rest on a new connection', async (t) => {
  const held: Response[] = [];
  const server = await h2(t, (request, response) => (request.url?.endsWith('/slow') ? void held.push(response) : ok(response)));
  const client = clientOf(t, to(server));
  const slow = client.get(nodes, { name: 'slow' });
  while (held.length === 0) await client.get(nodes, { name: 'n' });
  const [first] = server.sessions;
  assert.ok(first);
  first.goaway(constants.NGHTTP2_NO_ERROR);
  const calls = Array.from({ length: 20 }, () => client.patch(nodes, { name: 'n' }, {}, { type: 'merge' }));
  assert.equal((await Promise.all(calls)).length, 20, 'not one is lost');
  for (const response of held) ok(response);
  assert.equal((await slow).metadata.name, 'n');
  assert.equal(server.sessions.length, 2);
  if (!first.destroyed) await once(first, 'close');
});

test('what the server says it never processed is sent again, even a patch', async (t) => {
  let refused = 0;
  const server = await h2(t, (_request, response) => {
    if (server.sessions.length > 1 || refused > 1) return ok(response);
    refused++;
    (response as unknown as { stream: { close(code: number): void } }).stream.close(constants.NGHTTP2_REFUSED_STREAM);
  });
  const client = clientOf(t, to(server));
  assert.equal((await client.patch(nodes, { name: 'n' }, {}, { type: 'merge' })).metadata.name, 'n');
  assert.equal(refused, 2);
});

test('a watch that the server resets or that is cut ends as cut, one that it ends ends quietly', async (t) => {
  let end: (response: Response) => void = (response) => response.end();
  const server = await h2(t, (_request, response) => {
    response.writeHead(200);
    response.write(`${JSON.stringify({ type: 'ADDED', object: node('n', '1') })}\n`);
    setTimeout(() => end(response), 10);
  });
  const client = clientOf(t, to(server));
  const watch = async () => {
    const seen: string[] = [];
    for await (const event of client.watch(nodes, {}, new AbortController().signal)) seen.push(event.type);
    return seen;
  };
  assert.deepEqual(await watch(), ['ADDED']);
  const closed = (response: Response) => (response as unknown as { stream: { close(code: number): void } }).stream;
  for (const cut of [
    (response: Response) => closed(response).close(constants.NGHTTP2_INTERNAL_ERROR),
    () => server.sockets.at(-1)?.resetAndDestroy(),
    () => server.sockets.at(-1)?.destroy(),
  ]) {
    end = cut;
    await assert.rejects(watch(), { name: 'TransportError', problem: 'cut' }, String(cut));
  }
});

test('a rotated token is used by the next call, and at once when the server refuses the old one', async (t) => {
  const tokenFile = join(trust.authority.directory, 'token');
  let valid = 'one';
  const seen: unknown[] = [];
  const server = await h2(t, (request, response) => {
    seen.push(request.headers.authorization?.replace('Bearer ', ''));
    return seen.at(-1) === valid ? ok(response) : json(response, 401, status(401, 'Unauthorized', 'no'));
  });
  const clock = new FakeClock();
  const client = clientOf(t, to(server, { tokenFile }), { clock });
  const get = async (token: string, accepted: string) => {
    await writeFile(tokenFile, token);
    valid = accepted;
    return client.get(nodes, { name: 'n' });
  };
  await get('one\n', 'one');
  await get('two\n', 'one');
  await clock.advance(1_000);
  await get('two\n', 'two');
  await get('three\n', 'three');
  await assert.rejects(get('three\n', 'nobody knows'), { code: 401 });
  assert.deepEqual(seen, ['one', 'one', 'two', 'two', 'three', 'three']);
  assert.equal(server.sockets.length, 1, 'a token needs no new connection');
  await clock.advance(1_000);
  await get('a\r\nx: y', 'three'); // what is unreadable leaves the last in force
});

test('a rotated client certificate gets a new connection while the old one drains', async (t) => {
  const paths = { cert: join(trust.authority.directory, 'rotating.crt'), key: join(trust.authority.directory, 'rotating.key') };
  const first = await trust.authority.client('node-1');
  const second = await trust.authority.client('node-2');
  await writeFile(paths.cert, first.cert);
  await writeFile(paths.key, first.key);
  const held: Response[] = [];
  const names: unknown[] = [];
  const server = await h2(t, (request, response) => {
    const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject;
    if (request.url?.includes('/slow')) return void held.push(response);
    names.push(CN);
    ok(response);
  });
  const client = clientOf(t, to(server, { clientCertificate: { file: paths.cert }, clientKey: { file: paths.key } }), {
    credentialCheckMs: 0,
  });
  const slow = client.get(nodes, { name: 'slow' });
  await client.get(nodes, { name: 'n' });
  await writeFile(paths.cert, second.cert);
  await client.get(nodes, { name: 'n' }); // the key is still the old one's
  await writeFile(paths.key, second.key);
  await client.get(nodes, { name: 'n' });
  assert.deepEqual(names, ['node-1', 'node-1', 'node-2']);
  assert.equal(server.sockets.length, 2);
  const [old] = server.sockets;
  for (const response of held) ok(response);
  assert.equal((await slow).metadata.name, 'n');
  assert.ok(old);
  if (!old.destroyed) await once(old, 'close');
});

test('unusable credentials are named, and never shown', async (t) => {
  const server = await h2(t, (_request, response) => ok(response));
  const ca = { data: trust.authority.ca };
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const pem = { format: 'pem', type: 'pkcs8' } as const;
  const withKey = (data: string | Buffer) => ({ ca, clientCertificate: ca, clientKey: { data: data.toString() } });
  const bad: [Partial<ClusterAccess>, RegExp][] = [
    [{ tokenFile: join(trust.authority.directory, 'nowhere') }, /Cannot read token file .*nowhere: no such file/],
    [{ token: 'sec\nret' }, /Cannot use the token of test: it contains characters/],
    [{ ca: { data: '-----BEGIN CERTIFICATE-----' } }, /Cannot use the certificates of test: .* must be PEM/],
    [{ ca: { data: 'secret' }, clientKey: { data: 'secret' } }, /Cannot use the certificates of test: .* must be PEM/],
    [withKey(rsa.export(pem)), /the client key is not that of the client certificate/],
    [withKey(rsa.export({ ...pem, cipher: 'aes-128-cbc', passphrase: 'secret' })), /the client key is encrypted/],
  ];
  for (const [access, says] of bad) {
    await assert.rejects(clientOf(t, to(server, access)).get(nodes, { name: 'n' }), (error: Error) => {
      assert.equal(error.name, 'ActionError');
      assert.match(describeError(error), says);
      assert.doesNotMatch(describeError(error), /secret|sec\n/);
      return true;
    });
  }
});

const never = new AbortController().signal;

test('an answer that is all there is read, although its HTTP/2 stream has closed before', async (t) => {
  const server = await h2(t, (_request, response) => ok(response));
  const session = connect(server.url, { ca: trust.authority.ca });
  t.after(() => session.destroy());
  const stream = session.request({ ':path': '/' });
  while (!stream.closed) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(stream.readableEnded, false);
  assert.match(await text(Readable.from(readBody(stream, never, () => {}))), /"Node"/);
});

test('why a connection ended is said, also where it ended before anybody read', async () => {
  const stream = new PassThrough().on('error', () => {});
  stream.destroy(new Error('reset by peer'));
  await assert.rejects(text(Readable.from(readBody(stream, never, () => {}))), ({ cause }: Error) => /reset/.test(describeError(cause)));
});

/** Resolves to a watch that has seen its first event. */
async function watching(client: Client): Promise<{ over: Promise<void> }> {
  const seen = Promise.withResolvers<void>();
  const over = (async () => {
    for await (const _ of client.watch(nodes, {}, new AbortController().signal)) seen.resolve();
  })();
  over.catch((error: unknown) => seen.reject(error as Error));
  await seen.promise;
  return { over };
}

/** The same for each kind, at once: most of the time is waiting. */
test('a frozen server is noticed by a quiet watch and by a request, whatever is spoken', { timeout: 120_000 }, async (t) => {
  const frozen = async (kind: 'h2' | 'https' | 'http') => {
    const server = await childServer(kind, trust.serverPair);
    t.after(() => server[Symbol.asyncDispose]());
    const dead: string[] = [];
    const metrics = { ...noRestMetrics, foundDead: ({ host }: { host: string }) => void dead.push(host) };
    const client = clientOf(t, trust.access(server), { ping: { everyMs: 200, timeoutMs: 5_000 }, timeoutMs: 60_000, metrics });
    await client.get(nodes, { name: 'n' });
    const { over } = await watching(client);
    const patch = () => client.patch(nodes, { name: 'n' }, {}, { type: 'merge' });
    await patch();
    server.freeze();
    await Promise.all([
      assert.rejects(over, { name: 'TransportError', problem: 'cut' }, kind),
      assert.rejects(patch(), { name: 'TransportError', problem: 'cut' }, kind),
    ]);
    assert.ok(dead.length > 0 && dead.every((host) => host === new URL(server.url).host));
    server.thaw();
    assert.equal((await client.get(nodes, { name: 'n' })).metadata.name, 'n');
  };
  await Promise.all((['h2', 'https', 'http'] as const).map(frozen));
});

test('files are looked at while watches are open: those of another endpoint end, and unreadable files end none', async () => {
  const clock = new FakeClock();
  const endpoint = (): Endpoint => ({ server: new URL('https://a'), tls: undefined });
  const [one, two] = [endpoint(), endpoint()];
  let now: Endpoint | Error = one;
  const identity = (): Promise<Identity> => (now instanceof Error ? Promise.reject(now) : Promise.resolve({ endpoint: now, headers: {} }));
  const rotation = new Rotation({ identity }, clock, 1_000);
  const ended: string[] = [];
  const first = rotation.follow(one, () => ended.push('first'));
  await clock.advance(1_000);
  now = new Error('half written');
  await clock.advance(1_000);
  assert.equal(ended.length, 0);
  now = two;
  const second = rotation.follow(two, () => ended.push('second'));
  await clock.advance(3_000);
  assert.deepEqual(ended, ['first']);
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  assert.equal(clock.sleepers, 0);
});

/** What an identity provider signs; nobody here looks at the signature. */
function idToken(issuer: string, name: string, seconds: number): string {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ iss: issuer, aud: 'dkc', sub: name, iat: now, exp: now + seconds })}.c2ln`;
}

test('an OIDC user whose token has expired gets a new one from its provider, once for all clients', { timeout: 120_000 }, async (t) => {
  const asked: string[] = [];
  const provider = await trust.server(t, 'https', (request, response) => {
    const { url: issuer } = provider;
    if (request.url?.startsWith('/.well-known/') === true) {
      const endpoints = { token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`, response_types_supported: ['code'] };
      return json(response, 200, { issuer, ...endpoints });
    }
    void bodyOf(request).then((body) => {
      const form = new URLSearchParams(body);
      asked.push(`${request.method} ${request.url} ${form.get('grant_type')} ${form.get('refresh_token')}`);
      const token = { token_type: 'bearer', access_token: 'unused', expires_in: 3_600, refresh_token: 'next' };
      json(response, 200, { ...token, id_token: idToken(issuer, 'fresh', 3_600) });
    });
  });
  const seen: string[] = [];
  const subjectOf = (token = ''): string =>
    (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string }).sub;
  const server = await trust.server(t, 'h2', (request, response) => {
    seen.push(subjectOf(request.headers.authorization));
    json(response, 200, node('n', '1'));
  });
  const ca = Buffer.from(trust.authority.ca).toString('base64');
  const config = {
    'client-id': 'dkc',
    'id-token': idToken(provider.url, 'stale', -60),
    'refresh-token': 'first',
    'idp-issuer-url': provider.url,
    'idp-certificate-authority-data': ca,
  };
  const path = join(trust.authority.directory, 'oidc-kubeconfig');
  const contexts = [{ name: 'x', context: { cluster: 'x', user: 'x' } }];
  const clusters = [{ name: 'x', cluster: { server: server.url, 'certificate-authority-data': ca } }];
  const users = [{ name: 'x', user: { 'auth-provider': { name: 'oidc', config } } }];
  await writeFile(path, JSON.stringify({ 'current-context': 'x', contexts, clusters, users }));
  const source = kubeconfigSource(path);
  const clients = [1, 2].map(() => clientOf(t, source, { credentialCheckMs: 0 }));
  for (let n = 0; n < 3; n++) await Promise.all(clients.map((client) => client.get(nodes, { name: 'n' })));
  assert.deepEqual(seen, Array(6).fill('fresh'));
  assert.deepEqual(asked, ['POST /token refresh_token first']);
  const kept = JSON.parse(await readFile(path, 'utf8')) as { users: { user: { 'auth-provider': { config: typeof config } } }[] };
  const { 'id-token': newId, ...others } = kept.users[0]?.user['auth-provider'].config ?? {};
  const { 'id-token': _, ...before } = config;
  assert.deepEqual(others, { ...before, 'refresh-token': 'next' });
  assert.equal(subjectOf(newId), 'fresh');
});

test('extras of a user to act as go out under names that a header may have', async () => {
  const extra = { 'example.com/Scope é%': ['a', 'b'], plain: ['c'], none: [] };
  const access = { origin: 'here', server: 'http://api', impersonate: { user: 'x', groups: [], extra } };
  const credentials = new Credentials({ current: async () => access }, { clock: new FakeClock(), log: silentLog, checkEveryMs: 0 });
  assert.deepEqual((await credentials.identity()).headers, {
    'impersonate-user': 'x',
    'impersonate-extra-example.com%2fscope%20%c3%a9%25': ['a', 'b'],
    'impersonate-extra-plain': ['c'],
  });
});
