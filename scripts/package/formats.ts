import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync, globSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256, type Arch } from './node-binary.ts';
import { pluginName } from './krew.ts';
import { SETTINGS, type Entry, type Release } from './tree.ts';

export interface Made {
  /** Directory with the files of the package, as below `/`. */
  root: string;
  entries: readonly Entry[];
  arch: Arch;
  release: Release;
  /** Output directory. */
  out: string;
  /** Temporary directory. */
  scratch: string;
  /** Compress less, for tests. */
  fast: boolean;
}

const DESCRIPTION = [
  'Applies a kubelet configuration from a ConfigMap to this node: validates it',
  'for the version of the kubelet, restarts the kubelet once, observes it during',
  'a trial, and rolls back automatically if the configuration breaks the kubelet.',
];

/** A pre-release sorts before its release: `0.2.0-rc.1` is `0.2.0~rc.1` for dpkg and rpm. */
const packageVersion = (version: string): string => version.replace('-', '~');

const template = (name: string): string => readFileSync(join('systemd/package', name), 'utf8');
/** A script with the shared steps inserted. */
const withSteps = (name: string): string => template(name).replaceAll('#steps#', () => template('steps.sh').trimEnd());

const run = (made: Made, program: string, ...args: string[]): void =>
  void execFileSync(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: made.scratch, LC_ALL: 'C.UTF-8', TZ: 'UTC', SOURCE_DATE_EPOCH: String(made.release.epoch) },
  });

/** Copies a tree with times and modes, also of directories, which Node.js does not preserve. */
const copyTree = (from: string, to: string): void => void execFileSync('cp', ['-a', '-T', from, to]);

/** Builds a .deb with dpkg-deb. */
export function deb(made: Made): string {
  const { release, arch, scratch, out, fast } = made;
  const [dir, version] = [join(scratch, 'deb'), packageVersion(release.version)];
  const control = join(dir, 'DEBIAN');
  copyTree(made.root, dir);
  // Debian's zsh reads completions from another directory.
  mkdirSync(join(dir, 'usr/share/zsh/vendor-completions'));
  cpSync(join(dir, 'usr/share/zsh/site-functions/_dkc'), join(dir, 'usr/share/zsh/vendor-completions/_dkc'));
  rmSync(join(dir, 'usr/share/zsh/site-functions'), { recursive: true });
  mkdirSync(control);
  const files = globSync('**', { cwd: dir }).filter((path) => path !== SETTINGS.slice(1) && !path.startsWith('DEBIAN') && lstatSync(join(dir, path)).isFile()); // prettier-ignore
  const bytes = files.map((path) => statSync(join(dir, path)).size).reduce((sum, size) => sum + size, 0);
  writeFileSync(
    join(control, 'control'),
    `Package: dkc
Version: ${version}
Architecture: ${arch}
Maintainer: The authors of dynamic-kubelet-config <dkc@maintainers.invalid>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: systemd (>= 252), libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1
Section: admin
Priority: optional
Description: Dynamic Kubelet Config: rolls out kubelet configuration to live nodes
${DESCRIPTION.map((line) => ` ${line}\n`).join('')}`,
  );
  writeFileSync(join(control, 'conffiles'), `${SETTINGS}\n`);
  const sums = files.toSorted().map((path) => `${execFileSync('md5sum', [join(dir, path)], { encoding: 'utf8' }).slice(0, 32)}  ${path}\n`);
  writeFileSync(join(control, 'md5sums'), sums.join(''));
  for (const name of ['postinst', 'prerm', 'postrm']) writeFileSync(join(control, name), withSteps(name), { mode: 0o755 });
  const file = join(out, `dkc_${version}_${arch}.deb`);
  run(made, 'dpkg-deb', '--root-owner-group', '-Zzstd', fast ? '-z1' : '-z19', '--threads-max=1', '--build', dir, file);
  return file;
}

const rpmArch: Record<Arch, string> = { amd64: 'x86_64', arm64: 'aarch64' };

