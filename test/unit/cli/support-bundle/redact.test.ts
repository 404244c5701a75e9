import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../../../support/table.ts';
import { redactKubeletConfig, redactSettings } from '../../../../cli/support-bundle/redact/configuration.ts';
import { KnownValues } from '../../../../cli/support-bundle/redact/known-values.ts';
import { redactText } from '../../../../cli/support-bundle/redact/text.ts';
import { redactFlags, redactUnit } from '../../../../cli/support-bundle/redact/unit.ts';
import { redactObject } from '../../../../cli/support-bundle/redact/objects.ts';

/** X stands for what is withheld. `why` finishes "removes". */
const shown = (text: string): string => text.replaceAll('<redacted>', 'X');

/** `is` is empty where nothing is removed. */
const texts = table('text | is | why')(
  String.raw`
  password: correct horse battery              | password: X                   | a value after a colon, to the end of the line
  run --client-secret abc123 now               | run --client-secret X now     | the word after a flag
  Authorization: Bearer abcdef123              | Authorization: X              | a header
  GET https://user:p@ss@host:1/x?sig=1 done    | GET https://X@host:1/x?X done | user and query of a URL
  a="b" token="q w e" err="z"                  | a="b" token="X" err="z"       | a quoted value of many words
  {"token":"abc","b":1}                        | {"token":"X","b":1}           | a value in JSON
  msg="{\"password\":\"hunter2\"}"             | msg="{\"password\":\"X\"}"    | a value in quoted JSON
  DB_PASSWORD=hunter2 FOO=1                    | DB_PASSWORD=X FOO=1           | a variable
  got eyJhbGciOi.eyJzdWIiO.c2ln here           | got X here                    | a JSON web token
  id AKIAIOSFODNN7EXAMPLE                      | id X                          | a key of a cloud
  x Zm9vYmFy1zQmF6cXV4Q29ycmVjdA y             | x X y                         | a long random run
  c6015908e2a6c6015908e2a6c6015908e2a6c6015908 | X                             | a digest of unknown meaning
  sha256:c6015908e2a6c6015908e2a6c6015908      |                               | nothing of a digest that is named
  --tls-private-key-file=/etc/k.key            |                               | no path of a key
  automountServiceAccountToken: false          |                               | no switch
  DB_PASS=a pwd=b auth=c psk=d                 | DB_PASS=X pwd=X auth=X psk=X  | short names of passwords
  connectionString="Server=a;Pw=b"             | connectionString="X"          | a connection string
  "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n" | "<redacted PRIVATE KEY>\n" | a key in one line
`,
).map((row) => ({ ...row, is: row.is === '' ? row.text : row.is }));
const keys = [
  { why: 'a key in PEM', text: 'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nb', is: 'a\n<redacted RSA PRIVATE KEY>\nX\nb' }, // prettier-ignore
  { why: 'a key that a log has line by line', text: '01:00 k: -----BEGIN PRIVATE KEY-----\n01:00 k: MII\n01:00 k: -----END PRIVATE KEY-----', is: '01:00 k: <redacted PRIVATE KEY>\nX' }, // prettier-ignore
];
for (const { why, text, is } of [...texts, ...keys]) test(`removes ${why}`, () => assert.equal(shown(redactText(text)), is));

test('a line of megabytes is cut, and read in time that grows with its length', () => {
  for (const part of ['a', 'token', 'a://', '"', 'password="', '-----BEGIN ', 'eyJ', '\\']) {
    const text = redactText(part.repeat(2 ** 19 / part.length));
    assert.ok(text.length < 100_000, part);
  }
});

const flags = [
  { why: 'known flags', argv: '--config=/a/b --v=2 --node-ip=10.0.0.1', is: '--config=/a/b --v=2 --node-ip=10.0.0.1' },
  { why: 'an unknown flag and its word', argv: '--vendor-thing hunter2 --v 2', is: '--vendor-thing X --v 2' },
  { why: 'a secret field', argv: '--manifest-url-header=A:b', is: '--manifest-url-header=X' },
  { why: 'a URL of pods', argv: '--manifest-url=https://example.com/hunter2', is: '--manifest-url=X' },
  { why: 'a value that is none of a known flag', argv: '--config=a;b', is: '--config=X' },
  { why: 'no other word', argv: '/bin/echo hunter2 /hunter/3 Hunter', is: '/bin/echo X X X' },
  { why: 'variables', argv: '/usr/bin/kubelet $KUBELET_ARGS', is: '/usr/bin/kubelet $KUBELET_ARGS' },
];
for (const { why, argv, is } of flags)
  test(`a command line is shown with ${why}`, () => assert.equal(shown(redactFlags(argv.split(' ')).join(' ')), is));

const unit = [
  { line: '# /etc/systemd/system/kubelet.service.d/9.conf', is: '# /etc/systemd/system/kubelet.service.d/9.conf' },
  { line: '# password is hunter2', is: '' },
  { line: 'Environment="A=hunter2" B=hunter3 MALLOC_ARENA_MAX=2 MALLOC_X=hunter7', is: 'Environment=A=X B=X MALLOC_ARENA_MAX=2 MALLOC_X=X' }, // prettier-ignore
  { line: 'Environment="KUBELET_KUBEADM_ARGS=--max-pods=9 --x=hunter4"', is: 'Environment="KUBELET_KUBEADM_ARGS=--max-pods=9 --x=X"' },
  { line: 'SetCredential=x:hunter5', is: 'SetCredential=X' },
  { line: 'EnvironmentFile=-/etc/default/kubelet', is: 'EnvironmentFile=-/etc/default/kubelet' },
  { line: 'ExecStart=/usr/bin/kubelet --config=/a \\\n    --magic=hunter6 $A', is: 'ExecStart=/usr/bin/kubelet --config=/a --magic=X $A' },
  { line: 'Restart=always', is: 'Restart=always' },
];
test('a unit is shown without comments, values of variables and credentials', () => {
  const seen = shown(redactUnit(`[Service]\n${unit.map(({ line }) => line).join('\n')}`));
  assert.equal(seen, ['[Service]', ...unit.map(({ is }) => is).filter((is) => is !== '')].join('\n'));
});

