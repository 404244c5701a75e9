import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { SHARED } from './run-files.ts';

export interface Suite {
  files: () => string[];
  options: string[];
  /** Number of processes that share the files; 0: each file has a separate process, one after the other. */
  shared: number;
}

/** Few processes for the unit tests, since a process per file would cost more than the tests. Two share them, since they only compute. */
const unit: Suite = {
  files: () => globSync(['test/unit/**/*.test.ts', 'test/suites/embedded/**/*.test.ts']),
  options: [SHARED, '--test-timeout=300000'],
  shared: Math.min(2, availableParallelism()),
};

/** One file after the other: each has a machine or a control plane that other files must not disturb. */
const slow = (name: string, timeoutMs: number): Suite => ({
  files: () => globSync(`test/suites/${name}/**/*.test.ts`),
  options: ['--test-concurrency=1', `--test-timeout=${timeoutMs}`],
  shared: 0,
});

export const suites: Readonly<Record<string, Suite>> = {
  unit,
  systemd: slow('systemd', 1_800_000),
  // 100,000 texts for each of six kubelets take half an hour on a quiet machine.
  kubelet: slow('kubelet', 7_200_000),
  real: slow('real', 1_200_000),
  endurance: slow('endurance', 2_000_000),
};
