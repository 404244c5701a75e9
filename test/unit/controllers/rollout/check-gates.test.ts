import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { type Clock, realClock } from '../../../../base/clock.ts';
import { checkGates, GateChecks, type GateContext, Kinds } from '../../../../controllers/rollout/gates/check.ts';
import { type Gate, type PrometheusServer, serverFor } from '../../../../controllers/rollout/gates/contract.ts';
import { httpGetter } from '../../../../controllers/rollout/gates/http-get.ts';
import { nodes, pods } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { makeAuthority } from '../../../support/certificates.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const never = new AbortController().signal;
const empty = JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [] } });
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** On a free port of loopback. @returns its host */
async function listen(t: TestContext, server: Server & { closeAllConnections(): void }): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The embedded API server with a node and a pod that are ready. @param asked - paths of raw calls */
async function clusterClient(t: TestContext, asked: string[] = []): Promise<Client> {
  const client = localClient(localApi(realClock));
  t.after(() => client.close());
  const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] };
  await client.create(nodes, { metadata: { name: 'node-0' } });
  await client.patch(nodes, { name: 'node-0' }, { status }, { type: 'merge', subresource: 'status' });
  await client.create(pods, { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'web' }] } }, { namespace: 'default' });
  await client.patch(pods, { name: 'web', namespace: 'default' }, { status }, { type: 'merge', subresource: 'status' });
  const raw: Client['raw'] = (method, path, options) => {
    asked.push(path);
    return client.raw(method, path, options);
  };
  return Object.assign(Object.create(client) as Client, { get: client.get.bind(client), raw });
}

const noClient = {} as Client;
const contextOf = (client: Client, clock: Clock = realClock, kinds = new Kinds()): GateContext & { lines: string[] } => {
  const { log, lines } = recordedLog();
  return { client, http: httpGetter(), kinds, clock, log, lines };
};

test('gates on objects of the embedded API server, kinds found by discovery', async (t) => {
  const asked: string[] = [];
  const context = contextOf(await clusterClient(t, asked));
  const node = { apiVersion: 'v1', kind: 'Node', name: 'node-0', condition: 'Ready' };
  const pod = { ...node, kind: 'Pod', namespace: 'default', name: 'web' };
  const rows: [object: NonNullable<Gate['object']>, says: string][] = [
    [node, 'true condition Ready is True (KubeletReady)'],
    [pod, 'true condition Ready is True (KubeletReady)'],
    [{ ...node, condition: 'Fine' }, 'false Node has no condition Fine'],
    [{ ...node, name: 'node-1' }, 'false the object does not exist'],
    [{ ...node, kind: 'Pod' }, 'false Pod is namespaced; set object.namespace'],
    [{ ...node, namespace: 'default' }, 'false Node is not namespaced; remove object.namespace'],
    [{ ...node, kind: 'Knot' }, 'false the API server does not serve Knot in v1'],
    [{ ...node, apiVersion: 'nowhere.example/v1' }, 'false the API server does not serve Node in nowhere.example/v1'],
  ];
  const gates = rows.map(([object], at): Gate => ({ name: `gate-${at}`, object }));
  const expected = rows.map(([, says], at) => `gate-${at} ${says}`);
  const say = async (): Promise<string[]> => (await checkGates(gates, context, never)).map(({ name, ok, why }) => `${name} ${ok} ${why}`);
  assert.deepEqual(await say(), expected);
  asked.length = 0;
  assert.deepEqual(await say(), expected);
  assert.deepEqual(asked.toSorted(), ['/api/v1', '/apis/nowhere.example/v1'], 'a kind that was found is asked for again');
  assert.deepEqual(context.lines, []);
});

test('gates on a server that speaks HTTP: what cannot be asked does not hold, and keeps no other from its result', async (t) => {
  const queries: string[] = [];
  const server = createServer((request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://host');
    if (pathname === '/elsewhere') queries.push('followed');
    if (pathname === '/moved/api/v1/query') reply.writeHead(302, { location: `${url}/elsewhere` }).end('secret');
    else if (pathname === '/large/api/v1/query') reply.end(`"${'x'.repeat(1024 * 1024)}"`);
    else if (pathname === '/cut/api/v1/query') reply.writeHead(200, { 'content-length': 100 }).write('{', () => reply.destroy());
    else if (pathname === '/api/v1/query') {
      queries.push(searchParams.get('query') ?? '');
      reply.end(empty);
    } else if (pathname === '/spoken/api/v1/query') request.socket.write(upgrade);
    else reply.writeHead(404).end('secret');
  });
  const host = await listen(t, server);
  const url = `http://${host}`;
  const gates: Gate[] = [
    { name: 'fine', prometheus: { url, query: 'up == 0' } },
    { name: 'alerts', alerts: { url: `${url}/`, ignore: 'Watchdog' } },
    ...['moved', 'large', 'cut', 'missing', 'spoken'].map((name) => ({ name, prometheus: { url: `${url}/${name}`, query: 'up' } })),
    // Nobody listens there.
    { name: 'closed', prometheus: { url: 'http://127.0.0.1:1', query: 'up' } },
  ];
  const context = contextOf(noClient);
  assert.deepEqual(
    (await checkGates(gates, context, never)).map(({ name, ok, why }) => `${name} ${ok} ${why}`),
    [
      'fine true no series',
      'alerts true no alert',
      'moved false the server answered 302; redirects are not followed, write the URL that they lead to',
      `large false ${host}: the answer has more than 1 MiB; query less`,
      `cut false ${host}: cannot connect (ECONNRESET)`,
      'missing false the server answered 404 with something that is not the query API of Prometheus; check the URL',
      `spoken false ${host}: the server answered 101 and speaks another protocol; check the URL`,
      'closed false 127.0.0.1:1: cannot connect (ECONNREFUSED)',
    ],
  );
  assert.deepEqual(queries.toSorted(), ['count by (alertname) (ALERTS{alertstate="firing",alertname!~"Watchdog"})', 'up == 0']);
  assert.deepEqual(context.lines, Array(4).fill('debug: failed to check gate'));
});

