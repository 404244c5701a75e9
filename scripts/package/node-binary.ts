import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const archs = ['amd64', 'arm64'] as const;
export type Arch = (typeof archs)[number];

interface Pinned {
  /** Name of the npm package. */
  package: string;
  /** The archive of nodejs.org that has this binary, and its SHA-256 in the SHASUMS256.txt of that release. */
  release: string;
  releaseSha256: string;
  /** SHA-256 of `bin/node` in that archive. */
  sha256: string;
}

/** Released binaries of Node.js; docs/packages.md describes the source of the hashes. */
export const pinnedNode = JSON.parse(readFileSync(join(import.meta.dirname, 'node.json'), 'utf8')) as {
  version: string;
  binaries: Record<Arch, Pinned>;
};

/** `strip` of Debian's GNU binutils for each architecture, on any machine. */
const strips: Record<Arch, string> = { amd64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' };

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** @throws {Error} if `bytes` are not the released binary */
export function checkBinary(bytes: Uint8Array, arch: Arch, from: string): void {
  const [seen, wanted] = [sha256(bytes), pinnedNode.binaries[arch].sha256];
  if (seen !== wanted) {
    throw new Error(
      `${from} is not the node ${pinnedNode.version} that its makers released: sha256 ${seen}, not ${wanted} (scripts/package/node.json)`,
    );
  }
}

/** @throws {Error} if the npm tarball does not match package-lock.json */
export function checkIntegrity(tarball: Uint8Array, name: string): void {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, { integrity?: string }> };
  const wanted = lock.packages[`node_modules/${name}`]?.integrity;
  const seen = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  if (wanted !== seen) throw new Error(`${name} from npm is not the one in package-lock.json: ${seen}, not ${wanted ?? 'listed'}`);
}

/**
 * The directory of the npm package with Node.js for `arch`. npm installs the one for this machine; `npm pack`, which runs no scripts, downloads the
 * other one, which is verified against the lock file and cached ($DKC_CACHE, else ~/.cache/dkc).
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

/** Strips symbols: a seventh smaller, but without names in native backtraces. */
export function stripped(from: string, to: string, arch: Arch): void {
  execFileSync(strips[arch], ['--strip-all', '-o', to, from]);
}

/** The programs for building packages, each with its Debian package. */
export function toolsFor(arch: Arch): Record<string, string> {
  const binutils = arch === 'amd64' ? 'binutils-x86-64-linux-gnu' : 'binutils-aarch64-linux-gnu';
  return { [strips[arch]]: binutils, 'dpkg-deb': 'dpkg', rpmbuild: 'rpm', tar: 'tar', gzip: 'gzip' };
}
