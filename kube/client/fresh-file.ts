import { readFile, stat } from 'node:fs/promises';
import { ActionError, errorCode } from '../../base/errors.ts';

/** What tells two versions of a file apart: a rotated secret is a new file behind a link, an edited one has a new time. */
type Version = { mtimeMs: number; ino: number; size: number };

const LARGEST = 4 * 1024 * 1024;

/**
 * A file whose newest readable content counts. One `stat` per question, a read only after a change; links are followed, because
 * secrets are mounted behind links that are swapped whole.
 */
export class FreshFile {
  readonly path: string;
  readonly #what: string;
  #version: Version | undefined;
  #text: string | undefined;

  /** @param what - what the file is, for errors: `token file` */
  constructor(path: string, what: string) {
    this.path = path;
    this.#what = what;
  }

  /**
   * The text of the file; the last good one while a rotation leaves it missing or empty for a moment.
   * @throws {ActionError} when it was never readable
   */
  async text(): Promise<string> {
    try {
      const found = await stat(this.path);
      const version = { mtimeMs: found.mtimeMs, ino: found.ino, size: found.size };
      if (this.#text !== undefined && this.#version !== undefined && isSame(version, this.#version)) return this.#text;
      // A fifo would block for ever, a directory and a disk image are mistakes.
      if (!found.isFile()) throw this.#error('it is not a regular file');
      if (found.size > LARGEST) throw this.#error(`it has ${found.size} bytes, the limit is ${LARGEST}`);
      const text = await readFile(this.path, 'utf8');
      if (text.trim() === '') throw this.#error('it is empty');
      this.#version = version;
      this.#text = text;
      return text;
    } catch (error) {
      if (this.#text !== undefined) return this.#text;
      if (error instanceof ActionError) throw error;
      throw this.#error(hintFor(errorCode(error)), error);
    }
  }

  #error(hint: string, cause?: unknown): ActionError {
    return new ActionError(`read ${this.#what}`, this.path, cause === undefined ? { hint } : { hint, cause });
  }
}

function isSame(left: Version, right: Version): boolean {
  return left.mtimeMs === right.mtimeMs && left.ino === right.ino && left.size === right.size;
}

function hintFor(code: string | undefined): string {
  if (code === 'ENOENT') return 'no such file; correct the path';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied; correct its owner or mode';
  return 'I/O error; see the kernel log';
}
