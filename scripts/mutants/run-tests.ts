import { spawn } from 'node:child_process';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestEnded } from './reporter.ts';

/** Result of a run of test files: passed, stopped at the first failure, or timed out. */
export type Run = { outcome: 'passed' } | { outcome: 'failed' | 'timeout'; file: string | undefined; test: string | undefined };

/**
 * Runs test files of a tree in one process, and kills it with all its children at the first failure.
 * @param silenceMs - maximum time without the end of a test
 */
export async function runTests(root: string, files: readonly string[], silenceMs: number): Promise<Run> {
  const reporter = resolve('scripts/mutants/reporter.ts');
  const flags = [
    '--max-old-space-size=1500',
    '--test',
    '--test-isolation=none',
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
  ];
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_COMPILE_CACHE: join(root, '.compile-cache') };
  delete env['CI'];
  const child = spawn(process.execPath, [...flags, ...files], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  let run: Run | undefined;
  const end = (how: Run): void => {
    run ??= how;
    endGroup(child.pid);
  };
  const timer = setTimeout(() => end({ outcome: 'timeout', file: files.length === 1 ? files[0] : undefined, test: undefined }), silenceMs);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const ended = testEnded(line);
    if (!ended) return;
    timer.refresh();
    if (!ended.passed) end({ outcome: 'failed', file: ended.file && relative(root, ended.file), test: ended.name });
  });
  const code = await new Promise<number | null>((done) => child.once('exit', done));
  clearTimeout(timer);
  endGroup(child.pid);
  return run ?? (code === 0 ? { outcome: 'passed' } : { outcome: 'failed', file: undefined, test: undefined });
}

function testEnded(line: string): TestEnded | undefined {
  if (!line.startsWith('{"name":')) return undefined;
  try {
    return JSON.parse(line) as TestEnded;
  } catch {
    return undefined;
  }
}

/** Kills the rest of a process group, which is usually empty. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
