import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

/**
 * `npm test` and its slower brothers. Node's own runner does the work; this names the files.
 * One process for the unit tests: a process per file would cost more than the tests.
 */
const suites: Record<string, { files: string[]; without: RegExp; options: string[] }> = {
  unit: {
    files: ['test/**/*.test.ts'],
    without: /^test\/(systemd|kubelet|real|endurance)\//,
    options: ['--test-isolation=none', '--test-timeout=120000'],
  },
  systemd: { files: ['test/systemd/**/*.test.ts'], without: /^$/, options: ['--test-concurrency=1', '--test-timeout=900000'] },
  kubelet: { files: ['test/kubelet/**/*.test.ts'], without: /^$/, options: ['--test-concurrency=1', '--test-timeout=900000'] },
  real: { files: ['test/real/**/*.test.ts'], without: /^$/, options: ['--test-concurrency=1', '--test-timeout=1200000'] },
  endurance: { files: ['test/endurance/**/*.test.ts'], without: /^$/, options: ['--test-concurrency=1', '--test-timeout=1800000'] },
};

const [name = 'unit', ...rest] = process.argv.slice(2);
const suite = suites[name];
if (!suite) {
  console.error(`No suite ${name}; there are ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
const files = globSync(suite.files)
  .filter((file) => !suite.without.test(file))
  .sort();
const { status } = spawnSync(process.execPath, ['--test', ...suite.options, ...rest, ...files], { stdio: 'inherit' });
process.exitCode = status ?? 1;
