import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chmod, constants, mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RealPartsUnavailable } from './real-kubelet.ts';

const run = promisify(execFile);

/** The folder that holds programs of a Kubernetes release, packed with xz or not, such as upstream's downloads. */
const FROM = 'DKC_REAL_KUBERNETES';

/**
 * Paths of programs of the release in the folder that DKC_REAL_KUBERNETES names. A packed one is unpacked once into the cache, by the hash
 * of its content.
 * @param names - such as `kubelet` and `kube-apiserver`; `cri-v1.proto` and other plain files too
 * @throws {RealPartsUnavailable} where the variable is not set, or the folder lacks one of them
 */
export async function releaseParts<Name extends string>(names: readonly Name[]): Promise<Record<Name, string>> {
  const from = process.env[FROM];
  if (from === undefined || from === '')
    throw new RealPartsUnavailable(`${FROM} is not set: it names a folder with the programs of a Kubernetes release`);
  const found = await Promise.all(names.map(async (name) => [name, await releasePart(from, name)] as const));
  return Object.fromEntries(found) as Record<Name, string>;
}

async function releasePart(from: string, name: string): Promise<string> {
  const plain = join(from, name);
  if (await isThere(plain)) return plain;
  const packed = await readFile(`${plain}.xz`).catch(() => undefined);
  if (packed === undefined) throw new RealPartsUnavailable(`${FROM} holds neither ${name} nor ${name}.xz`);
  const cache = process.env['DKC_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'dkc');
  const dir = join(cache, 'release', createHash('sha256').update(packed).digest('hex').slice(0, 16));
  const unpacked = join(dir, name);
  if (await isThere(unpacked)) return unpacked;
  await mkdir(dir, { recursive: true });
  // Two suites may unpack at a time: each under a name of its own, and the last one wins with the same bytes.
  const temporary = `${unpacked}.${process.pid}`;
  await run('sh', ['-c', 'xz -dc "$1" > "$2"', 'unpack', `${plain}.xz`, temporary]);
  await chmod(temporary, 0o755);
  await rename(temporary, unpacked);
  return unpacked;
}

async function isThere(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}
