import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { NoLocalResult } from './scenarios/no-local.ts';
import { machines } from './suite.ts';

await machines('a local config that is not where the agent looks for it', () => {
  test('leaves the kubelet alone, is said aloud, and is taken once it is there', async () => {
    const seen = await onMachine<NoLocalResult>('no-local');
    const well = { effective: true, status: 0, drill: 0, said: false };
    const ill = { effective: true, status: 1, drill: 1, said: true };
    assert.deepEqual(seen, {
      'installed, with the default of localConfig': { ...ill, starts: 1, maxPods: 100, effective: false },
      'with the right one': { ...well, starts: 2, maxPods: 100 },
      'and gone later': { ...ill, starts: 2, maxPods: 100 },
      'and back, with another content': { ...well, starts: 3, maxPods: 105 },
      'and broken': { ...ill, starts: 3, maxPods: 105 },
      'with an assignment beside it': { ...ill, starts: 4, maxPods: 106 },
    });
  });
});
