import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { machineArch } from '../../support/image/built.ts';

const project = join(import.meta.dirname, '../../..');

/** `npm run package` for this machine, compressed little. @param out - folder, made by it */
export async function buildPackages(out: string, version: string): Promise<void> {
  const args = ['scripts/package.ts', '--fast', `--arch=${machineArch}`, `--out=${out}`, `--version=${version}`];
  await promisify(execFile)(process.execPath, args, { cwd: project });
}
