import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isHookless } from './hookless.ts';

export interface Ended {
  code: number;
  /** Output on both streams. */
  text: string;
  /** CPU time of the run and of its ended children, in ms; an estimate if two runs end at the same time. */
  cpuMs: number;
}

export const SHARED = '--test-isolation=none';
/** Linux reports times to programs in hundredths of a second, independent of its own clock. */
const TICK_MS = 10;
const withoutHook = ['--require', join(import.meta.dirname, 'no-test-hooks.ts')];

/** Runs test files with Node's runner: in one process with the option SHARED, else each in a separate one. @param echo - also print the output at once */
export function runFiles(files: readonly string[], options: readonly string[], echo: boolean): Promise<Ended> {
  const flags = !options.includes(SHARED) && files.every(isHookless) ? [...withoutHook, ...options] : options;
  // With this variable a runner would behave as a test of another runner.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const child = spawn(process.execPath, [...flags, '--test', ...files], { stdio: ['inherit', 'pipe', 'pipe'], env });
  let text = '';
  const keep = (stream: NodeJS.WritableStream) => (more: string) => {
    text += more;
    if (echo) stream.write(more);
  };
  child.stdout.setEncoding('utf8').on('data', keep(process.stdout));
  child.stderr.setEncoding('utf8').on('data', keep(process.stderr));
  let cpuMs = 0;
  child.once('exit', () => (cpuMs = sinceLastChild()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? 1, text, cpuMs })));
}

let counted = 0;

/** CPU time that the kernel has added for this process's children since the last call, in ms; proc(5) documents the fields of stat. */
function sinceLastChild(): number {
  const ticks = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(13, 15) ?? []; // prettier-ignore
  const all = ticks.reduce((sum, one) => sum + Number(one), 0) * TICK_MS;
  const more = all - counted;
  counted = all;
  return more;
}
