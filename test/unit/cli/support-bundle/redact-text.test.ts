import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { redactText } from '../../../../cli/support-bundle/redact/text.ts';
import { redactFlags, redactUnit } from '../../../../cli/support-bundle/redact/unit.ts';
import { redactObject } from '../../../../cli/support-bundle/redact/objects.ts';

/** X stands for what is withheld. `why` finishes "removes". */
const shown = (text: string): string => text.replaceAll('<redacted>', 'X');

/** `is` is empty where nothing is removed. */
const texts = table('text | is | why')(
  String.raw`
  password: correct horse battery              | password: X                   | a value after a colon, to the end of the line
  --token=abc123 --v=2                         | --token=X --v=2               | one word after an equals sign
  run --client-secret abc123 now               | run --client-secret X now     | the word after a flag
  Authorization: Bearer abcdef123              | Authorization: X              | a header
  sent Bearer abcdef123 to it                  | sent Bearer X to it           | a bearer token without a name
  GET https://user:p@ss@host:1/x?sig=1 done    | GET https://X@host:1/x?X done | user and query of a URL
  a="b" token="q w e" err="z"                  | a="b" token="X" err="z"       | a quoted value of many words
  {"token":"abc","b":1}                        | {"token":"X","b":1}           | a value in JSON
  msg="{\"password\":\"hunter2\"}"             | msg="{\"password\":\"X\"}"    | a value in quoted JSON
  DB_PASSWORD=hunter2 FOO=1                    | DB_PASSWORD=X FOO=1           | a variable
  got eyJhbGciOi.eyJzdWIiO.c2ln here           | got X here                    | a JSON web token
  with abcdef.0123456789abcdef                 | with X                        | a bootstrap token at the end
  id AKIAIOSFODNN7EXAMPLE                      | id X                          | a key of a cloud
  x Zm9vYmFy1zQmF6cXV4Q29ycmVjdA y             | x X y                         | a long random run
  c6015908e2a6c6015908e2a6c6015908e2a6c6015908 | X                             | a digest of unknown meaning
  sha256:c6015908e2a6c6015908e2a6c6015908      |                               | nothing of a digest that is named
  uid="8c1f2d34-0a6b-4b7e-9f6e-2f1a0c9d7e55"   |                               | nothing of a uid
  --tls-private-key-file=/etc/k.key            |                               | no path of a key
  automountServiceAccountToken: false          |                               | no switch
  fell back to dkc-system/web-1:kubelet@10188  |                               | no name of a configuration
  DB_PASS=a pwd=b auth=c psk=d                 | DB_PASS=X pwd=X auth=X psk=X  | short names of passwords
  passed=3 bypass=always author=me authn=x     |                               | nothing of words that contain them
  connectionString="Server=a;Pw=b"             | connectionString="X"          | a connection string
  StartLimitIntervalSec=0                      |                               | no setting of a unit
  "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n" | "<redacted PRIVATE KEY>\n" | a key in one line
`,
).map((row) => ({ ...row, is: row.is === '' ? row.text : row.is }));
const keys = [
  {
    why: 'a key in PEM',
    text: 'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc\n-----END RSA PRIVATE KEY-----\nb',
    is: 'a\n<redacted RSA PRIVATE KEY>\nX\nb',
  },
  { why: 'a key that a log has line by line', text: '01:00 k: -----BEGIN PRIVATE KEY-----\n01:00 k: MII\n01:00 k: -----END PRIVATE KEY-----', is: '01:00 k: <redacted PRIVATE KEY>\nX' }, // prettier-ignore
  { why: 'a key without an end', text: '-----BEGIN PRIVATE KEY-----\nMII', is: '<redacted PRIVATE KEY>' },
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
  { why: 'a flag of a field', argv: '--max-pods=110 --cluster-domain=cluster.local', is: '--max-pods=110 --cluster-domain=cluster.local' },
  { why: 'an unknown flag', argv: '--vendor-thing=hunter2 --other=true', is: '--vendor-thing=X --other=true' },
  { why: 'an unknown flag and its word', argv: '--vendor-thing hunter2 --v 2', is: '--vendor-thing X --v 2' },
  { why: 'a secret field', argv: '--manifest-url-header=A:b', is: '--manifest-url-header=X' },
  { why: 'a URL of pods', argv: '--manifest-url=https://example.com/hunter2', is: '--manifest-url=X' },
  { why: 'a value that is none of a known flag', argv: '--config=a;b', is: '--config=X' },
  { why: 'programs and words of commands', argv: '/usr/bin/dkc agent run', is: '/usr/bin/dkc agent run' },
  { why: 'no other word', argv: '/bin/echo hunter2 /hunter/3 Hunter', is: '/bin/echo X X X' },
  { why: 'variables', argv: '/usr/bin/kubelet $KUBELET_ARGS', is: '/usr/bin/kubelet $KUBELET_ARGS' },
];
for (const { why, argv, is } of flags)
  test(`a command line is shown with ${why}`, () => assert.equal(shown(redactFlags(argv.split(' ')).join(' ')), is));

