import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { realExec } from '../../../../base/exec.ts';
import { NAMESPACE } from '../../../../agent/config/signature/check.ts';
import { KEY_TYPES } from '../../../../agent/config/signature/public-key.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';
import { assignedAndTrusted, kubeletYaml, nodeOnDisk } from '../../../support/node-on-disk.ts';
import { SshSigner } from '../../../support/ssh-signing.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50\n';
const keygen = (args: readonly string[], input = '') => spawnSync('ssh-keygen', args, { input, encoding: 'utf8' });
const without = keygen(['-?']).error === undefined ? undefined : 'there is no ssh-keygen in PATH: install openssh-client';

/** A test that needs ssh-keygen says so where there is none; with CI=true that is a failure. */
function withSshKeygen(name: string, run: (t: TestContext) => Promise<void>): void {
  test(name, (t) => {
    if (without === undefined) return run(t);
    if (process.env['CI'] === 'true') assert.fail(without);
    t.skip(without);
    return undefined;
  });
}

interface Desk {
  dir: string;
  /** Runs dkc in `dir`, with this standard input. */
  dkc: (line: string, stdin?: string) => Promise<Ran>;
}

/** A directory with the files of a ConfigMap in web/, and settings of no machine. */
async function desk(t: TestContext): Promise<Desk> {
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

const keyKinds = [['ed25519'], ['ecdsa', '-b', '256'], ['ecdsa', '-b', '384'], ['ecdsa', '-b', '521'], ['rsa', '-b', '2048']];
for (const [type = '', ...bits] of keyKinds)
  withSshKeygen(`dkc and ssh-keygen accept what the other signs with ${type} ${bits.join(' ')}`.trim(), async (t) => {
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
    assert.match(
      refused.stderr,
      /^dkc: not signed by a key in key.pub: kubelet.sig was made by ci@example.com, but not for the content of this ConfigMap/,
    );
  });

withSshKeygen('signatures that tests make are those of OpenSSH, FIDO included', async (t) => {
  const { dir } = await desk(t);
  for (const type of KEY_TYPES) {
    const by = new SshSigner(type);
    await writeFile(join(dir, 'signers'), `a ${by.line}\n`);
    await writeFile(join(dir, 'sig'), by.sign('a message'));
    const verified = keygen(['-Y', 'verify', '-f', join(dir, 'signers'), '-I', 'a', '-n', NAMESPACE, '-s', join(dir, 'sig')], 'a message');
    assert.equal(verified.status, 0, `${type}: ${verified.stdout}${verified.stderr}`);
  }
});

withSshKeygen('a manifest comes back whole with its signature, which a policy accepts', async (t) => {
  const { dir, dkc } = await desk(t);
  keygen(['-q', '-t', 'ed25519', '-N', '', '-C', 'ci@example.com', '-f', join(dir, 'key')]);
  const metadata = { namespace: 'dkc-system', name: 'web', labels: { pool: 'web' }, uid: 'u', annotations: { 'dkc.dev/allow': 'port,cgroupDriver' } }; // prettier-ignore
  const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubelet: KUBELET, more: 'x' } });
  const { stdout, stderr } = await dkc('sign - --key key -o configmap', manifest);
  const made = parse(stdout) as { metadata: unknown; data: Record<string, string> };
  assert.deepEqual(
    made.metadata,
    { namespace: 'dkc-system', name: 'web', labels: { pool: 'web' }, annotations: metadata.annotations },
    stderr,
  );
  assert.deepEqual([made.data['kubelet'], made.data['more']], [KUBELET, 'x']);
  const policy = `apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\nsignatureKeys:\n  - ${await readFile(join(dir, 'key.pub'), 'utf8')}`;
  await writeFile(join(dir, 'policy.yaml'), policy);
  const verify = 'sign - --verify --policy=policy.yaml --agent-config=agent.yaml';
  assert.match((await dkc(verify, stdout)).stdout, /^Signed by ci@example.com/);
  assert.match(
    (await dkc(`${verify} -o json`, stdout)).stdout,
    /"signed": true,\n {2}"signer": "ci@example.com",\n {2}"fingerprint": "SHA256:/,
  );
  const edited = await dkc(verify, stdout.replace('port,cgroupDriver', 'port'));
  assert.deepEqual([edited.code, /not for the content of this ConfigMap/.test(edited.stderr)], [1, true]);
});

withSshKeygen('what agents would not accept is not printed as a signature', async (t) => {
  const { dir, dkc } = await desk(t);
  keygen(['-q', '-t', 'rsa', '-b', '1024', '-N', '', '-f', join(dir, 'short')]);
  const ran = await dkc('sign web --key short');
  assert.deepEqual([ran.code, ran.stdout], [3, '']);
  assert.match(ran.stderr, /RSA key of 1024 bits/);
  assert.match((await dkc('sign web --key absent')).stderr, /^dkc: Cannot sign with .*absent: ssh-keygen: .*No such file/);
});

