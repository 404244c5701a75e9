import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { nodeInstaller } from '../../../../deploy/node-installer.ts';
import { run } from './program.ts';

export const packageKinds = ['deb', 'rpm', 'tar'] as const;
export type PackageKind = (typeof packageKinds)[number];
/** And dnf, by which people install the rpm, and the container image's installer of nodes. */
export type InstallerKind = PackageKind | 'dnf' | 'image';

/** The commands of docs/install.md. */
export interface Installer {
  /** What a machine has before it gets its first package. */
  prepare?: () => void;
  /** Installs, upgrades or downgrades to what is in the folder. */
  install: (folder: string) => string[];
  /** Where that is another command. */
  downgrade?: (folder: string) => string[];
  /** @param folder - that of what is installed */
  remove: (folder: string) => string[];
  purge: string[];
}

const only = (pattern: string): string => {
  const [file, ...more] = globSync(pattern);
  if (file === undefined || more.length > 0) throw new Error(`not one file: ${pattern}`);
  return file;
};

/** Unpacked once for each folder. */
function unpacked(folder: string): string {
  const to = `/srv/unpacked${folder}`;
  if (!existsSync(to)) {
    mkdirSync(to, { recursive: true });
    run('tar', '-xzf', only(`${folder}/dkc-*.tar.gz`), '-C', to);
  }
  return only(`${to}/*/install.sh`);
}

/** Of the container that installs. */
function installerArgs(): string[] {
  const { spec } = nodeInstaller('dkc').find(({ kind }) => kind === 'DaemonSet') as unknown as { spec: { template: { spec: { initContainers: { args: string[] }[] } } } }; // prettier-ignore
  return spec.template.spec.initContainers[0]?.args ?? [];
}

/** As the DaemonSet's container that installs: the node's root at /host, all rights, and a root of its own that nobody can write to. */
function inContainer(root: string): string[] {
  for (const place of ['host', 'dev', 'proc']) mkdirSync(`${root}/${place}`, { recursive: true });
  const script = `set -e
mount --bind "$0" "$0"
mount --rbind / "$0/host"
mount --bind /dev "$0/dev"
mount -t proc proc "$0/proc"
mount -o remount,ro,bind "$0"
exec chroot "$0" /usr/bin/dkc "$@"`;
  return ['unshare', '--mount', 'sh', '-c', script, root, ...installerArgs()];
}

/** What another program brought, a shell's folder for completions: it stays, empty as it is. */
const OTHERS = '/usr/share/fish/vendor_completions.d';
const othersFolder = (): void => void mkdirSync(OTHERS, { recursive: true });

/**
 * A machine of Debian is none whose packages rpm knows. One package provides what dkc requires of a distribution, with the versions of RHEL 9, so that rpm and dnf
 * have something to compare the requirements with.
 */
function distributionOfRpm(): void {
  run('rpm', '--initdb');
  writeFileSync('/srv/distribution.spec', `Name: distribution
Version: 9
Release: 1
Summary: What a distribution brings
License: none
BuildArch: noarch
Provides: systemd = 252, glibc = 2.34, libstdc++ = 11, coreutils = 8, findutils = 4, grep = 3, sed = 4, system-release = 9, /bin/sh
%description
%{summary}.
%install
mkdir -p %{buildroot}${OTHERS}
%files
%dir /usr/share/fish
%dir ${OTHERS}
`); // prettier-ignore
  run('rpmbuild', '--quiet', '-bb', '--define', '_topdir /srv/rpm', '--define', '_rpmfilename distribution.rpm', '/srv/distribution.spec');
  run('rpm', '-i', '/srv/rpm/RPMS/distribution.rpm');
}

const rpmPurge = ['sh', '-c', '! rpm -q dkc >/dev/null || rpm -e dkc && rm -rf /etc/dkc /var/lib/dkc'];

export const installers: Readonly<Record<InstallerKind, Installer>> = {
  // Without triggers: rebuilding the index of all manual pages takes ten seconds, and is no work of ours.
  deb: {
    install: (folder) => ['dpkg', '--no-triggers', '-i', only(`${folder}/*.deb`)],
    remove: () => ['dpkg', '-r', 'dkc'],
    purge: ['dpkg', '-P', 'dkc'],
  },
  rpm: {
    prepare: distributionOfRpm,
    install: (folder) => ['rpm', '-U', '--oldpackage', '--replacepkgs', only(`${folder}/*.rpm`)],
    remove: () => ['rpm', '-e', 'dkc'],
    purge: rpmPurge,
  },
  dnf: {
    prepare: distributionOfRpm,
    install: (folder) => ['dnf', '-y', 'install', only(`${folder}/*.rpm`)],
    downgrade: (folder) => ['dnf', '-y', 'downgrade', only(`${folder}/*.rpm`)],
    remove: () => ['dnf', '-y', 'remove', 'dkc'],
    purge: rpmPurge,
  },
  // The folder is the unpacked image.
  image: {
    prepare: othersFolder,
    install: (folder) => inContainer(folder),
    remove: (folder) => [...inContainer(folder), '--uninstall'],
    purge: ['/usr/lib/dkc/uninstall', '--purge'],
  },
  tar: {
    prepare: othersFolder,
    install: (folder) => [unpacked(folder)],
    remove: () => ['/usr/lib/dkc/uninstall'],
    purge: ['/usr/lib/dkc/uninstall', '--purge'],
  },
};

/** @throws where it does not end with 0, with all that it printed */
export function act([program = '', ...args]: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** Of the installed program; undefined: none is installed. */
export function installedVersion(): string | undefined {
  if (!existsSync('/usr/bin/dkc')) return undefined;
  return (JSON.parse(run('dkc', 'version', '-o', 'json')) as { version: string }).version;
}

/** All files and links where packages put theirs, but those of package managers, the journal and the test itself. */
export function listing(): Set<string> {
  const others = ['/var/lib/dpkg', '/var/lib/rpm', '/var/lib/dnf', '/var/lib/kubelet', '/var/lib/systemd'];
  const share = ['bash-completion', 'doc/dkc', 'fish', 'man/man1', 'zsh'].map((name) => `/usr/share/${name}`);
  const places = ['/etc', '/opt', '/usr/bin', '/usr/lib/dkc', '/usr/lib/systemd', '/usr/lib/tmpfiles.d', ...share, '/var/lib'];
  const prune = others.flatMap((path) => ['-path', path, '-prune', '-o']);
  const found = spawnSync('find', [...places, ...prune, '-print'], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return new Set(found.stdout.split('\n'));
}
