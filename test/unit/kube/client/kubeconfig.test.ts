import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../../../support/table.ts';
import { inClusterAccess, kubeconfigSource, loadKubeconfig, type ClusterAccess, kubeletAccess } from '../../../../kube/client/access.ts';
import { accessFromKubeconfig, mergeKubeconfigs } from '../../../../kube/client/kubeconfig.ts';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createClient } from '../../../../kube/client/http-client.ts';
import { makeAuthority } from '../../../support/certificates.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dkc-kubeconfig-'));
});
after(() => rm(dir, { recursive: true, force: true }));

const PEM = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';
const pem64 = Buffer.from(PEM).toString('base64');

function config({ cluster = {}, user = {}, context = {} }: { cluster?: object; user?: object; context?: object } = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u', ...context } },
      { name: 'other', context: { cluster: 'c', user: 'nobody' } },
    ],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/', ...cluster } }],
    users: [{ name: 'u', user }],
  };
}

/** Parts of a kubeconfig and what access they give, in YAML. */
const read = table('why | given | access')(`
  a token                            | {user: {token: t}}                             | {token: t}
  a token file beside the kubeconfig | {user: {tokenFile: sub/token}}                 | {tokenFile: /etc/k/sub/token}
  certificates in the file           | {cluster: {certificate-authority-data: PEM64}} | {ca: {data: PEM}}
  certificate files, relative and absolute | {user: {client-certificate: c.pem, client-key: /keys/k.pem}}
    | {clientCertificate: {file: /etc/k/c.pem}, clientKey: {file: /keys/k.pem}}
  data before files | {cluster: {certificate-authority: ca.crt, certificate-authority-data: PEM64}} | {ca: {data: PEM}}
  a password                         | {user: {username: a, password: b}}             | {basic: {username: a, password: b}}
  a server name, and no verification | {cluster: {tls-server-name: api, insecure-skip-tls-verify: true}}
    | {tlsServerName: api, insecureSkipTlsVerify: true}
  a proxy                            | {cluster: {proxy-url: https://u:p@proxy}}      | {proxy: https://u:p@proxy/}
  a namespace                        | {context: {namespace: ns}}                     | {namespace: ns}
  a user to act as | {user: {as: x, as-groups: [g], as-uid: "7", as-user-extra: {scopes: [a, b]}}}
    | {impersonate: {user: x, groups: [g], uid: "7", extra: {scopes: [a, b]}}}
  a token beside a program           | {user: {token: t, exec: {command: x}}}         | {token: t}
  a password beside a provider       | {user: {username: a, auth-provider: {name: oidc}}} | {basic: {username: a, password: ""}}
`);
const yaml = (text: string): object => parse(text.replaceAll('PEM64', pem64).replaceAll('PEM', JSON.stringify(PEM))) as object;
const gives = (given: object, access: object): void =>
  assert.deepEqual(accessFromKubeconfig(config(given), '/etc/k/config'), {
    origin: '/etc/k/config',
    server: 'https://127.0.0.1:6443',
    ...access,
  });
for (const { why, given, access } of read) test(`a kubeconfig gives ${why}`, () => gives(yaml(given), yaml(access)));

test('a kubeconfig gives a user with an exec or an OIDC provider, whose program is beside the file and may know the cluster', () => {
  const plugin = { kubeconfig: '/etc/k/config', context: 'main', user: 'u' };
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = { apiVersion, command: './x', provideClusterInfo: true };
  const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }];
  const unset = { 'tls-server-name': undefined, 'insecure-skip-tls-verify': undefined, 'proxy-url': undefined };
  const cluster = { server: 'https://127.0.0.1:6443/', ...unset, config: { audience: 'a' } };
  const execInfo = { kind: 'ExecCredential', apiVersion, spec: { interactive: false, cluster } };
  gives({ cluster: { extensions }, user: { exec } }, { plugin: { ...plugin, exec: { ...exec, command: '/etc/k/x' }, execInfo } });
  const oidc = { 'client-id': 'c' };
  gives({ user: { 'auth-provider': { name: 'oidc', config: oidc } } }, { plugin: { ...plugin, oidc } });
});

