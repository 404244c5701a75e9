import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Downloads Debian packages by name, or `NAME=VERSION`, with apt from the sources of this machine, but with separate lists, so that the machine
 * is not changed; apt verifies Debian's signature.
 * @returns a directory with the .deb files, which the caller must remove
 * @throws {Error} if apt or the package is missing
 */
export function downloadPackages(names: readonly string[], arch: string): string {
  const home = mkdtempSync(join(tmpdir(), 'dkc-apt-'));
  const out = mkdtempSync(join(tmpdir(), 'dkc-debs-'));
  try {
    for (const dir of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(home, dir), { recursive: true });
    writeFileSync(join(home, 'status'), '');
    // As root apt would switch to a user without write permission here.
    const own = { 'APT::Architecture': arch, 'APT::Architectures': arch, 'Dir::State::lists': join(home, 'lists'), 'Dir::State::status': join(home, 'status'), 'Dir::Cache': join(home, 'cache'), 'APT::Sandbox::User': 'root' }; // prettier-ignore
    const options = ['-qq', ...Object.entries(own).flatMap(([key, value]) => ['-o', `${key}=${value}`])];
    const run = (...args: string[]): unknown => execFileSync('apt-get', [...options, ...args], { cwd: out, stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 }); // prettier-ignore
    try {
      run('update');
    } catch {} // apt has printed the error; the failed source may be other than Debian's
    run('download', ...names);
    return out;
  } catch (error) {
    rmSync(out, { recursive: true });
    throw error;
  } finally {
    rmSync(home, { recursive: true });
  }
}
