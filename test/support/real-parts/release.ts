import { DAY } from '../in-turn.ts';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { realParts, RealPartsUnavailable } from './real-kubelet.ts';

const run = promisify(execFile);

/** Programs of one Kubernetes release, for tests beside the real thing. */
export interface Release {
  /** Such as `1.36.3`; `of DKC_REAL_KUBERNETES` where that names no programs. */
  readonly version: string;
  /** 36 of 1.36.3. Infinity where there are no programs. */
  readonly minor: number;
  /**
   * Finds programs, and unpacks or builds those that the cache does not have.
   * @param names - such as `kube-apiserver`; also other files of the folder
   * @returns their paths by name
   * @throws {RealPartsUnavailable} where this machine cannot have them; suites skip then
   */
  programs<Name extends string>(names: readonly Name[]): Promise<Record<Name, string>>;
}

/** 1.20.2, compiled from Debian's source package: the last releases whose kubelet has dynamic configuration are like it. */
export const builtRelease: Release = {
  version: '1.20.2',
  minor: 20,
  async programs(names) {
    const { dir } = await realParts([...names]);
    const paths = names.map((name) => join(dir, name));
    return byName(names, paths);
  },
};

/**
 * The release whose programs the folder of `DKC_REAL_KUBERNETES` holds: as they are, or each packed as `NAME.xz`.
 * @param directory - @default the variable
 * @returns without a folder, or without a program in it, a release whose `programs` says so
 */
export async function givenRelease(directory = process.env['DKC_REAL_KUBERNETES'] ?? ''): Promise<Release> {
  const folder = new ProgramFolder(directory);
  const programs: Release['programs'] = async (names) => byName(names, await Promise.all(names.map((name) => folder.path(name))));
  try {
    const version = await folder.version();
    return { version, minor: Number(version.split('.')[1]), programs };
  } catch (error) {
    if (!(error instanceof RealPartsUnavailable)) throw error;
    return { version: 'of DKC_REAL_KUBERNETES', minor: Infinity, programs: () => Promise.reject(error) };
  }
}

/** The programs of {@link givenRelease}, and other plain files of its folder. @throws {RealPartsUnavailable} */
export const releaseParts = async <Name extends string>(names: readonly Name[]): Promise<Record<Name, string>> =>
  (await givenRelease()).programs(names);

/** What people run first, then 1.20.2. A suite is defined for each: `for (const release of await releases())`. */
export const releases = async (): Promise<Release[]> => [await givenRelease(), builtRelease];

/** Comparisons with upstream that take minutes for each release. */
const comparisons = ['daemonset', 'statefulset', 'scheduler', 'kubectl', 'rollout'] as const;

/**
 * {@link releases}, for what takes minutes for each. With DKC_OLD_RELEASE_EVERY=5, as in CI, 1.20.2 is played every fifth day only, each comparison on another one.
 * Where the machine has no other release it always is.
 */
export async function comparedReleases(comparison: (typeof comparisons)[number]): Promise<Release[]> {
  const all = await releases();
  const every = Number(process.env['DKC_OLD_RELEASE_EVERY'] ?? 1);
  if (process.env['DKC_REAL_KUBERNETES'] === LEFT_OUT || (DAY + comparisons.indexOf(comparison)) % every === 0) return all;
  console.error(`${comparison}: ${builtRelease.version} is played on another day (DKC_OLD_RELEASE_EVERY=${every})`);
  return all.slice(0, 1);
}

const byName = <Name extends string>(names: readonly Name[], paths: readonly string[]) =>
  Object.fromEntries(names.map((name, n) => [name, paths[n]])) as Record<Name, string>;

/** The value of `DKC_REAL_KUBERNETES` that leaves out what needs such programs: by `.ci/run`, on a machine that has none. */
const LEFT_OUT = 'none';
const LEFT_OUT_TEXT = `DKC_REAL_KUBERNETES=${LEFT_OUT}: this machine has no programs of a Kubernetes release`;