const DIGEST = 'c6015908e2a6c6015908e2a6c6015908';
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const parts = [
  { given: { metadata: { uid: 'abcd', managedFields: [1], annotations: { 'dkc.dev/retry': '1', [lastApplied]: 'a' } } }, is: { metadata: { uid: 'abcd', annotations: { 'dkc.dev/retry': '1', [lastApplied]: 'X' } } } },
  { given: { env: [{ name: 'A', value: 'hunter2' }], args: ['--x=hunter3', '--v=2'] }, is: { env: [{ name: 'A', value: 'X' }], args: ['--x=X', '--v=2'] } },
  { given: { token: 'hunter4', tokenSeconds: 5, deep: { apiKey: { a: 'b' } } }, is: { token: 'X', tokenSeconds: 5, deep: { apiKey: 'X' } } },
  { given: { httpHeaders: [{ name: 'X', value: 'hunter5' }], csi: { volumeAttributes: { a: 'hunter6' } } }, is: { httpHeaders: 'X', csi: { volumeAttributes: 'X' } } },
  { given: { contentSha256: DIGEST }, is: { contentSha256: DIGEST } },
]; // prettier-ignore
for (const { given, is } of parts)
  test(`of an object ${Object.keys(given).join(', ')} are shown without secrets`, () =>
    assert.deepEqual(JSON.parse(shown(JSON.stringify(redactObject(given)))), is));

const X = '<redacted>';
/** In YAML, # stands for what is withheld; `is` is empty where nothing is. `why` finishes "is shown with". */
const cases = table('config | is | why')(`
  {maxPods: 110, enableServer: true}                               |                                 | numbers and switches
  {cgroupDriver: systemd, topologyManagerPolicy: none}             |                                 | words of a list
  {cgroupDriver: hunter2}                                          | {cgroupDriver: #}               | no word beside the list
  {maxPods: hunter2}                                               | {maxPods: #}                    | no text for a number
  {evictionHard: {memory.available: 100Mi, nodefs.available: 10%}} |                                 | quantities
  {featureGates: {A: true, B: hunter2}}                            | {featureGates: {A: true, B: #}} | gates
  {clusterDomain: cluster.local, clusterDNS: [10.96.0.10]}         |                                 | the domain
  {staticPodURLHeader: {Authorization: [hunter2]}}                 | {staticPodURLHeader: #}         | no header
  {staticPodURL: https://u:p@h:1/hunter2?a}                        | {staticPodURL: https://h:1/#}   | of a URL the host
  {authentication: {x509: {clientCAFile: /etc/ca.crt}}}            |                                 | paths
  {maxPod: hunter2, hunter 3: 1}                                   | {maxPod: #, #: #}               | the name of an unknown field
  {tlsCipherSuites: [TLS_AES_128_GCM_SHA256, hunter2]} | {tlsCipherSuites: [TLS_AES_128_GCM_SHA256, #]} | known ciphers
`);
for (const { why, config, is } of cases)
  test(`a configuration is shown with ${why}`, () => {
    const shown = parse((is === '' ? config : is).replaceAll('#', X)) as object;
    assert.deepEqual(redactKubeletConfig(parse(config) as Record<string, unknown>), shown);
  });

test('withheld values are told, so that they can be removed elsewhere', () => {
  const known = new KnownValues();
  redactKubeletConfig({ staticPodURLHeader: { A: ['Bearer correct-horse', 'pass'] }, typo: 'Zq8-long-enough', other: 'word' }, known.add);
  assert.equal(known.sweep('a correct-horse b pass c Zq8-long-enough d word e'), `a ${X} b ${X} c ${X} d word e`);
});

test('a known secret is found in JSON, in a URL and in base64, wherever it begins', () => {
  const secret = 'p"ss w/rd-of-node';
  const known = new KnownValues();
  known.add(secret, 'secret');
  assert.equal(known.sweep(JSON.stringify({ a: secret })), `{"a":"${X}"}`);
  assert.equal(known.sweep(`?q=${encodeURIComponent(secret)}`), `?q=${X}`);
  for (const before of ['', 'u', 'us', 'user:']) {
    const swept = known.sweep(Buffer.from(`${before}${secret}!`).toString('base64'));
    assert.ok(swept.includes(X), before);
    assert.ok(!Buffer.from(swept.replaceAll(X, ''), 'base64').toString('latin1').includes('rd-of'), before);
  }
});

test('settings are shown without user and query of URLs, and without keys that dkc does not know', () => {
  const settings = { nodeName: 'a', kubeletHealthz: 'http://u:hunter2@127.0.0.1:1/healthz?k=hunter3', hunter4: 'hunter5', verbosity: 2 };
  const is = { nodeName: 'a', kubeletHealthz: `http://${X}@127.0.0.1:1/healthz?${X}`, verbosity: 2, '1 unknown keys': X };
  assert.deepEqual(redactSettings(settings, () => undefined), is); // prettier-ignore
});
