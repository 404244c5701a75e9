import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const archs = ['amd64', 'arm64'] as const;
export type Arch = (typeof archs)[number];

interface Pinned {
  /** On npm. */
  package: string;
  /** The archive of nodejs.org that has this binary, and its SHA-256 in the SHASUMS256.txt of that release. */
  release: string;
  releaseSha256: string;
  /** Of `bin/node` in that archive. */
  sha256: string;
}

/** Binaries of Node.js as its makers released them: docs/packages.md says where the figures are from. */
export const pinnedNode = JSON.parse(readFileSync(join(import.meta.dirname, 'node.json'), 'utf8')) as {
  version: string;
  binaries: Record<Arch, Pinned>;
};

/** GNU binutils of Debian, for either machine on either machine. */
const strips: Record<Arch, string> = { amd64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' };

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** @throws {Error} where `bytes` are not the released binary */
export function checkBinary(bytes: Uint8Array, arch: Arch, from: string): void {
  const [seen, wanted] = [sha256(bytes), pinnedNode.binaries[arch].sha256];
  if (seen !== wanted) {
    throw new Error(
      `${from} is not the node ${pinnedNode.version} that its makers released: sha256 ${seen}, not ${wanted} (scripts/package/node.json)`,
    );
  }
}

/** @throws {Error} where the tarball of npm is not the one that package-lock.json names */
export function checkIntegrity(tarball: Uint8Array, name: string): void {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, { integrity?: string }> };
  const wanted = lock.packages[`node_modules/${name}`]?.integrity;
  const seen = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  if (wanted !== seen) throw new Error(`${name} from npm is not the one in package-lock.json: ${seen}, not ${wanted ?? 'listed'}`);
}

/**
 * The folder of npm's package with the Node.js of `arch`. npm installs that of this machine; the other one is downloaded by `npm pack`, which runs
 * no script, compared with the lock file, and kept in the cache ($DKC_CACHE, else ~/.cache/dkc).
 */
export function nodePackage(arch: Arch): string {
  const { package: name } = pinnedNode.binaries[arch];
  const installed = join('node_modules', name);
  const dir = existsSync(join(installed, 'bin/node')) ? installed : downloaded(name);
  checkBinary(readFileSync(join(dir, 'bin/node')), arch, dir);
  return dir;
}

function downloaded(name: string): string {
  const cache = process.env['DKC_CACHE'] ?? join(homedir(), '.cache/dkc');
  const dir = join(cache, `${name}-${pinnedNode.version}`);
  if (existsSync(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  const temp = mkdtempSync(join(cache, 'node-'));
  try {
    const args = ['pack', `${name}@${pinnedNode.version}`, '--silent', '--pack-destination', temp];
    const file = execFileSync('npm', args, { encoding: 'utf8', timeout: 300_000 }).trim();
    checkIntegrity(readFileSync(join(temp, file)), name);
    execFileSync('tar', ['-xzf', join(temp, file), '-C', temp, '--no-same-owner', 'package/bin/node', 'package/LICENSE']);
    renameSync(join(temp, 'package'), dir);
    return dir;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** Without symbols: a seventh less, and what backtraces of native code lose. */
export function stripped(from: string, to: string, arch: Arch): void {
  execFileSync(strips[arch], ['--strip-all', '-o', to, from]);
}

/** The programs that packages are made with, and the Debian package that has each. */
export function toolsFor(arch: Arch): Record<string, string> {
  const binutils = arch === 'amd64' ? 'binutils-x86-64-linux-gnu' : 'binutils-aarch64-linux-gnu';
  return { [strips[arch]]: binutils, 'dpkg-deb': 'dpkg', rpmbuild: 'rpm', tar: 'tar', gzip: 'gzip' };
}
