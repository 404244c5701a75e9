import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { realExec } from '../../../../base/exec.ts';
import { NAMESPACE } from '../../../../agent/config/signature/check.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';
import { assignedAndTrusted, kubeletYaml } from '../../../support/node-on-disk.ts';
import { SshSigner } from '../../../support/ssh-signing.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50\n';
const keygen = (args: readonly string[], input = '') => spawnSync('ssh-keygen', args, { input, encoding: 'utf8' });
/** With CI=true a machine without ssh-keygen fails. */
const skip = keygen(['-?']).error !== undefined && process.env['CI'] !== 'true' ? 'install openssh-client for ssh-keygen' : false;

/** A directory with the files of a ConfigMap in web/, and `dkc` in it, with settings of no machine. */
async function desk(t: TestContext) {
  const dir = await tempDir(t);
  await mkdir(join(dir, 'web'));
  await writeFile(join(dir, 'web/kubelet'), KUBELET);
  await writeFile(join(dir, 'web/ca.crt'), 'a certificate\n');
  await writeFile(join(dir, 'agent.yaml'), '');
  const path = (text: string): string => join(dir, text);
  const dkc = (line: string, stdin = ''): Promise<Ran> =>
    runCli(line.split(' '), { path, exec: realExec, stdin: async () => Buffer.from(stdin) });
  return { dir, dkc };
}

const keyKinds = [['ed25519'], ['ecdsa', '-b', '384'], ['rsa', '-b', '2048']];
for (const [type = '', ...bits] of keyKinds)
  test(`dkc and ssh-keygen accept what the other signs with ${type} ${bits.join(' ')}`.trim(), { skip }, async (t) => {
    const { dir, dkc } = await desk(t);
    const key = join(dir, 'key');
    assert.equal(keygen(['-q', '-t', type, ...bits, '-N', '', '-C', 'ci@example.com', '-f', key]).status, 0);
    await writeFile(join(dir, 'signers'), `ci@example.com ${await readFile(`${key}.pub`, 'utf8')}`);
    const message = (await dkc('sign web --print-message')).stdout;

    const byDkc = await dkc('sign web --key key');
    assert.deepEqual([byDkc.code, byDkc.stderr], [0, '']);
    await writeFile(join(dir, 'sig'), byDkc.stdout);
    const verified = keygen(['-Y', 'verify', '-f', join(dir, 'signers'), '-I', 'ci@example.com', '-n', NAMESPACE, '-s', join(dir, 'sig')], message); // prettier-ignore
    assert.match(verified.stdout, /^Good "dkc-kubelet-config" signature for ci@example.com/, verified.stderr);

    const byKeygen = keygen(['-Y', 'sign', '-n', NAMESPACE, '-f', key], message);
    await writeFile(join(dir, 'web/kubelet.sig'), byKeygen.stdout);
    const accepted = await dkc('sign web --verify --allowed-signers=signers');
    assert.match(accepted.stdout, /^Signed by ci@example.com \(SHA256:[\w+/]{43}\)\.\n$/, accepted.stderr);
    await writeFile(join(dir, 'web/ca.crt'), 'another certificate\n');
    const refused = await dkc('sign web --verify --allowed-signers=key.pub');
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /^dkc: not signed by a key in key.pub: kubelet.sig was made by ci@example.com, but not for the content of this ConfigMap/); // prettier-ignore
  });

test('a manifest comes back whole with its signature, which a policy accepts', { skip }, async (t) => {
  const { dir, dkc } = await desk(t);
  keygen(['-q', '-t', 'ed25519', '-N', '', '-C', 'ci@example.com', '-f', join(dir, 'key')]);
  const metadata = { namespace: 'dkc-system', name: 'web', labels: { pool: 'web' }, uid: 'u', annotations: { 'dkc.dev/allow': 'port,cgroupDriver' } }; // prettier-ignore
  const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubelet: KUBELET, more: 'x' } });
  const { stdout, stderr } = await dkc('sign - --key key -o configmap', manifest);
  const made = parse(stdout) as { metadata: unknown; data: Record<string, string> };
  assert.deepEqual(made.metadata, { namespace: 'dkc-system', name: 'web', labels: { pool: 'web' }, annotations: metadata.annotations }, stderr); // prettier-ignore
  assert.deepEqual([made.data['kubelet'], made.data['more']], [KUBELET, 'x']);
  const policy = `apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\nsignatureKeys:\n  - ${await readFile(join(dir, 'key.pub'), 'utf8')}`;
  await writeFile(join(dir, 'policy.yaml'), policy);
  const verify = 'sign - --verify --policy=policy.yaml --agent-config=agent.yaml';
  assert.match((await dkc(verify, stdout)).stdout, /^Signed by ci@example.com/);
  assert.match((await dkc(`${verify} -o json`, stdout)).stdout, /"signed": true,\n {2}"signer": "ci@example.com",\n {2}"fingerprint": "SHA256:/); // prettier-ignore
  const edited = await dkc(verify, stdout.replace('port,cgroupDriver', 'port'));
  assert.deepEqual([edited.code, /not for the content of this ConfigMap/.test(edited.stderr)], [1, true]);
});

