import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isHookless } from './hookless.ts';

export interface Ended {
  code: number;
  /** All that was printed, on either stream. */
  text: string;
}

export const SHARED = '--test-isolation=none';
const withoutHook = ['--require', join(import.meta.dirname, 'no-test-hooks.ts')];

/** Runs test files with Node's runner: in one process with the option SHARED, else each in its own. @param echo - print as it comes, besides keeping the text */
export function runFiles(files: readonly string[], options: readonly string[], echo: boolean): Promise<Ended> {
  const flags = !options.includes(SHARED) && files.every(isHookless) ? [...withoutHook, ...options] : options;
  // A runner that finds this variable takes itself for a test of another runner.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const child = spawn(process.execPath, [...flags, '--test', ...files], { stdio: ['inherit', 'pipe', 'pipe'], env });
  let text = '';
  const keep = (stream: NodeJS.WritableStream) => (more: string) => {
    text += more;
    if (echo) stream.write(more);
  };
  child.stdout.setEncoding('utf8').on('data', keep(process.stdout));
  child.stderr.setEncoding('utf8').on('data', keep(process.stderr));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? 1, text })));
}
