import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { SHARED } from './run-files.ts';

export interface Suite {
  files: () => string[];
  options: string[];
  /** Processes that share the files; 0 gives each file a process, one after the other. */
  shared: number;
}

/** Few processes for the unit tests: a process per file would cost more than the tests. Two share them, since they only compute. */
const unit: Suite = {
  files: () => globSync(['test/unit/**/*.test.ts', 'test/suites/embedded/**/*.test.ts']),
  options: [SHARED, '--test-timeout=300000'],
  shared: Math.min(2, availableParallelism()),
};

/** File after file: each has a machine or a control plane that no other may disturb. */
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
