import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePrometheusConfig } from '../../../../cli/controllers/run.ts';

const parse = (text: string) => parsePrometheusConfig(text, '/etc/dkc/prometheus.yaml', '/etc/dkc');
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('servers have credentials and authorities in files, whose paths are of the directory of the file', () => {
  const text = `
servers:
  - url: https://prometheus.monitoring:9090
    bearerTokenFile: /var/run/secrets/token
    tlsConfig: { caFile: ca.crt, certFile: tls.crt, keyFile: tls.key, serverName: prom }
  - url: http://other/prometheus
    basicAuth: { username: dkc, passwordFile: secret/password }
`;
  assert.deepEqual(plain(parse(text)), [
    {
      url: 'https://prometheus.monitoring:9090',
      bearerTokenFile: '/var/run/secrets/token',
      tlsConfig: { caFile: '/etc/dkc/ca.crt', certFile: '/etc/dkc/tls.crt', keyFile: '/etc/dkc/tls.key', serverName: 'prom' },
    },
    { url: 'http://other/prometheus', basicAuth: { username: 'dkc', passwordFile: '/etc/dkc/secret/password' } },
  ]);
});

const one = (rest: string): string => `servers: [{url: "https://a", ${rest}}]`;
const wrong: { text: string; says: string }[] = [
  { text: '{', says: 'it is not YAML: ' },
  { text: 'servers: [{url: "ftp://a"}]', says: 'servers[0].url: it must be the base of a server without credentials, such as https://prometheus.monitoring:9090' }, // prettier-ignore
  { text: 'servers: [{url: "https://me:secret@a"}]', says: 'servers[0].url: it must be the base of a server without credentials' },
  { text: one('token: x'), says: 'servers[0].token: there is no such key; ' },
  { text: one('bearerTokenFile: a, basicAuth: {username: a, passwordFile: b}'), says: 'servers[0].basicAuth: there is a bearerTokenFile as well; keep one of them' }, // prettier-ignore
  { text: one('basicAuth: {username: "a:b", passwordFile: b}'), says: 'servers[0].basicAuth.username: it is "a:b"; it must be a name without a colon' }, // prettier-ignore
  { text: one('tlsConfig: {certFile: a}'), says: 'servers[0].tlsConfig.certFile: certFile and keyFile belong together; write both' },
  { text: 'servers: [{url: "http://a", tlsConfig: {caFile: a}}]', says: 'servers[0].tlsConfig: the URL is http; write https, or leave it out' }, // prettier-ignore
  { text: `servers: [${Array.from({ length: 65 }, (_, at) => `{url: "http://a-${at}"}`).join()}]`, says: 'it has 65 servers, at most 64 are allowed' }, // prettier-ignore
];
for (const { text, says } of wrong)
  test(`servers of Prometheus are refused: ${text.slice(0, 70)}`, () => {
    const begin = `Cannot use --rollout-prometheus-config /etc/dkc/prometheus.yaml: ${says}`;
    assert.throws(() => parse(text), (error) => error instanceof Error && error.message.startsWith(begin) || assert.fail(String(error))); // prettier-ignore
  });