test('a gate whose server does not answer fails after 10 s; one that is aborted by the caller throws the reason', async (t) => {
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const host = await listen(t, createServer(() => arrived[count++]?.resolve())); // prettier-ignore
  const url = `http://${host}`;
  const gates: Gate[] = [{ name: 'slow', prometheus: { url, query: 'up' } }];
  const clock = new FakeClock();
  const slow = checkGates(gates, contextOf(noClient, clock), never);
  await arrived[0]?.promise;
  await clock.advance(9_999);
  await clock.advance(1);
  assert.deepEqual(await slow, [{ name: 'slow', ok: false, why: `${host}: no answer within 10 s` }]);

  const over = new AbortController();
  const aborted = checkGates(gates, contextOf(noClient, clock), over.signal);
  await arrived[1]?.promise;
  over.abort(new Error('over'));
  await assert.rejects(aborted, /^Error: over$/);
  assert.equal(clock.sleepers, 0);
});

test('what a gate says fits into a status, whatever a client throws', async () => {
  const client = { raw: async () => { throw new Error(`secret\n${'x'.repeat(5_000)}`); } } as unknown as Client; // prettier-ignore
  const object = { apiVersion: 'v1', kind: 'Node', name: 'n'.repeat(253), condition: 'Ready' };
  const [result] = await checkGates([{ name: 'long', object }], contextOf(client), never);
  assert.equal(result?.ok, false);
  assert.ok((result?.why.length ?? 0) <= 256 && !/\n/.test(result?.why ?? ''), result?.why);
});

test('a kind whose path is gone is looked for again; answers are kept for 10 s, for the spec that they are of', async () => {
  const gone = new ApiError({ method: 'GET', path: '/', host: 'test' }, { code: 404, reason: 'NotFound', message: '' });
  let asked = 0;
  const raw = async () => ({ resources: [{ name: `webs-${(asked += 1)}`, kind: 'Web' }] });
  const clock = new FakeClock();
  const checks = new GateChecks(contextOf({ raw, get: () => Promise.reject(gone) } as unknown as Client, clock));
  const gates = [{ name: 'web', object: { apiVersion: 'a/v1', kind: 'Web', name: 'web', condition: 'Ready' } }];
  for (const generation of [1, 1, 2, 2]) await checks.results({ name: 'web', uid: 'u', generation, gates }, never);
  assert.equal(asked, 2);
  await clock.advance(10_000);
  await checks.results({ name: 'web', uid: 'u', generation: 2, gates }, never);
  assert.equal(asked, 3);
});

const of = (urls: string): PrometheusServer[] => urls.split(' ').map((url) => ({ url }));
const cases: { why: string; servers: string; url: string; is: string | undefined }[] = [
  { why: 'a path below it', servers: 'https://prom/a/', url: 'https://prom/a/b/api/v1/query?query=up', is: 'https://prom/a/' },
  { why: 'the longest path', servers: 'https://prom https://prom/a', url: 'https://prom/a/api/v1/query', is: 'https://prom/a' },
  { why: 'names whatever their case', servers: 'https://Prom', url: 'https://PROM/api/v1/query', is: 'https://Prom' },
  { why: 'no other port', servers: 'https://prom:9090', url: 'https://prom:9091/api/v1/query', is: undefined },
  { why: 'no name that begins alike', servers: 'https://prom', url: 'https://prom.evil.example/api/v1/query', is: undefined },
  { why: 'no user that is called like it', servers: 'https://prom', url: 'https://prom@evil.example/api/v1/query', is: undefined },
  { why: 'no path that begins alike', servers: 'https://prom/team', url: 'https://prom/team-b/api/v1/query', is: undefined },
  { why: 'no path that leads out of it', servers: 'https://prom/team', url: 'https://prom/team/%2e%2e/other/api/v1/query', is: undefined },
];
for (const { why, servers, url, is } of cases) test(`credentials are for ${why}`, () => assert.equal(serverFor(url, of(servers))?.url, is));