const configMaps = `{ "kind": "List", "items": [{ "apiVersion": "v1", "kind": "ConfigMap" }, { "apiVersion": "v1", "kind": "ConfigMap" }] }`;
const misuses: { line: string; stdin?: string; code: number; says: RegExp }[] = [
  {
    line: 'sign - --print-message',
    stdin: configMaps,
    code: 2,
    says: /standard input has 2 objects, and one ConfigMap is signed at a time/,
  },
  { line: 'sign web', code: 2, says: /--key is missing/ },
  { line: 'sign web --key a --verify', code: 2, says: /--key and --verify cannot be combined/ },
  { line: 'sign web --allowed-signers=a --key b', code: 2, says: /--allowed-signers needs --verify/ },
  { line: 'sign web/ca.crt web/kubelet web --print-message', code: 2, says: /two files for the data key/ },
  { line: 'sign a=web --print-message', code: 2, says: /a directory is not a single data key/ },
  { line: 'sign web/ca.crt b=web/kubelet --print-message', code: 2, says: /there is no data key "kubelet"; .*--kubelet-config-key/ },
  { line: 'sign - --print-message', code: 2, says: /not a manifest of a ConfigMap; name its data key: KEY=-/ },
  { line: 'sign nowhere --print-message', code: 3, says: /Cannot read .*nowhere: no such file/ },
  { line: 'sign web --print-message --allow=ä', code: 2, says: /visible ASCII/ },
  { line: 'sign web --verify --policy=none --agent-config=agent.yaml', code: 3, says: /has no signatureKeys/ },
  { line: 'sign web --verify --allowed-signers=web/ca.crt', code: 3, says: /Cannot use line 1 of web\/ca.crt: it must begin with one of/ },
];
for (const { line, stdin, code, says } of misuses)
  test(`dkc ${line}${stdin === undefined ? '' : ', given a List,'} ends with ${code} and says why`, async (t) => {
    const { dkc } = await desk(t);
    const ran = await dkc(line, stdin);
    assert.match(ran.stderr, says);
    assert.deepEqual([ran.code, ran.stdout], [code, '']);
  });

test('the message is the same for files, a directory and a manifest, and has no signature in it', async (t) => {
  const { dir, dkc } = await desk(t);
  await writeFile(join(dir, 'web/kubelet.sig'), 'x');
  await writeFile(join(dir, 'web/.hidden'), 'x');
  const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', data: { kubelet: KUBELET, 'ca.crt': 'a certificate\n' } });
  const messages = [
    await dkc('sign web --print-message'),
    await dkc('sign kubelet=web/kubelet web/ca.crt --print-message'),
    await dkc('sign - --print-message', manifest),
    await dkc('sign - --print-message', `---\n${manifest}\n---\n`),
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
  assert.doesNotMatch((await node.dkc('status')).stdout, /Signed by/);
  assert.match((await node.dkc('status', `--policy=${policy}`)).stdout, /^Signed by: {7}ci@example\.com$/m);
  const json = JSON.parse((await node.dkc('status', `--policy=${policy}`, '-o', 'json')).stdout) as { signedBy: unknown };
  assert.equal(json.signedBy, 'ci@example.com');
  assert.equal((await node.dkc('checkpoints', 'verify')).code, 0);
  const { code, stdout, stderr } = await node.dkc('checkpoints', 'verify', `--policy=${policy}`, '-o', 'json');
  assert.deepEqual([code, stderr], [1, 'dkc: the config in use is not signed\n']);
  const problems = JSON.parse(stdout) as { path: string; problem: string }[];
  assert.deepEqual(problems.map(({ path }) => path), [node.paths.file(node.trusted, 'kubelet.sig')]); // prettier-ignore
  await node.runs('last-known-good', node.trusted);
  assert.match((await node.dkc('status', `--policy=${policy}`)).stdout, /^Signed by: {7}none of the signatureKeys in the field policy$/m);
});

test('validate says whether the directory of a file is signed: a missing signature is a warning, a wrong one an error', async (t) => {
  const node = await nodeOnDisk(t);
  const dir = join(node.root, '..', 'web');
  const policy = join(node.root, '..', 'policy.yaml');
  await mkdir(dir);
  await writeFile(policy, SshSigner.policy(ci));
  const write = async (files: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  };
  const validate = () => node.dkc('validate', join(dir, 'kubelet'), `--local-config=${node.localConfig}`, `--policy=${policy}`);
  await write({ kubelet: kubeletYaml(50), 'ca.crt': 'x' });
  const unsigned = await validate();
  assert.equal(unsigned.code, 0);
  assert.match(unsigned.stdout, /warning.*not signed: there is no kubelet\.sig beside the file/);
  await write(ci.signed({ kubelet: kubeletYaml(50), 'ca.crt': 'x' }));
  assert.match((await validate()).stdout, /Valid for kubelet 1\.30\.\nSigned by ci@example\.com\.\n$/);
  await write({ 'ca.crt': 'y' });
  const wrong = await validate();
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /error.*not for the content of this ConfigMap/);
});