test('a unit is shown without comments, values of variables and credentials', () => {
  const unit = [
    '# /etc/systemd/system/kubelet.service.d/9.conf',
    '# password is hunter2',
    '[Service]',
    'Environment="A=hunter2" B=hunter3 MALLOC_ARENA_MAX=2 MALLOC_X=hunter7',
    'Environment="KUBELET_KUBEADM_ARGS=--max-pods=9 --x=hunter4"',
    'SetCredential=x:hunter5',
    'EnvironmentFile=-/etc/default/kubelet',
    'ExecStart=/usr/bin/kubelet --config=/a \\',
    '    --magic=hunter6 $KUBELET_KUBEADM_ARGS',
    'Restart=always',
  ].join('\n');
  assert.equal(
    shown(redactUnit(unit)),
    [
      '# /etc/systemd/system/kubelet.service.d/9.conf',
      '[Service]',
      'Environment=A=X B=X MALLOC_ARENA_MAX=2 MALLOC_X=X',
      'Environment="KUBELET_KUBEADM_ARGS=--max-pods=9 --x=X"',
      'SetCredential=X',
      'EnvironmentFile=-/etc/default/kubelet',
      'ExecStart=/usr/bin/kubelet --config=/a --magic=X $KUBELET_KUBEADM_ARGS',
      'Restart=always',
    ].join('\n'),
  );
});

test('an object is shown without annotations of others, managed fields, variables and what has a secret name', () => {
  const seen = redactObject({
    metadata: {
      uid: 'abcd',
      managedFields: [1],
      annotations: { 'dkc.dev/retry': '1', 'kubectl.kubernetes.io/last-applied-configuration': 'a' },
    },
    spec: {
      env: [{ name: 'A', value: 'hunter2' }],
      args: ['--x=hunter3', '--v=2'],
      token: 'hunter4',
      tokenSeconds: 5,
      deep: { apiKey: { a: 'b' } },
      httpHeaders: [{ name: 'X', value: 'hunter5' }],
      csi: { volumeAttributes: { a: 'hunter6' } },
    },
    contentSha256: 'c6015908e2a6c6015908e2a6c6015908',
  });
  assert.deepEqual(JSON.parse(shown(JSON.stringify(seen))), {
    metadata: { uid: 'abcd', annotations: { 'dkc.dev/retry': '1', 'kubectl.kubernetes.io/last-applied-configuration': 'X' } },
    spec: {
      env: [{ name: 'A', value: 'X' }],
      args: ['--x=X', '--v=2'],
      token: 'X',
      tokenSeconds: 5,
      deep: { apiKey: 'X' },
      httpHeaders: 'X',
      csi: { volumeAttributes: 'X' },
    },
    contentSha256: 'c6015908e2a6c6015908e2a6c6015908',
  });
});