/** Asks one URL with these servers. @returns what the gate says */
async function asked(url: string, servers: readonly PrometheusServer[] | ReturnType<typeof httpGetter>): Promise<string> {
  const http = typeof servers === 'function' ? servers : httpGetter(servers);
  const { log, lines } = recordedLog();
  const [result] = await checkGates([{ name: 'gate', prometheus: { url, query: 'up' } }], { client: {} as Client, http, kinds: new Kinds(), clock: realClock, log }, never); // prettier-ignore
  assert.doesNotMatch(`${result?.why} ${lines.join('\n')}`, /s3cret/);
  return result?.why ?? '';
}

test('a bearer token and a password come from their files, also after a rotation, and go to no other server', async (t) => {
  const home = await tempDir(t);
  const seen: (string | undefined)[] = [];
  const takes = new Set(['Bearer s3cret', 'Bearer s3cret2', `Basic ${Buffer.from('dkc:s3cret').toString('base64')}`]);
  const address = await listen(
    t,
    createServer((request, reply) => {
      seen.push(request.headers.authorization);
      if (request.url?.startsWith('/moved')) reply.writeHead(302, { location: `http://${other}/` }).end();
      else if (!takes.has(request.headers.authorization ?? '')) reply.writeHead(401).end('Unauthorized');
      else reply.end(empty);
    }),
  );
  const elsewhere: (string | undefined)[] = [];
  const other = await listen(
    t,
    createServer((request, reply) => {
      elsewhere.push(request.headers.authorization);
      reply.end(empty);
    }),
  );
  const url = `http://${address}`;
  const [token, password] = [join(home, 'token'), join(home, 'password')];
  await Promise.all([writeFile(token, 's3cret\n'), writeFile(password, 's3cret')]);
  const withToken = httpGetter([{ url, bearerTokenFile: token }]);

  assert.equal(await asked(url, []), 'the server answered 401: it requires credentials; name a file that has them in --rollout-prometheus-config'); // prettier-ignore
  assert.equal(await asked(url, withToken), 'no series');
  assert.equal(await asked(url, [{ url, basicAuth: { username: 'dkc', passwordFile: password } }]), 'no series');
  assert.equal(await asked(url, [{ url, basicAuth: { username: 'eve', passwordFile: password } }]), `the server answered 401 to user eve with the password in ${password}; correct it`); // prettier-ignore
  await writeFile(token, 's3cret2');
  assert.equal(await asked(url, withToken), 'no series');
  await writeFile(token, 's3cret-wrong');
  assert.equal(await asked(url, withToken), `the server answered 401 to the token in ${token}; correct it`);
  assert.match(await asked(url, [{ url, bearerTokenFile: join(home, 'none') }]), /: Cannot read bearer token file .*none: no such file; correct the path$/); // prettier-ignore
  await writeFile(token, 's3cret\ns3cret');
  assert.match(await asked(url, withToken), /token: it has more than one line or control characters; write the secret alone$/);

  await writeFile(token, 's3cret');
  assert.match(await asked(`${url}/moved`, withToken), /redirects are not followed/);
  assert.deepEqual(seen.slice(-1), ['Bearer s3cret']);
  assert.equal(await asked(`http://${other}`, withToken), 'no series');
  assert.deepEqual(elsewhere, [undefined]);
});

test('a certificate is checked with the CA of its file, under the name that is given, and a client shows its own', async (t) => {
  const home = await tempDir(t);
  const authority = await makeAuthority();
  t.after(() => authority.remove());
  const [server, client] = await Promise.all([authority.server('DNS:prometheus.monitoring'), authority.client('dkc')]);
  const [caFile, certFile, keyFile] = [join(home, 'ca.crt'), join(home, 'client.crt'), join(home, 'client.key')];
  await Promise.all([writeFile(caFile, authority.ca), writeFile(certFile, client.cert), writeFile(keyFile, client.key)]);
  const options = { ...server, ca: authority.ca, requestCert: true, rejectUnauthorized: true };
  const url = `https://${await listen(
    t,
    createTlsServer(options, (_, reply) => reply.end(empty)),
  )}`;
  const tlsConfig = { caFile, certFile, keyFile, serverName: 'prometheus.monitoring' };

  assert.equal(await asked(url, [{ url, tlsConfig }]), 'no series');
  assert.match(await asked(url, []), /: its certificate is not trusted \(\w+\); name its CA in --rollout-prometheus-config$/);
  assert.match(await asked(url, [{ url, tlsConfig: { ...tlsConfig, serverName: undefined } }]), /: cannot connect \(ERR_TLS_CERT_ALTNAME_INVALID\)$/); // prettier-ignore
  assert.match(await asked(url, [{ url, tlsConfig: { caFile, serverName: tlsConfig.serverName } }]), /: cannot connect \(\w+\)$/);
});