test('what agents would not accept is not printed as a signature', { skip }, async (t) => {
  const { dir, dkc } = await desk(t);
  keygen(['-q', '-t', 'rsa', '-b', '1024', '-N', '', '-f', join(dir, 'short')]);
  const ran = await dkc('sign web --key short');
  assert.deepEqual([ran.code, ran.stdout, /RSA key of 1024 bits/.test(ran.stderr)], [3, '', true]);
});

const misuses = [
  { line: 'sign web', code: 2, says: /--key is missing/ },
  { line: 'sign web/ca.crt web/kubelet web --print-message', code: 2, says: /two files for the data key/ },
  { line: 'sign web --allowed-signers=a --key b', code: 2, says: /--allowed-signers needs --verify/ },
  { line: 'sign web --key a --verify', code: 2, says: /--key and --verify cannot be combined/ },
  { line: 'sign web/ca.crt b=web/kubelet --print-message', code: 2, says: /there is no data key "kubelet"; .*--kubelet-config-key/ },
  { line: 'sign - --print-message', code: 2, says: /not a manifest of a ConfigMap; name its data key: KEY=-/ },
  { line: 'sign web --verify --policy=none --agent-config=agent.yaml', code: 3, says: /has no signatureKeys/ },
  { line: 'sign web --verify --allowed-signers=web/ca.crt', code: 3, says: /Cannot use line 1 of web\/ca.crt: it must begin with one of/ },
];
for (const { line, code, says } of misuses)
  test(`dkc ${line} ends with ${code} and says why`, async (t) => {
    const { dkc } = await desk(t);
    const ran = await dkc(line);
    assert.match(ran.stderr, says);
    assert.deepEqual([ran.code, ran.stdout], [code, '']);
  });

test('the message is the same for files, a directory and a manifest, and has no signature in it', async (t) => {
  const { dir, dkc } = await desk(t);
  await writeFile(join(dir, 'web/kubelet.sig'), 'x');
  const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', data: { kubelet: KUBELET, 'ca.crt': 'a certificate\n' } });
  const messages = [
    await dkc('sign web --print-message'),
    await dkc('sign - --print-message', manifest),
    await dkc('sign - --print-message', `{ "kind": "List", "items": [${manifest}] }`),
  ];
  const [first] = messages;
  assert.match(first?.stdout ?? '', /^dkc-kubelet-config v1\nkubeletConfigKey kubelet\n([0-9a-f]{64} {2}\S+\n){2}$/);
  for (const { stdout } of messages) assert.equal(stdout, first?.stdout);
});

const ci = new SshSigner();

test('status and checkpoints verify say who signed what a node runs, where its policy asks', async (t) => {
  const node = await assignedAndTrusted(t, {}, { files: ci.signed({ kubelet: kubeletYaml(50) }) });
  const policy = join(node.root, '..', 'policy.yaml');
  await writeFile(policy, SshSigner.policy(ci));
  assert.match((await node.dkc('status', `--policy=${policy}`)).stdout, /^Signed by: {7}ci@example\.com$/m);
  assert.match((await node.dkc('status', `--policy=${policy}`, '-o', 'json')).stdout, /"signedBy": "ci@example\.com"/);
  const { code, stderr } = await node.dkc('checkpoints', 'verify', `--policy=${policy}`, '-o', 'json');
  assert.deepEqual([code, stderr], [1, 'dkc: the config in use is not signed\n']);
  await node.runs('last-known-good', node.trusted);
  assert.match((await node.dkc('status', `--policy=${policy}`)).stdout, /^Signed by: {7}none of the signatureKeys in the field policy$/m);
});

test('validate says whether the directory of a file is signed: a missing signature is a warning, a wrong one an error', async (t) => {
  const node = await assignedAndTrusted(t);
  await writeFile(join(node.root, 'policy.yaml'), SshSigner.policy(ci));
  const validate = async (files: Record<string, string>): Promise<Ran> => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(node.root, name), text);
    return node.dkc('validate', join(node.root, 'web'), `--local-config=${node.localConfig}`, `--policy=${node.root}/policy.yaml`);
  };
  assert.match((await validate({ web: kubeletYaml(50) })).stdout, /warning.*not signed: there is no kubelet\.sig beside the file/);
  const wrong = await validate({ 'kubelet.sig': ci.sign('another message') });
  assert.deepEqual([wrong.code, /error.*not for the content of this ConfigMap/.test(wrong.stdout)], [1, true], wrong.stdout);
});