/** Whether a suite that cannot run for this reason fails: in CI, unless the machine was said to have no such programs. */
export const isFailure = (why: string): boolean => process.env['CI'] === 'true' && why !== LEFT_OUT_TEXT;

/** Any one of them tells the release of all. */
const SAY_VERSION = ['kube-apiserver', 'kubelet', 'kube-scheduler', 'kube-controller-manager'];

class ProgramFolder {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** @throws {RealPartsUnavailable} */
  async version(): Promise<string> {
    for (const name of SAY_VERSION) {
      const path = await this.#find(name);
      if (path === undefined) continue;
      const { stdout } = await run(path, ['--version']);
      const version = /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
      if (version === undefined) throw new Error(`Cannot read the version of ${path}: it printed ${JSON.stringify(stdout)}`);
      return version;
    }
    throw this.#without(SAY_VERSION.join(', '));
  }

  async path(name: string): Promise<string> {
    const path = await this.#find(name);
    if (path === undefined) throw this.#without(name);
    return path;
  }

  async #find(name: string): Promise<string | undefined> {
    if (this.directory === '') return undefined;
    const plain = join(this.directory, name);
    if (await isThere(plain)) return plain;
    const packed = `${plain}.xz`;
    return (await isThere(packed)) ? this.#unpacked(name, packed) : undefined;
  }

  /** What SHA256SUMS beside the programs says, where there is such a file and it lists this one. */
  async #expected(file: string): Promise<string | undefined> {
    const sums = await readFile(join(this.directory, 'SHA256SUMS'), 'utf8').catch(() => '');
    return sums
      .split('\n')
      .find((line) => line.split(/\s+\*?/)[1] === file)
      ?.split(/\s/)[0];
  }

  /** Into a folder named by its hash. Several processes may do so at once. */
  async #unpacked(name: string, packed: string): Promise<string> {
    const hash = createHash('sha256');
    await pipeline(createReadStream(packed), hash);
    const sum = hash.digest('hex');
    const expected = (await this.#expected(`${name}.xz`)) ?? sum;
    if (sum !== expected) throw new Error(`${packed} has the SHA-256 ${sum}, and SHA256SUMS says ${expected}: copy it again`);
    const home = join(cacheHome(), 'unpacked', sum.slice(0, 16));
    const path = join(home, name);
    if (await isThere(path)) return path;
    await mkdir(home, { recursive: true });
    const scratch = await mkdtemp(join(home, 'unpacking-'));
    try {
      await unpack(packed, join(scratch, name));
      await rename(join(scratch, name), path);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
    return path;
  }

  #without(what: string): RealPartsUnavailable {
    if (this.directory === LEFT_OUT) return new RealPartsUnavailable(LEFT_OUT_TEXT);
    const where = this.directory === '' ? 'DKC_REAL_KUBERNETES is not set' : `DKC_REAL_KUBERNETES=${this.directory} has no ${what}`;
    return new RealPartsUnavailable(
      `${where}: set it to a folder with the programs of a Kubernetes release (kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kubectl and an etcd)`,
    );
  }
}

const isThere = (path: string): Promise<boolean> => access(path, constants.R_OK).then(() => true, () => false); // prettier-ignore

const NO_XZ = 77;

async function unpack(packed: string, path: string): Promise<void> {
  const script = `command -v xz >/dev/null || exit ${NO_XZ}; xz -dc "$1" >"$2" && chmod +x "$2"`;
  try {
    await run('sh', ['-c', script, 'sh', packed, path]);
  } catch (cause) {
    const hasNone = cause instanceof Error && 'code' in cause && cause.code === NO_XZ;
    if (hasNone) throw new RealPartsUnavailable(`there is no xz here to unpack ${packed}: install xz-utils`);
    throw new Error(`Cannot unpack ${packed}`, { cause });
  }
}

/** Where real parts are kept, as in build.sh. */
export function cacheHome(): string {
  const { DKC_CACHE, XDG_CACHE_HOME } = process.env;
  return DKC_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'dkc');
}
