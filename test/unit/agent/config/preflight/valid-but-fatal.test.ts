import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { factsOf, fatalRows, textOf } from '../../../../support/fatal-rows.ts';
import { preflighted } from '../../../../support/preflighted.ts';

// resolvConf is only a warning and on many hosts, and cgroup v1 is refused by default since 1.35: both are out of the way.
const text = (minor: string, config: string): string =>
  stringify({ resolvConf: '', ...(Number(minor.slice(2)) >= 31 ? { failCgroupV1: false } : {}), ...(parse(config) as object | null) });

for (const file of ['valid-but-fatal.yaml', 'valid-but-fatal-1.36.yaml', 'lives-1.36.yaml'])
  for (const [minor, rows] of Object.entries(fatalRows(file)))
    for (const row of rows.filter(({ refused }) => refused !== true)) {
      const { why, args, error, warning, and } = row;
      const config = textOf(row);
      test(`a kubelet ${minor} where ${why}: preflight finds ${error ?? warning ?? 'nothing'}`, () =>
        assert.deepEqual(preflighted(text(minor, config), factsOf(row), minor, args), {
          errors: [error, and].filter((one) => one !== undefined),
          warnings: warning === undefined ? [] : [warning],
        }));
    }
