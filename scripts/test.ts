import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { closingLines, mergedClosing } from './closing-lines.ts';

/**
 * `npm test` and its slower brothers. Node's own runner does the work; this names the files.
 * Few processes for the unit tests: a process per file would cost more than the tests. Two share them, since they compute and nothing else.
 */
const suites: Record<string, { files: string[]; without: RegExp; options: string[]; processes: number }> = {
  unit: {
    files: ['test/**/*.test.ts'],
    without: /^test\/(systemd|kubelet|real|endurance)\//,
    options: ['--test-isolation=none', '--test-timeout=300000'],
    processes: Math.min(2, availableParallelism()),
  },
  systemd: slow('systemd', 1_800_000),
  kubelet: slow('kubelet', 900_000),
  real: slow('real', 1_200_000),
  endurance: slow('endurance', 1_800_000),
};

/** File after file: each has a machine or a control plane of its own. */
function slow(name: string, timeoutMs: number): (typeof suites)[string] {
  return {
    files: [`test/${name}/**/*.test.ts`],
    without: /^$/,
    options: ['--test-concurrency=1', `--test-timeout=${timeoutMs}`],
    processes: 1,
  };
}

const PARTS_EACH = 4;

const [name = 'unit', ...rest] = process.argv.slice(2);
const suite = suites[name];
if (!suite) {
  console.error(`No suite ${name}; there are ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
const files = globSync(suite.files)
  .filter((file) => !suite.without.test(file))
  .sort();
const { options, processes } = suite;
if (processes === 1) process.exitCode = await run(files, 'inherit').then(({ code }) => code);
else {
  // More parts than processes, so that none waits long for the slowest; every so many files, since neighbours tend to be alike, and alike long.
  const parts = Array.from({ length: processes * PARTS_EACH }, (_, at) =>
    files.filter((_file, index) => index % (processes * PARTS_EACH) === at),
  );
  const ended: { code: number; text: string }[] = [];
  const left = parts.values();
  const work = async (): Promise<void> => {
    for (const part of left) {
      const one = await run(part, 'pipe');
      process.stdout.write(one.text);
      ended.push(one);
    }
  };
  await Promise.all(Array.from({ length: processes }, work));
  process.stdout.write(mergedClosing(ended.map(({ text }) => closingLines(text))));
  process.exitCode = Math.max(...ended.map(({ code }) => code));
}

/** @returns how it ended, and what it said where that is not on the terminal already */
function run(own: readonly string[], stdout: 'inherit' | 'pipe'): Promise<{ code: number; text: string }> {
  const child = spawn(process.execPath, ['--test', ...options, ...rest, ...own], { stdio: ['inherit', stdout, 'inherit'] });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (more: string) => (text += more));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? 1, text })));
}
