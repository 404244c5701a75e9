import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../../../support/table.ts';
import { controllersFlags } from '../../../../cli/controllers/command.ts';
import { controllersSettings, type ControllersSettings, parsePrometheusConfig } from '../../../../cli/controllers/settings.ts';
import { plainFlags } from '../../../../cli/args/args.ts';

const settings = (argv: string): ControllersSettings =>
  controllersSettings(plainFlags('controllers run', controllersFlags, argv.split(' ').filter(Boolean)));

const defaults: ControllersSettings = {
  controllers: ['daemonset', 'statefulset'],
  daemonSet: { placement: 'scheduler', workers: 5 },
  statefulSet: { workers: 5 },
  rollout: { configMapNamespace: 'dkc-system', workers: 5 },
  prometheusConfig: undefined,
  page: undefined,
  kubeconfig: undefined,
  leaderElect: {
    namespace: 'kube-system',
    name: 'dkc-controllers',
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  },
  metricsAddress: '127.0.0.1:10461',
  debug: false,
  resyncMs: 0,
  logFormat: 'text',
  verbosity: 0,
};

/** What flags give besides the defaults, in YAML. */
const read = table('why | argv | gives')(`
  one of them is asked for              | --controllers=statefulset                             | {controllers: [statefulset]}
  a tenth of the cluster may be unavailable | --rollout-max-unavailable=10%
    | {rollout: {configMapNamespace: dkc-system, workers: 5, maxUnavailable: 10%}}
  Prometheus wants credentials          | --rollout-prometheus-config=a/b.yaml                  | {prometheusConfig: a/b.yaml}
  the page is for others too, with a token | --controllers=rollout --page-bind-address=:8443 --page-token-file=t
    | {controllers: [rollout], page: {at: {host: '', port: 8443}, tokenFile: t}}
  it shall place pods itself, one set at a time | --daemonset-placement=controller --concurrent-syncs=1
    | {daemonSet: {placement: controller, workers: 1}, statefulSet: {workers: 1}, rollout: {configMapNamespace: dkc-system, workers: 1}}
  the lease is named as kube-controller-manager is told
    | --leader-elect --leader-elect-resource-namespace=ns --leader-elect-resource-name=a.b
    | {leaderElect: {namespace: ns, name: a.b, leaseDurationMs: 15000, renewDeadlineMs: 10000, retryPeriodMs: 2000}}
  it serves nothing                     | --metrics-bind-address=                               | {metricsAddress: ''}
  it shall say more, in JSON            | -vv --log-format=json                                 | {verbosity: 2, logFormat: json}
`);
const others: { why: string; argv: string; gives: Partial<ControllersSettings> }[] = [
  { why: 'rollouts are asked for, with another namespace', argv: '--controllers=rollout,daemonset --rollout-namespace=other', gives: { controllers: ['daemonset', 'rollout'], rollout: { configMapNamespace: 'other', workers: 5 }, page: { at: { host: '127.0.0.1', port: 10_463 }, tokenFile: undefined } } },
  { why: 'it shall look after a part', argv: '--namespace=team-a --object-selector=by=dkc,tier!=test', gives: { daemonSet: { placement: 'scheduler', workers: 5, namespace: 'team-a', objectSelector: 'by=dkc,tier!=test' }, statefulSet: { workers: 5, namespace: 'team-a', objectSelector: 'by=dkc,tier!=test' } } },
]; // prettier-ignore
for (const { why, argv, gives } of [...read.map((row) => ({ ...row, gives: parse(row.gives) as object })), ...others])
  test(`controllers run is set up where ${why}`, () => assert.deepEqual(settings(argv), { ...defaults, ...gives }));

const refused = table('argv | says')(`
  --controllers=rollouts               | --controllers has an unknown controller "rollouts", did you mean rollout?
  --controllers=rollout --page-bind-address=0.0.0.0:80
    | --page-bind-address needs --page-token-file unless it is loopback: the page shows names and errors of all nodes
  --controllers=rollout --page-bind-address=here | --page-bind-address must be HOST:PORT, such as 127.0.0.1:0, or empty to switch it off
  --rollout-max-unavailable=0          | --rollout-max-unavailable must be a number of nodes from 1 on, or a percentage from 1% to 100%
  --controllers=                       | --controllers has an empty name; known: daemonset, statefulset, rollout
  --object-selector=a=b=c
    | --object-selector must be a label selector such as app=web,tier!=test: unable to parse label selector: found "=" at 4, expected "," or the end
  --concurrent-syncs=0                 | --concurrent-syncs must be 1 or more
  --namespace=A_b                      | --namespace must be a namespace
  --controllers=*                      | --controllers has an unknown controller "*"; known: daemonset, statefulset, rollout
  --controllers=statefulset --daemonset-placement=controller | --daemonset-placement applies to DaemonSets, which --controllers excludes
  --leader-elect-resource-name=A       | --leader-elect-resource-name must be the name of a lease: a DNS name in lower case
  --debug --metrics-bind-address=      | --debug needs a --metrics-bind-address
  --debug --metrics-bind-address=:8080 | --debug needs a --metrics-bind-address on loopback: it exposes internal state
  --leader-elect-lease-duration=10s    | --leader-elect-lease-duration must be longer than --leader-elect-renew-deadline
  --leader-elect-renew-deadline=2400ms | --leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period
  --leader-elect-retry-period=0s       | --leader-elect-retry-period must be more than 0
`);
for (const { argv, says } of refused)
  test(`controllers run refuses ${argv}`, () => {
    const message = `controllers run: ${says}; see dkc controllers run --help`;
    assert.throws(() => settings(argv), { name: 'UsageError', message });
  });

const parsed = (text: string) => parsePrometheusConfig(text, '/etc/dkc/prometheus.yaml', '/etc/dkc');
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
  assert.deepEqual(plain(parsed(text)), [
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
    assert.throws(() => parsed(text), (error) => error instanceof Error && error.message.startsWith(begin) || assert.fail(String(error))); // prettier-ignore
  });
