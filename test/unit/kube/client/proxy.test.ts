import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProxyError } from '../../../../kube/client/connection.ts';
import { proxyFor, proxyHeaders } from '../../../../kube/client/proxy.ts';

const P = 'http://p:3128/';
const cases: { server: string; env: Record<string, string>; proxy: string | undefined }[] = [
  { server: 'https://api:6443', env: {}, proxy: undefined },
  { server: 'https://api:6443', env: { HTTPS_PROXY: P }, proxy: P },
  { server: 'https://api:6443', env: { https_proxy: P }, proxy: P },
  { server: 'https://api:6443', env: { HTTPS_PROXY: P, https_proxy: 'http://other' }, proxy: P },
  { server: 'https://api:6443', env: { HTTPS_PROXY: '', https_proxy: P }, proxy: P },
  { server: 'https://api:6443', env: { HTTP_PROXY: P }, proxy: undefined },
  { server: 'http://api', env: { HTTP_PROXY: P }, proxy: P },
  { server: 'http://api', env: { HTTPS_PROXY: P }, proxy: undefined },
  { server: 'https://api', env: { all_proxy: P }, proxy: P },
  { server: 'https://api', env: { ALL_PROXY: 'http://other', HTTPS_PROXY: P }, proxy: P },
  { server: 'https://api', env: { HTTPS_PROXY: 'p:3128' }, proxy: P },
  { server: 'https://api', env: { HTTPS_PROXY: 'https://u:p@p' }, proxy: 'https://u:p@p/' },
  { server: 'https://localhost:6443', env: { HTTPS_PROXY: P }, proxy: undefined },
  { server: 'https://127.8.9.1', env: { HTTPS_PROXY: P }, proxy: undefined },
  { server: 'https://[::1]:6443', env: { HTTPS_PROXY: P }, proxy: undefined },
];
for (const { server, env, proxy } of cases) {
  test(`${server} with ${JSON.stringify(env)} goes ${proxy === undefined ? 'directly' : 'through the proxy'}`, () =>
    assert.equal(proxyFor(server, env), proxy));
}

// NO_PROXY, a server it exempts, and one it does not.
const exempt: [string, string[], string[]][] = [
  ['*', ['https://anything', 'https://10.0.0.1'], []],
  ['api', ['https://api', 'https://api:6443', 'https://x.api', 'https://API'], ['https://papi', 'https://api.x']],
  ['.corp', ['https://a.corp', 'https://a.b.corp'], ['https://corp']],
  ['*.corp', ['https://a.corp'], ['https://corp']],
  ['corp:6443', ['https://corp:6443', 'https://a.corp:6443'], ['https://corp', 'https://corp:443']],
  ['corp:443', ['https://corp'], ['https://corp:6443']],
  ['10.0.0.1', ['https://10.0.0.1:6443'], ['https://10.0.0.10']],
  ['10.0.0.1:6443', ['https://10.0.0.1:6443'], ['https://10.0.0.1']],
  ['10.96.0.0/12', ['https://10.96.0.1', 'https://10.111.255.255:6443'], ['https://10.112.0.0', 'https://host']],
  ['fd00::/8', ['https://[fd00::1]:6443'], ['https://[fe80::1]', 'https://10.0.0.1']],
  ['[fd00::1]:6443', ['https://[fd00::1]:6443'], ['https://[fd00::1]']],
  ['fd00::1', ['https://[fd00::1]:6443'], ['https://[fd00::2]']],
  [' a , b ,, ', ['https://a', 'https://b'], ['https://c']],
  ['10.0.0.0/33,a/b,:,.', [], ['https://10.0.0.1', 'https://a']],
];
for (const [list, direct, proxied] of exempt) {
  test(`NO_PROXY=${list}`, () => {
    const ways = [...direct, ...proxied].map((server) => [server, proxyFor(server, { HTTPS_PROXY: P, no_proxy: list })]);
    assert.deepEqual(ways, [...direct.map((server) => [server, undefined]), ...proxied.map((server) => [server, P])]);
  });
}

test('a proxy that cannot be used is refused by its variable, without its password', () => {
  for (const value of ['socks5://u:secret@p:1080', 'socks5h://p', 'ftp://u:secret@p', 'http://', 'http://u:secret@']) {
    assert.throws(
      () => proxyFor('https://api', { ALL_PROXY: value }),
      (error: Error) => error.message.startsWith('Cannot use the proxy of ALL_PROXY: it is ') && !error.message.includes('secret'),
    );
  }
});

test('user and password go into a header, and never into a name', () => {
  const proxy = new URL('http://us%40er:p%3Ass@p:3128');
  assert.match(new ProxyError(proxy, 'it is down').message, /^cannot connect through the proxy http:\/\/p:3128: it is down$/);
  assert.deepEqual(proxyHeaders(proxy), { 'proxy-authorization': `Basic ${Buffer.from('us@er:p:ss').toString('base64')}` });
  assert.deepEqual(proxyHeaders(new URL('http://p')), {});
});
