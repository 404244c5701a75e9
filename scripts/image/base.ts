import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { nodePackage, sha256, stripped, type Arch } from '../package/node-binary.ts';
import type { Component } from '../package/sbom.ts';
import { downloadPackages } from './apt.ts';

interface Pinned {
  version: string;
  /** SPDX expression. */
  license: string;
  /** SHA-256 of the .deb. */
  sha256: Record<Arch, string>;
}

/** Debian packages with files in the first layer, and the time of the layer, in s: that of the newest package. */
export const base = JSON.parse(readFileSync(join(import.meta.dirname, 'base.json'), 'utf8')) as {
  suite: string;
  epoch: number;
  packages: Record<string, Pinned>;
};

/** Number of the user that the image runs as; `deploy/workload.ts` has the same. */
export const USER = 65_532;

const multiarch: Record<Arch, { triplet: string; loader: string }> = {
  amd64: { triplet: 'x86_64-linux-gnu', loader: '/lib64/ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: '/lib/ld-linux-aarch64.so.1' },
};

/** Libraries that Node.js needs (`ldd`), by package. */
const libraries: Record<string, readonly string[]> = {
  libc6: ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0'],
  'libstdc++6': ['libstdc++.so.6'],
  'libgcc-s1': ['libgcc_s.so.1'],
};

const cacheDir = (): string => process.env['DKC_CACHE'] ?? join(homedir(), '.cache/dkc');
/** The epoch of a version is followed by a colon, which apt writes as %3a in file names. */
const fileName = (name: string, version: string): string => `${name}_${version.replace(':', '%3a')}`;

/**
 * Directories of the unpacked Debian packages for `arch`, by name. apt verifies Debian's signature, `base.json` has the hashes. The packages
 * are cached ($DKC_CACHE, else ~/.cache/dkc).
 * @throws {Error} if a package is no longer available, or has another hash
 */
function debianPackages(arch: Arch, scratch: string): Map<string, string> {
  const cache = join(cacheDir(), `debian-${arch}`);
  mkdirSync(cache, { recursive: true });
  const wanted = Object.entries(base.packages);
  const cached = (name: string, { version }: Pinned): string => join(cache, `${fileName(name, version)}.deb`);
  const missing = wanted.filter(([name, pinned]) => !existsSync(cached(name, pinned)));
  if (missing.length > 0) {
    const dir = downloadPackages(missing.map(([name, { version }]) => `${name}=${version}`), arch); // prettier-ignore
    for (const [name, pinned] of missing) {
      const [file] = globSync(`${fileName(name, pinned.version)}_*.deb`, { cwd: dir });
      if (file === undefined) throw new Error(`apt has no ${name} ${pinned.version} for ${arch}: Debian has a newer one; see docs/packages.md, "Container image"`); // prettier-ignore
      copyFileSync(join(dir, file), `${cached(name, pinned)}.${process.pid}`);
      renameSync(`${cached(name, pinned)}.${process.pid}`, cached(name, pinned));
    }
    rmSync(dir, { recursive: true });
  }
  return new Map(
    wanted.map(([name, pinned]) => {
      const file = cached(name, pinned);
      const [seen, right] = [sha256(readFileSync(file)), pinned.sha256[arch]];
      if (seen !== right) throw new Error(`${file} has sha256 ${seen}, not ${right} (scripts/image/base.json)`);
      const to = join(scratch, `${name}-${arch}`);
      mkdirSync(to, { recursive: true });
      execFileSync('dpkg-deb', ['-x', file, to]);
      return [name, to];
    }),
  );
}

/** Writes libraries, certificates and Node.js of the first layer to `root`. */
export function stageBase(root: string, arch: Arch, scratch: string): void {
  const packages = debianPackages(arch, scratch);
  const dirOf = (name: string): string => packages.get(name) ?? '';
  const { triplet, loader } = multiarch[arch];
  const put = (path: string, mode: number, bytes: string | Uint8Array): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
    chmodSync(join(root, path), mode);
  };
  for (const [name, files] of Object.entries(libraries))
    for (const file of files) {
      const from = ['lib', 'usr/lib'].map((lib) => join(dirOf(name), lib, triplet, file)).find(existsSync);
      if (from === undefined) throw new Error(`Debian's package ${name} has no ${file}`);
      put(`/usr/lib/${triplet}/${file}`, 0o755, readFileSync(from));
    }
  put(`/usr/lib/${triplet}/${basename(loader)}`, 0o755, readFileSync(join(dirOf('libc6'), 'lib', triplet, basename(loader))));
  symlinkSync('usr/lib', join(root, 'lib'));
  const link = join(root, loader.replace(/^\/lib\//, '/usr/lib/'));
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(`/usr/lib/${triplet}/${basename(loader)}`, link);
  // For the node installer, since Node.js has no chroot call.
  put('/usr/sbin/chroot', 0o755, readFileSync(join(dirOf('coreutils'), 'usr/sbin/chroot')));
  const mozilla = join(dirOf('ca-certificates'), 'usr/share/ca-certificates');
  const certificates = globSync('mozilla/*.crt', { cwd: mozilla }).toSorted();
  put('/etc/ssl/certs/ca-certificates.crt', 0o644, certificates.map((file) => readFileSync(join(mozilla, file), 'utf8')).join(''));
  put('/etc/passwd', 0o644, `root:x:0:0:root:/:/usr/sbin/nologin\ndkc:x:${USER}:${USER}:dkc:/:/usr/sbin/nologin\n`);
  put('/etc/group', 0o644, `root:x:0:\ndkc:x:${USER}:\n`);
  // Without it the C library asks DNS before /etc/hosts.
  put('/etc/nsswitch.conf', 0o644, 'hosts: files dns\n');
  for (const [name, dir] of packages) {
    // For libraries of GCC this is a link to the file of gcc-12-base.
    const copyright = join(dir, 'usr/share/doc', name, 'copyright');
    if (existsSync(copyright)) put(`/usr/share/doc/${name}/copyright`, 0o644, readFileSync(copyright));
  }
  // Licenses that the copyright files refer to.
  for (const name of ['GPL-2', 'GPL-3', 'LGPL-2.1', 'LGPL-3', 'MPL-2.0', 'Apache-2.0', 'GFDL-1.2']) {
    const path = `/usr/share/common-licenses/${name}`;
    put(path, 0o644, readFileSync(join(dirOf('base-files'), path)));
  }
  mkdirSync(join(root, 'usr/lib/dkc'), { recursive: true });
  stripped(join(nodePackage(arch), 'bin/node'), join(root, 'usr/lib/dkc/node'), arch);
  chmodSync(join(root, 'usr/lib/dkc/node'), 0o755);
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
}

/** Components for the bill of materials. */
export function baseComponents(arch: Arch): Component[] {
  return Object.entries(base.packages).map(([name, { version, license, sha256 }]) => ({
    name,
    version,
    license,
    sha256: sha256[arch],
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${name === 'ca-certificates' ? 'all' : arch}&distro=${base.suite}`,
  }));
}
