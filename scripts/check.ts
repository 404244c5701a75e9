import { spawnSync } from 'node:child_process';
import { importProblems } from './imports.ts';

/** `npm run check`: all checks that do not run the product. Runs all parts, then reports which ones failed. */
const parts: { name: string; run: () => boolean }[] = [
  { name: 'types', run: () => tool('tsc', ['--noEmit']) },
  { name: 'lint', run: () => tool('oxlint', ['--type-aware', '--deny-warnings', '--quiet']) },
  { name: 'format', run: () => tool('prettier', ['--check', '--log-level=warn', '.']) },
  { name: 'imports', run: imports },
  { name: 'mutants', run: mutants },
];

function tool(name: string, args: string[]): boolean {
  const { status, error } = spawnSync(`node_modules/.bin/${name}`, args, { stdio: 'inherit' });
  if (error) console.error(`${name} did not start: ${error.message}; run npm ci`);
  return status === 0;
}

function imports(): boolean {
  const problems = importProblems();
  for (const problem of problems) console.error(problem);
  return problems.length === 0;
}

/** Whether the faults of `npm run mutants` still match the sources: a commit that changes a line must update its fault. */
function mutants(): boolean {
  return (
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'scripts/mutants.ts', '--check'], { stdio: 'inherit' }).status ===
    0
  );
}

const failed = parts.filter(({ name, run }) => {
  const from = performance.now();
  const ok = run();
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name} ${Math.round(performance.now() - from)} ms`);
  return !ok;
});
process.exitCode = failed.length === 0 ? 0 : 1;
