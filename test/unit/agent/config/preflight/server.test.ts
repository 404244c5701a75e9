import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preflighted } from '../../../../support/preflighted.ts';

const timeouts: { timeout: string; errors?: string[]; warnings?: string[] }[] = [
  { timeout: '-1s', errors: ['runtimeRequestTimeout runtime-timeout'] },
  { timeout: '1ns', errors: ['runtimeRequestTimeout runtime-timeout'] },
  { timeout: '9999us', errors: ['runtimeRequestTimeout runtime-timeout'] },
  { timeout: '10ms', warnings: ['runtimeRequestTimeout runtime-timeout'] },
  { timeout: '999ms', warnings: ['runtimeRequestTimeout runtime-timeout'] },
  { timeout: '1s' },
  { timeout: '0s' }, // counts as absent
];
for (const { timeout, errors = [], warnings = [] } of timeouts) {
  test(`a runtimeRequestTimeout of ${timeout} gives ${errors.length} errors and ${warnings.length} warnings`, () =>
    assert.deepEqual(preflighted(`resolvConf: ""\nruntimeRequestTimeout: ${timeout}`), { errors, warnings }));
}
