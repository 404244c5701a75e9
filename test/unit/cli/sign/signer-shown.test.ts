import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubeletYaml, nodeOnDisk } from '../../../support/node-on-disk.ts';
import { SshSigner } from '../../../support/ssh-signing.ts';

const ci = new SshSigner();

test('status and checkpoints verify say who signed what a node runs, where its policy asks', async (t) => {
  const node = await nodeOnDisk(t);
  const policy = join(node.root, '..', 'policy.yaml');
  await writeFile(policy, SshSigner.policy(ci));
  const trusted = await node.save('1');
  const assigned = await node.save('2', { files: ci.signed({ kubelet: kubeletYaml(50) }) });
  await node.trust(trusted);
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  assert.doesNotMatch((await node.dkc('status')).stdout, /Signed by/);
  assert.match((await node.dkc('status', `--policy=${policy}`)).stdout, /^Signed by: {7}ci@example\.com$/m);
  const json = JSON.parse((await node.dkc('status', `--policy=${policy}`, '-o', 'json')).stdout) as { signedBy: unknown };
  assert.equal(json.signedBy, 'ci@example.com');
  assert.equal((await node.dkc('checkpoints', 'verify')).code, 0);
  const { code, stdout, stderr } = await node.dkc('checkpoints', 'verify', `--policy=${policy}`, '-o', 'json');
  assert.deepEqual([code, stderr], [1, 'dkc: the config in use is not signed\n']);
  const problems = JSON.parse(stdout) as { path: string; problem: string }[];
  assert.deepEqual(problems.map(({ path }) => path), [node.paths.file(trusted, 'kubelet.sig')]); // prettier-ignore
  await node.runs('last-known-good', trusted);
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
