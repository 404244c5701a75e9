import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onPath } from '../real-parts/prometheus.ts';

const project = join(import.meta.dirname, '../../..');

/** Why this machine cannot build the image for both architectures and run it; undefined where it can. */
export async function whyNoImage(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'a container needs root';
  const needed = { 'apt-get': 'apt', unshare: 'util-linux', 'x86_64-linux-gnu-strip': 'binutils-x86-64-linux-gnu', 'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu' }; // prettier-ignore
  for (const [program, name] of Object.entries(needed))
    if ((await onPath(program)) === undefined) return `the image needs ${program}, of Debian's package ${name}`;
  return undefined;
}

/** `npm run image`, compressed little. @param archs - @default the one of this machine @param version - @default that of package.json */
export async function buildImage(out: string, archs: readonly string[] = [machineArch], version?: string): Promise<void> {
  const called = version === undefined ? [] : [`--version=${version}`];
  const args = ['scripts/image.ts', '--fast', `--out=${out}`, ...archs.map((arch) => `--arch=${arch}`), ...called];
  await promisify(execFile)(process.execPath, args, { cwd: project });
}

export const machineArch = process.arch === 'arm64' ? 'arm64' : 'amd64';
