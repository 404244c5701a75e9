import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { FileDuration } from './durations-reporter.ts';

/** Result of one run of a test file. */
export interface FileRun extends FileDuration {
  suite: string;
  /** CPU time, in ms; absent for files that share a process. */
  cpuMs?: number;
  /** Path of the output of its process; absent for files that passed in a shared process. */
  output?: string;
}

/**
 * A directory with the results of the files of several suites: lines of JSON, which concurrent processes append, and the output of each
 * file.
 */
export class Records {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true });
  }

  addFirst(run: Omit<FileRun, 'output'>, text: string): FileRun {
    const kept = this.#kept(run, 'first', text);
    this.#append('runs', kept);
    return kept;
  }

  addSecond(run: Omit<FileRun, 'output'>, text: string): FileRun {
    return this.#kept(run, 'second', text);
  }

  /**
   * Adds files that shared a process.
   * @param lines - output of durations-reporter.ts
   * @param text - all output of the process
   * @returns the failed files
   */
  addShared(suite: string, lines: string, text: string): FileRun[] {
    const failed: FileRun[] = [];
    for (const one of parsed<FileDuration>(lines)) {
      const run: FileRun = { ...one, suite, file: relative(process.cwd(), one.file) };
      if (run.passed) this.#append('runs', run);
      else failed.push(this.addFirst(run, text));
    }
    return failed;
  }

  /** Adds the closing lines of a whole run, for the sum at the end. */
  addClosing(closing: ReadonlyMap<string, number>): void {
    this.#append('closings', [...closing]);
  }

  runs(): FileRun[] {
    return this.#read('runs');
  }

  closings(): ReadonlyMap<string, number>[] {
    return this.#read<[string, number][]>('closings').map((entries) => new Map(entries));
  }

  #kept(run: Omit<FileRun, 'output'>, attempt: string, text: string): FileRun {
    const output = join(this.#dir, `${run.file.replaceAll('/', '-')}.${attempt}.txt`);
    writeFileSync(output, text);
    return { ...run, output };
  }

  #append(name: string, value: unknown): void {
    appendFileSync(join(this.#dir, `${name}.jsonl`), `${JSON.stringify(value)}\n`);
  }

  #read<T>(name: string): T[] {
    const path = join(this.#dir, `${name}.jsonl`);
    return existsSync(path) ? parsed<T>(readFileSync(path, 'utf8')) : [];
  }
}

const parsed = <T>(lines: string): T[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
