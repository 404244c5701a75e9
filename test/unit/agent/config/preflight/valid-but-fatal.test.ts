import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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

test('docs/fatal-configurations.md counts what the tables hold', () => {
  const docs = readFileSync(new URL('../../../../../docs/fatal-configurations.md', import.meta.url), 'utf8');
  const rows = fatalRows('valid-but-fatal-1.36.yaml')['1.36'] ?? [];
  const kinds = { dies: 'ends before', 'dies late': 'ends after', 'never healthy': 'is never', 'not registered': 'does not', 'not Ready': 'is not', 'pods fail': 'fails pods', 'server fails': 'is healthy,' }; // prettier-ignore
  for (const [fate, words] of Object.entries(kinds)) {
    const all = rows.filter(({ kubelet }) => kubelet === fate);
    const refused = all.filter((row) => row.refused === true).length;
    const errors = all.filter((row) => row.refused !== true && row.error !== undefined).length;
    const line = docs.split('\n').find((one) => one.startsWith(`| ${words}`)) ?? '';
    assert.deepEqual(line.split('|').slice(2, 5).map(Number), [refused, errors, all.length - refused - errors], fate);
  }
  const lives = fatalRows('lives-1.36.yaml')['1.36'] ?? [];
  assert.ok(docs.includes(`${lives.length} configurations of \`lives-1.36.yaml\``));
});
