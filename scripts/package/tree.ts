import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync, lutimesSync, chmodSync, globSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { allFlags } from '../../cli/args/parse.ts';
import { commands } from '../../cli/commands.ts';
import { scripts as completion } from '../../cli/completion/command.ts';
import { commandsBelow } from '../../cli/dispatch.ts';
import { commandPage, overviewPage } from './man.ts';
import { nodePackage, pinnedNode, sha256, stripped, type Arch } from './node-binary.ts';
import { bom, npmPurl, type Component } from './sbom.ts';

export interface Release {
  /** As semver. */
  version: string;
  commit: string;
  /** Time of the commit, in s; all files have this time. */
  epoch: number;
}

/** A file of the package. */
export interface Entry {
  /** Absolute, on the node. */
  path: string;
  /** Octal digits; `0777` for a link. */
  mode: string;
}

const DROP_IN = '/usr/lib/systemd/system/kubelet.service.d/20-dkc.conf';
export const SETTINGS = '/etc/dkc/agent.yaml';

/** The settings file of a package: the project's, with the path of a kubeadm node's credentials. */
export function packagedSettings(text: string): string {
  const lines = text.replace('# kubeconfig: /etc/dkc/kubeconfig', 'kubeconfig: /etc/kubernetes/kubelet.conf');
  if (lines === text) throw new Error('systemd/agent.yaml has no line "# kubeconfig: /etc/dkc/kubeconfig" to put the packaged value in');
  return lines;
}

/** Writes all files of the package to `root`. @param bundle - output of `npm run build` @returns the files in the order of installation */
export async function stage(root: string, bundle: string, arch: Arch, release: Release): Promise<Entry[]> {
  const entries: Entry[] = [];
  const put = (path: string, mode: string, bytes: string | Uint8Array): void => {
    const at = join(root, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, bytes);
    chmodSync(at, Number.parseInt(mode, 8));
    entries.push({ path, mode });
  };
  const copy = (path: string, mode: string, from: string): void => put(path, mode, readFileSync(from));

  const node = nodePackage(arch);
  mkdirSync(join(root, 'usr/lib/dkc'), { recursive: true });
  stripped(join(node, 'bin/node'), join(root, 'usr/lib/dkc/node'), arch);
  put('/usr/lib/dkc/node', '0755', readFileSync(join(root, 'usr/lib/dkc/node')));
  copy('/usr/lib/dkc/dkc.js', '0755', join(bundle, 'dkc.js'));
  for (const script of ['kubelet-sync', 'kubelet-stopped']) copy(`/usr/lib/dkc/${script}`, '0755', `systemd/${script}`);
  copy('/usr/bin/dkc', '0755', 'systemd/dkc');
  for (const name of ['kubectl-dkc', 'kubectl_complete-dkc']) {
    symlinkSync('dkc', join(root, 'usr/bin', name));
    entries.push({ path: `/usr/bin/${name}`, mode: '0777' });
  }
  copy('/usr/lib/tmpfiles.d/dkc.conf', '0644', 'systemd/tmpfiles.d/dkc.conf');
  copy('/usr/lib/systemd/system/dkc-agent.service', '0644', 'systemd/dkc-agent.service');
  put(SETTINGS, '0600', packagedSettings(readFileSync('systemd/agent.yaml', 'utf8')));
  put('/usr/share/bash-completion/completions/dkc', '0644', completion.bash);
  put('/usr/share/zsh/site-functions/_dkc', '0644', completion.zsh);
  put('/usr/share/fish/vendor_completions.d/dkc.fish', '0644', completion.fish);
  for (const [name, text] of await manualPages(release)) put(`/usr/share/man/man1/${name}.gz`, '0644', gzipSync(text, { level: 9 }));
  const doc = '/usr/share/doc/dkc';
  copy(`${doc}/LICENSE`, '0644', 'LICENSE');
  put(
    `${doc}/NOTICE`,
    '0644',
    notice(readFileSync(join(bundle, 'THIRD_PARTY_LICENSES'), 'utf8'), readFileSync(join(node, 'LICENSE'), 'utf8')),
  );
  put(`${doc}/copyright`, '0644', COPYRIGHT);
  put(`${doc}/sbom.cdx.json`, '0644', sbom(bundle, arch, release, sha256(readFileSync(join(root, 'usr/lib/dkc/node')))));
  // Last, since with this file a starting kubelet starts the agent.
  copy(DROP_IN, '0644', 'systemd/kubelet.service.d/20-dkc.conf');
  chmodSync(join(root, 'etc/dkc'), 0o700);
  sameTime(root, release.epoch);
  return entries;
}

async function manualPages({ version, epoch }: Release): Promise<[string, string][]> {
  const about = { version, date: new Date(epoch * 1000).toISOString().slice(0, 10) };
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const pages = shown.map(async (entry): Promise<[string, string]> => {
    const command = await entry.load();
    return commandPage(entry, command, allFlags(command), commandsBelow(commands, entry.name), about);
  });
  return [overviewPage(commands, about), ...(await Promise.all(pages))];
}

const RULE = `\n${'='.repeat(80)}\n\n`;

const notice = (thirdParty: string, node: string): string =>
  [
    'dkc is licensed under the Apache License 2.0: see LICENSE beside this file.\n',
    thirdParty,
    `/usr/lib/dkc/node is Node.js ${pinnedNode.version}, stripped, under these licenses.\n\n${node}`,
  ].join(RULE);

/** Copyright in Debian's format; the license texts are in separate files. */
const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dynamic-kubelet-config
Comment: NOTICE beside this file has the licenses of all packages that dkc.js holds code of, and those of Node.js and what it contains.

Files: *
Copyright: the authors of dynamic-kubelet-config
License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0; it is also in LICENSE beside this file.
`;

/** Bill of materials of the bundle, Node.js, and `more`. */
export function sbom(bundle: string, arch: Arch, release: Release, nodeSha256: string, more: readonly Component[] = []): string {
  const bundled = JSON.parse(readFileSync(join(bundle, 'bundled.json'), 'utf8')) as {
    dir: string;
    name: string;
    version: string;
    license?: string;
  }[];
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, { integrity?: string }> };
  const once = new Map<string, Component>();
  for (const { dir, name, version, license } of bundled) {
    const purl = npmPurl(name, version);
    once.set(purl, { name, version, license, integrity: lock.packages[dir]?.integrity, purl });
  }
  const node: Component = {
    name: 'node',
    version: pinnedNode.version,
    license: 'MIT',
    sha256: nodeSha256,
    purl: `pkg:generic/node@${pinnedNode.version}?arch=${arch}`,
  };
  return bom({ ...release, arch }, [...once.values(), node, ...more]);
}

/** Sets the time of all files and directories to that of the commit. */
function sameTime(root: string, epoch: number): void {
  for (const path of globSync('**', { cwd: root })) {
    const at = join(root, path);
    if (lstatSync(at).isSymbolicLink()) lutimesSync(at, epoch, epoch);
    else utimesSync(at, epoch, epoch);
  }
  utimesSync(root, epoch, epoch);
}

/** The release of the checkout, from `git`. SOURCE_DATE_EPOCH overrides the time of the commit. @throws {Error} without history and without this variable */
export function releaseOf(version: string): Release {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const given = process.env['SOURCE_DATE_EPOCH'];
  return { version, commit: git('rev-parse', '--short=12', 'HEAD'), epoch: Number(given ?? git('log', '-1', '--format=%ct')) };
}
