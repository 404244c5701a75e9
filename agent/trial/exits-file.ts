import { readExits, type ReadExits } from './exits.ts';
import type { Disk } from '../../base/disk.ts';
import { describeError, errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** kubelet-stopped cuts its file at 128 KiB. */
const MAX_EXITS_BYTES = 1024 * 1024;

/** The file in which kubelet-stopped notes the ends of the kubelet. A missing file is an empty one; one that cannot be read is reported once. */
export class ExitsFile {
  readonly #disk: Pick<Disk, 'read' | 'stat'>;
  readonly #path: string;
  readonly #log: Log;
  #problem = '';

  constructor(disk: Pick<Disk, 'read' | 'stat'>, path: string, log: Log) {
    this.#disk = disk;
    this.#path = path;
    this.#log = log;
  }

  async length(): Promise<number> {
    return (await this.#read(0)).length;
  }

  /** What was added after `offset`. Of a file that is too large, or cannot be read, only what comes after it was cut counts. */
  async since(offset: number): Promise<ReadExits> {
    const { length, bytes } = await this.#read(offset);
    const read = bytes ? readExits(bytes, offset) : { exits: [], bad: 0, offset: length };
    if (read.bad > 0)
      this.#log.warn('lines of the exits file are skipped: they are not of the five fields', { path: this.#path, bad: read.bad });
    return read;
  }

  async #read(offset: number): Promise<{ length: number; bytes?: Uint8Array }> {
    try {
      const bytes = await this.#disk.read(this.#path, MAX_EXITS_BYTES);
      this.#problem = '';
      return { length: bytes.length, bytes };
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { length: 0, bytes: new Uint8Array() };
      const text = error instanceof RangeError ? 'it is too large' : describeError(error);
      if (text !== this.#problem) this.#log.warn('exits file cannot be read', { path: this.#path, error: text });
      this.#problem = text;
      const stat = await this.#disk.stat(this.#path).catch(() => undefined);
      return { length: stat?.bytes ?? offset };
    }
  }
}
