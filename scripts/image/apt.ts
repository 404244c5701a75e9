import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Debian's packages of these names, or `NAME=VERSION`, by apt from the sources of this machine, with lists of their own so that nothing of it
 * changes; apt checks Debian's signature.
 * @returns a folder with the .deb files, which is the caller's to remove
 * @throws {Error} where apt is not there or has no such package
 */
export function downloadPackages(names: readonly string[], arch: string): string {
  const home = mkdtempSync(join(tmpdir(), 'dkc-apt-'));
  const out = mkdtempSync(join(tmpdir(), 'dkc-debs-'));
  try {
    for (const dir of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(home, dir), { recursive: true });
    writeFileSync(join(home, 'status'), '');
    // As root apt would become another user, who may not write here.
    const own = { 'APT::Architecture': arch, 'APT::Architectures': arch, 'Dir::State::lists': join(home, 'lists'), 'Dir::State::status': join(home, 'status'), 'Dir::Cache': join(home, 'cache'), 'APT::Sandbox::User': 'root' }; // prettier-ignore
    const options = ['-qq', ...Object.entries(own).flatMap(([key, value]) => ['-o', `${key}=${value}`])];
    const run = (...args: string[]): unknown => execFileSync('apt-get', [...options, ...args], { cwd: out, stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 }); // prettier-ignore
    try {
      run('update');
    } catch {} // it has said what is wrong with a source, which need not be Debian's
    run('download', ...names);
    return out;
  } catch (error) {
    rmSync(out, { recursive: true });
    throw error;
  } finally {
    rmSync(home, { recursive: true });
  }
}
