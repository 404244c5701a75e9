import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageOf } from '../../../../bench/daemonset/proc.ts';

const status = 'Name:\tnode\nVmPeak:\t 1048576 kB\nVmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\nThreads:\t11\n';
const stat = (name: string): string => `4711 (${name}) S 1 4711 4711 0 -1 4194560 2500 0 1 0 250 50 7 8 20 0 11 0 99 1073741824 25600\n`;
const usage = { cpuMs: 3_000, rssMb: 100, peakMb: 200 };

const cases = [
  { why: 'user and system time, without what children took', name: 'node' },
  { why: 'the same when the name of the process looks like more fields', name: 'a) R 1 (b' },
];
for (const { why, name } of cases) test(`usage is ${why}`, () => assert.deepEqual(usageOf(stat(name), status), usage));

test('what is no /proc is refused', () => {
  assert.throws(() => usageOf('', status), RangeError);
  assert.throws(() => usageOf(stat('node'), ''), RangeError);
});
