import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { HostFacts } from '../../../../../agent/config/contract.ts';
import { preflighted } from '../../../../support/preflighted.ts';

interface Row {
  why: string;
  config?: string;
  host?: Omit<HostFacts, 'memoryBytes'> & { memoryBytes?: number };
  args?: string[];
  /** `field rule`; neither where preflight can find nothing. */
  error?: string;
  warning?: string;
}

const file = new URL('../../../../../fixtures/kubelet-config/valid-but-fatal.yaml', import.meta.url);
const table = parse(readFileSync(file, 'utf8')) as Record<string, Row[]>;

for (const [minor, rows] of Object.entries(table))
  for (const { why, config = '', host = {}, args, error, warning } of rows)
    test(`a kubelet ${minor} where ${why}: preflight finds ${error ?? warning ?? 'nothing'}`, () => {
      const { memoryBytes, ...facts } = host;
      const there = memoryBytes === undefined ? facts : { ...facts, memoryBytes: BigInt(memoryBytes) };
      // resolvConf is only a warning and on many hosts, so it is out of the way
      assert.deepEqual(preflighted(`resolvConf: ""\n${config}`, there, minor, args), {
        errors: error === undefined ? [] : [error],
        warnings: warning === undefined ? [] : [warning],
      });
    });
