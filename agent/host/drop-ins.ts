import { posix } from 'node:path';
import { configDirOf, MAX_DROP_INS, parseDropIns, type DropIns } from '../config/overlay.ts';
import { MAX_BYTES } from '../config/decode/document.ts';
import type { KubeletFacts } from '../config/contract.ts';
import type { Disk } from '../../base/disk.ts';
import { describeError } from '../../base/errors.ts';

/** Names that are looked at, in all directories together; and levels of directories. */
const MAX_NAMES = 1000;
const MAX_LEVELS = 10;

type Reader = Pick<Disk, 'list' | 'stat' | 'readLinked'>;

/**
 * The drop-ins of a kubelet that is started with --config-dir: all files of the directory, and of those in it, whose name ends in .conf, in
 * lexical order, as it walks them. Other names are none. Links to files are followed, links to directories are not.
 * @returns undefined where the kubelet has no such directory. What cannot be read is named in `problems`
 */
export async function readDropIns(disk: Reader, { args, version }: KubeletFacts): Promise<DropIns | undefined> {
  const dir = configDirOf(args, version);
  if (dir === undefined) return undefined;
  const found = new Walk(disk);
  await found.into(dir, 1);
  return parseDropIns(dir, found.files, version);
}

class Walk {
  readonly files: { path: string; bytes?: Uint8Array; problem?: string }[] = [];
  readonly #disk: Reader;
  #names = 0;

  constructor(disk: Reader) {
    this.#disk = disk;
  }

  async into(dir: string, level: number): Promise<void> {
    let names: string[];
    try {
      names = await this.#disk.list(dir);
    } catch (error) {
      this.files.push({ path: dir, problem: describeError(error) });
      return;
    }
    for (const name of names) {
      const path = posix.join(dir, name);
      if (++this.#names > MAX_NAMES || this.files.length >= MAX_DROP_INS || level > MAX_LEVELS) {
        this.files.push({
          path,
          problem: `the agent reads ${MAX_DROP_INS} drop-ins, ${MAX_NAMES} names and ${MAX_LEVELS} levels of directories at most`,
        });
        return;
      }
      const stat = await this.#disk.stat(path).catch(() => undefined);
      if (stat?.kind === 'dir') await this.into(path, level + 1);
      else if (name.endsWith('.conf')) this.files.push(await this.#file(path));
    }
  }

  async #file(path: string): Promise<{ path: string; bytes?: Uint8Array; problem?: string }> {
    try {
      return { path, bytes: await this.#disk.readLinked(path, MAX_BYTES) };
    } catch (error) {
      return { path, problem: describeError(error) };
    }
  }
}
