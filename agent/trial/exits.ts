import type { Disk } from '../../base/disk.ts';
import { describeError, errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** One kubelet exit, as kubelet-stopped writes it. */
export interface KubeletExit {
  /** RFC 3339, UTC: for people. The wall clock may jump, so nothing is computed with it. */
  at: string;
  serviceResult: string;
  exitCode: string;
  exitStatus: string;
  /** SHA-256 of the file this kubelet was started with; undefined where kubelet-stopped could not tell (`-`). */
  effectiveSha256?: string;
}

export interface ReadExits {
  exits: KubeletExit[];
  bad: number;
  /** Where the next reading begins: after the last whole line. */
  offset: number;
}

// kubelet-stopped cuts a file that is too large to its newest lines, at least this many bytes; a new file is far smaller.
const CUT_LEAVES_AT_LEAST = 16 * 1024;

/**
 * Reads what was added after `offset`. A file that shrank was either cut, which kubelet-stopped does right before it adds a line (only that line is
 * new), or created again (all lines are new). A last line without a newline is still being written and left for the next read.
 */
export function readExits(bytes: Uint8Array, offset: number): ReadExits {
  const shrank = bytes.length < offset;
  const end = bytes.lastIndexOf(0x0a) + 1;
  const lastLine = end < 2 ? 0 : bytes.lastIndexOf(0x0a, end - 2) + 1;
  const from = !shrank ? offset : bytes.length >= CUT_LEAVES_AT_LEAST ? lastLine : 0;
  if (end <= from) return { exits: [], bad: 0, offset: from };
  const lines = new TextDecoder()
    .decode(bytes.subarray(from, end))
    .split('\n')
    .filter((line) => line !== '');
  const parsed = lines.map(parseExit);
  const exits = parsed.filter((exit) => exit !== undefined);
  return { exits, bad: parsed.length - exits.length, offset: end };
}

/** Requested stops, systemd's timeouts, the OOM killer and signals that ask for an end do not count against a config. */
export function countsAgainst({ serviceResult, exitCode, exitStatus }: KubeletExit): boolean {
  const isAskedToEnd = serviceResult === 'protocol' && exitCode === 'killed' && CLEAN_SIGNALS.has(exitStatus);
  return !isAskedToEnd && !BLAMELESS.has(serviceResult);
}

const BLAMELESS: ReadonlySet<string> = new Set(['success', 'timeout', 'oom-kill']);
/** With these systemd says `success`, unless a kubelet of `Type=notify` was not ready yet: then `protocol`. */
const CLEAN_SIGNALS: ReadonlySet<string> = new Set(['HUP', 'INT', 'TERM', 'PIPE']);

/** Longest line that kubelet-stopped writes, in characters. */
const MAX_LINE = 256;

/** Parses five fields separated by one space. @returns undefined for any other line */
export function parseExit(line: string): KubeletExit | undefined {
  if (line.length > MAX_LINE) return undefined;
  const [at, serviceResult, exitCode, exitStatus, hash, ...more] = line.split(' ');
  if (!at || !serviceResult || !exitCode || !exitStatus || !hash || more.length > 0) return undefined;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(at)) return undefined;
  if (hash !== '-' && !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  return { at, serviceResult, exitCode, exitStatus, ...(hash === '-' ? {} : { effectiveSha256: hash }) };
}

/** `2026-01-31T10:00:00Z exited with status 255`: evidence that an admin can find again in the file and the journal. */
export function exitText({ at, serviceResult, exitCode, exitStatus }: KubeletExit): string {
  const how = ENDS[exitCode]?.(exitStatus) ?? `${exitCode} ${exitStatus}`;
  return `${at} ${how}${INFORMATIVE_RESULTS.has(serviceResult) ? ` (${serviceResult})` : ''}`;
}

const ENDS: Readonly<Record<string, (status: string) => string>> = {
  exited: (status) => `exited with status ${status}`,
  killed: (status) => `killed by signal ${status}`,
  dumped: (status) => `dumped core on signal ${status}`,
};
/** Values of `$SERVICE_RESULT` that add something to `$EXIT_CODE`. */
const INFORMATIVE_RESULTS: ReadonlySet<string> = new Set(['watchdog', 'protocol', 'resources', 'start-limit-hit', 'exec-condition']);

/** kubelet-stopped cuts its file at 128 KiB. */
const MAX_EXITS_BYTES = 1024 * 1024;

/** The file to which kubelet-stopped writes kubelet exits. A missing file reads as empty; a read failure is logged once. */
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

  /** The exits added after `offset`. A file that is too large or unreadable is skipped to its end: only later exits count. */
  async since(offset: number): Promise<ReadExits> {
    const { length, bytes } = await this.#read(offset);
    const read = bytes ? readExits(bytes, offset) : { exits: [], bad: 0, offset: length };
    if (read.bad > 0) this.#log.warn('skipping lines of the exits file that do not have five fields', { path: this.#path, bad: read.bad });
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
