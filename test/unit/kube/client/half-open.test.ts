import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import { clientOf, Trust, bodyOf, json, node } from './api-stand-in.ts';
import { childServer } from './child-server.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { noRestMetrics } from '../../../../kube/client/requests.ts';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../base/log.ts';
import { kubeconfigSource } from '../../../../kube/client/access.ts';
import { Credentials, type Endpoint, type Identity, Rotation } from '../../../../kube/client/credentials.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const trust = new Trust();

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