// prettier-ignore
const refused: [why: string, document: unknown, says: RegExp][] = [
  ['is no mapping', [], /is not a mapping/],
  ['has no current context', {}, /no current-context; set one/],
  ['lacks the context', { ...config(), 'current-context': 'nope' }, /no context "nope"; there are main, other/],
  ['lacks the user', { ...config(), 'current-context': 'other' }, /no user "nobody"; there are u/],
  ['lacks the cluster', config({ context: { cluster: 'gone' } }), /no cluster "gone"; there are c/],
  ['names no server', { ...config(), clusters: [{ name: 'c', cluster: null }] }, /cluster "c" has no server/],
  ['names a server without scheme', config({ cluster: { server: '10.0.0.1:6443' } }), /not an https:\/\/ URL/],
  ['wants a SOCKS proxy', config({ cluster: { 'proxy-url': 'socks5://u:secret@p' } }), /^(?!.*secret).*proxy-url of cluster "c" is a SOCKS proxy/],
  ['has broken certificate data', config({ cluster: { 'certificate-authority-data': 'eA==' } }), /certificate-authority-data that is not PEM/],
  ['has a certificate without key', config({ user: { 'client-certificate': 'c' } }), /without client-key/],
  ['has groups without a user to act as', config({ user: { 'as-groups': ['g'] } }), /user "u" has as-groups, as-uid or as-user-extra without as/],
  ['has an exec without command', config({ user: { exec: {} } }), /user "u" has an exec without command/],
  ['has an exec that asks a person', config({ user: { exec: { command: 'x', interactiveMode: 'Always' } } }), /interactiveMode Always, and dkc runs it without/],
  ['has an auth-provider that is gone', config({ user: { 'auth-provider': { name: 'gcp' } } }), /"gcp", which dkc does not support; use an exec plugin/],
  ['trusts everybody and somebody', config({ cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority': 'ca' } }), /both insecure-skip-tls/],
];
for (const [why, document, message] of refused)
  test(`a kubeconfig is refused that ${why}`, () =>
    assert.throws(() => accessFromKubeconfig(document, '/etc/k/config'), { name: 'ActionError', object: '/etc/k/config', message }));

test('a kubeconfig that is not there, a directory, or no YAML gives an error without its content', async () => {
  await assert.rejects(loadKubeconfig(join(dir, 'missing')), {
    name: 'ActionError',
    message: /Cannot read kubeconfig .*missing: no such file/,
  });
  await assert.rejects(loadKubeconfig(dir), { message: /it is a directory/ });
  const broken = join(dir, 'broken');
  await writeFile(broken, 'users:\n- name: u\n  user: {token: s3cr3t, token: "s3cr3t\n');
  await assert.rejects(loadKubeconfig(broken), (error: Error) => {
    assert.match(error.message, /line \d+ is not YAML/);
    assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /s3cr3t/);
    return true;
  });
  const levels = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at},*a${at}]`);
  await writeFile(broken, ['a0: &a0 x', ...levels].join('\n'));
  await assert.rejects(loadKubeconfig(broken), { name: 'ActionError', message: /aliases expand/ });
});

test('a pod reaches the API server through its service account', async () => {
  const account = join(dir, 'account');
  await mkdir(account);
  const [ca, tokenFile] = [{ file: join(account, 'ca.crt') }, join(account, 'token')];
  await writeFile(tokenFile, 'a.b.c\n');
  await writeFile(join(account, 'namespace'), 'apps\n');
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const access = { origin: "the pod's service account", server: 'https://[fd00::1]:443', ca, tokenFile, namespace: 'apps' };
  assert.deepEqual(await inClusterAccess(environment, account), access);
  await assert.rejects(inClusterAccess({}, account), { message: /this is not a pod; set a kubeconfig/ });
  await assert.rejects(inClusterAccess(environment, join(dir, 'nothing')), { message: /Cannot read service account token/ });
});

const cluster = (name: string, more: object) => ({ name, cluster: more });
const user = (name: string, more: object) => ({ name, user: more });

test('the first file that has an entry gives all of it, the first that sets current-context gives that; paths start beside it', () => {
  const merged = mergeKubeconfigs([
    { path: '/a/config', document: { clusters: [cluster('c', { server: 'https://first' })], 'current-context': '' } },
    { path: '/b/config', document: null },
    {
      path: '/c/config',
      document: {
        'current-context': 'x',
        clusters: [cluster('c', { server: 'https://second', 'tls-server-name': 's' }), cluster('d', { server: 'https://third' })],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      },
    },
    {
      path: '/d/config',
      document: { 'current-context': 'y', users: [user('u', { tokenFile: '../t', 'client-key': '/k' })], contexts: 'nonsense' },
    },
  ]);
  assert.deepEqual(merged, {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [cluster('c', { server: 'https://first' }), cluster('d', { server: 'https://third' })],
    users: [user('u', { tokenFile: '/t', 'client-key': '/k' })],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  });
});

test('several files are one kubeconfig, read again as they come and change; a broken one leaves the last in force', async () => {
  const [one, two, none] = [join(dir, 'one'), join(dir, 'two'), join(dir, 'none')];
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
  await writeFile(one, JSON.stringify({ 'current-context': 'x', contexts, clusters: [cluster('c', { server: 'https://127.0.0.1:1' })] }));
  await writeFile(two, `users:\n- name: u\n  user: {token: one}\n`);
  const source = kubeconfigSource([none, one, two]);
  const first = await source.current();
  assert.deepEqual(first, { origin: `${one}:${two}`, server: 'https://127.0.0.1:1', token: 'one' });
  assert.equal(await source.current(), first, 'nothing is read twice');
  for (const [path, text, token] of [
    [two, '{ half', 'one'],
    [two, JSON.stringify({ users: [user('u', { token: 'second' })] }), 'second'],
    [none, JSON.stringify({ users: [user('u', { token: 'third' })] }), 'third'],
  ] as const) {
    await writeFile(path, text);
    assert.equal((await source.current()).token, token);
  }
  for (const path of [one, two, none]) await rm(path);
  assert.equal((await source.current()).token, 'third');
  await assert.rejects(loadKubeconfig([one, two]), /Cannot read kubeconfig .*\/one: no such file/);
});

test('a client certificate is shown to any kubelet, a token to none that the authority of the cluster did not certify as this node', async (t) => {
  const [cluster, own] = await Promise.all([makeAuthority(), makeAuthority()]);
  t.after(() => Promise.all([cluster.remove(), own.remove()]));
  const [selfSigned, certified] = await Promise.all([own.server(), cluster.server('DNS:node-a')]);
  const { cert, key } = await cluster.client('system:node:node-a', ['system:nodes']);
  const seen: string[] = [];
  /** A kubelet with this serving certificate; it notes the credentials of those who ask. */
  const kubelet = async (serving: typeof selfSigned): Promise<string> => {
    const server = createServer({ ...serving, ca: cluster.ca, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      seen.push(`${request.url} ${subject?.CN} ${request.headers.authorization}`);
      response.setHeader('content-type', 'application/json');
      response.end('{"kubeletconfig":{}}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => (server.closeAllConnections(), server.close()));
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}/configz`;
  };
  const ask = async (access: Partial<ClusterAccess>, url: string): Promise<unknown> => {
    const base = { origin: 'test', server: 'https://api.example:6443', proxy: 'http://proxy.example:3128', ca: { data: cluster.ca }, tlsServerName: 'api' };
    const client = createClient(kubeletAccess({ ...base, ...access }, url, 'node-a'));
    try {
      return await client.raw('GET', new URL(url).pathname);
    } finally {
      await client.close();
    }
  }; // prettier-ignore
  const [signsItself, isNode] = [await kubelet(selfSigned), await kubelet(certified)];
  const certificate = { clientCertificate: { data: cert }, clientKey: { data: key } };

  assert.deepEqual(await ask(certificate, signsItself), { kubeletconfig: {} });
  await assert.rejects(ask({ token: 'secret' }, signsItself), /certificate/);
  await assert.rejects(ask({ ...certificate, token: 'secret' }, signsItself), /certificate/);
  assert.deepEqual(await ask({ token: 'secret' }, isNode), { kubeletconfig: {} });
  assert.deepEqual(seen, ['/configz system:node:node-a undefined', '/configz undefined Bearer secret']);
});