/** Builds an .rpm with rpmbuild, which only packs the files. */
export function rpm(made: Made): string {
  const { release, arch, scratch, out, fast, entries, root } = made;
  const [top, version] = [join(scratch, 'rpm'), packageVersion(release.version)];
  mkdirSync(top);
  const owned = entries.map(({ path, mode }) => {
    if (path === SETTINGS) return `%config(noreplace) %attr(${mode}, root, root) ${path}`;
    return `${mode === '0777' ? '' : `%attr(${mode}, root, root) `}${path}`;
  });
  const folders = [
    '/usr/lib/dkc',
    '/usr/lib/systemd/system/kubelet.service.d',
    '/usr/share/doc/dkc',
    '/usr/share/fish',
    '/usr/share/fish/vendor_completions.d',
    '/usr/share/zsh/site-functions',
  ];
  writeFileSync(
    join(top, 'files'),
    ['%dir %attr(0700, root, root) /etc/dkc', ...folders.map((folder) => `%dir ${folder}`), ...owned, ''].join('\n'),
  );
  const spec = withSteps('rpm.spec')
    .replaceAll(/^%(?!description|files|post|preun|postun)/gm, '%%')
    .replace('@VERSION@', version)
    .replace('@FILES@', join(top, 'files'))
    .replace('@DESCRIPTION@', DESCRIPTION.join('\n'));
  writeFileSync(join(top, 'dkc.spec'), spec);
  const defines = {
    _topdir: top,
    _buildhost: 'reproducible',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
    source_date_epoch_from_changelog: '0',
    _binary_payload: fast ? 'w1.zstdio' : 'w19.zstdio',
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _build_id_links: 'none',
    _rpmfilename: 'dkc.rpm',
  };
  const flags = Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
  // A copy, since rpmbuild empties its buildroot.
  copyTree(root, join(top, 'root'));
  run(made, 'rpmbuild', '--quiet', '-bb', '--noclean', '--target', `${rpmArch[arch]}-linux`, '--buildroot', join(top, 'root'), ...flags, join(top, 'dkc.spec')); // prettier-ignore
  const file = join(out, `dkc-${version}-1.${rpmArch[arch]}.rpm`);
  cpSync(join(top, 'RPMS/dkc.rpm'), file);
  return file;
}

/** Files that install.sh installs, in this order. */
export const manifestText = (entries: readonly Entry[]): string => entries.map(({ mode, path }) => `${mode} ${path}\n`).join('');

/** Input for `sha256sum -c`, run in the directory that stands for `/`. */
export const sumsText = (root: string, entries: readonly Entry[]): string =>
  entries
    .filter(({ mode }) => mode !== '0777')
    .map(({ path }) => `${sha256(readFileSync(join(root, path)))}  .${path}\n`)
    .join('');

export const installScript = (): string => withSteps('install.sh');

/** Builds the tarball with install.sh. */
export function tarball(made: Made): string {
  const { release, arch, scratch, out, fast, entries, root } = made;
  const name = `dkc-${release.version}-linux-${arch}`;
  const dir = join(scratch, 'tar', name);
  mkdirSync(dir, { recursive: true });
  copyTree(root, join(dir, 'files'));
  writeFileSync(join(dir, 'manifest'), manifestText(entries));
  writeFileSync(join(dir, 'sha256sums'), sumsText(root, entries));
  writeFileSync(join(dir, 'install.sh'), installScript(), { mode: 0o755 });
  for (const file of readdirSync(dir)) utimesSync(join(dir, file), release.epoch, release.epoch);
  const file = join(out, `${name}.tar`);
  run(made, 'tar', '-C', join(scratch, 'tar'), '--format=gnu', '--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${release.epoch}`, '-cf', file, name); // prettier-ignore
  run(made, 'gzip', '-n', '-f', fast ? '-1' : '-9', file);
  return `${file}.gz`;
}

/** Builds the tarball for krew: only kubectl's plugin, and the Node.js that its launcher starts. */
export function plugin(made: Made): string {
  const { release, arch, scratch, out, fast, root } = made;
  const dir = join(scratch, 'krew');
  mkdirSync(dir);
  for (const name of ['node', 'dkc.js']) cpSync(join(root, 'usr/lib/dkc', name), join(dir, name));
  for (const name of ['LICENSE', 'NOTICE']) cpSync(join(root, 'usr/share/doc/dkc', name), join(dir, name));
  for (const name of ['kubectl-dkc', 'kubectl_complete-dkc']) writeFileSync(join(dir, name), template('kubectl-dkc'), { mode: 0o755 });
  for (const file of readdirSync(dir)) utimesSync(join(dir, file), release.epoch, release.epoch);
  const archive = join(out, pluginName(release.version, arch));
  const tar = archive.replace(/\.gz$/, '');
  run(made, 'tar', '-C', dir, '--format=gnu', '--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${release.epoch}`, '-cf', tar, ...readdirSync(dir).toSorted()); // prettier-ignore
  run(made, 'gzip', '-n', '-f', fast ? '-1' : '-9', tar);
  return archive;
}

export const formats = { deb, rpm, tar: tarball, krew: plugin };
export type Format = keyof typeof formats;
