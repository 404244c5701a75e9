import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { checkGates, Kinds } from '../../../../controllers/rollout/gates/check.ts';
import { httpGetter } from '../../../../controllers/rollout/gates/http-get.ts';
import { type PrometheusServer, serverFor } from '../../../../controllers/rollout/gates/contract.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { makeAuthority } from '../../../support/certificates.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const of = (urls: string): PrometheusServer[] => urls.split(' ').map((url) => ({ url }));
const cases: { why: string; servers: string; url: string; is: string | undefined }[] = [
  { why: 'the very URL', servers: 'https://prom:9090', url: 'https://prom:9090/api/v1/query?query=up', is: 'https://prom:9090' },
  { why: 'a path below it', servers: 'https://prom/a/', url: 'https://prom/a/b/api/v1/query?query=up', is: 'https://prom/a/' },
  { why: 'the longest path', servers: 'https://prom https://prom/a', url: 'https://prom/a/api/v1/query', is: 'https://prom/a' },
  { why: 'the port that the scheme has', servers: 'https://prom', url: 'https://prom:443/api/v1/query', is: 'https://prom' },
  { why: 'names whatever their case', servers: 'https://Prom', url: 'https://PROM/api/v1/query', is: 'https://Prom' },
  { why: 'no other port', servers: 'https://prom:9090', url: 'https://prom:9091/api/v1/query', is: undefined },
  { why: 'no other scheme', servers: 'https://prom', url: 'http://prom/api/v1/query', is: undefined },
  { why: 'no name that begins alike', servers: 'https://prom', url: 'https://prom.evil.example/api/v1/query', is: undefined },
  { why: 'no user that is called like it', servers: 'https://prom', url: 'https://prom@evil.example/api/v1/query', is: undefined },
  { why: 'no path that begins alike', servers: 'https://prom/team', url: 'https://prom/team-b/api/v1/query', is: undefined },
  { why: 'no path that leads out of it', servers: 'https://prom/team', url: 'https://prom/team/%2e%2e/other/api/v1/query', is: undefined },
];
for (const { why, servers, url, is } of cases) test(`credentials are for ${why}`, () => assert.equal(serverFor(url, of(servers))?.url, is));

async function listen(t: TestContext, server: Server & { closeAllConnections(): void }): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const empty = JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [] } });
const never = new AbortController().signal;

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

  assert.equal(
    await asked(url, []),
    'the server answered 401: it wants credentials; name a file that has them in --rollout-prometheus-config',
  );
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
