import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { NoCopyOptions, NoCopyResult } from './scenarios/no-copy.ts';
import { machines } from './suite.ts';

await machines('a kubelet whose start cannot be noted', () => {
  const cases: { why: string; options: NoCopyOptions; copy: boolean }[] = [
    { why: 'since /run is full', options: { cause: 'full' }, copy: false },
    { why: 'since its unit makes no copy: the old one stays', options: { cause: 'no command' }, copy: true },
  ];
  for (const { why, options, copy } of cases) {
    test(`${why}, is restarted once for each content, however often the agent starts`, async () => {
      const seen = await onMachine<NoCopyResult>('no-copy', { options });
      assert.deepEqual(seen, { starts: ['101', '|', '100', '|'], copy });
    });
  }
});
