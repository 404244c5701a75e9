import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { ExitsResult } from './scenarios/exits.ts';
import { machines } from './suite.ts';

await machines('kubelet-stopped', () => {
  test('writes a line for every end of a kubelet, with the hash of its configuration', async () => {
    const { cutTo, ...seen } = await onMachine<ExitsResult>('exits');
    assert.deepEqual(seen, {
      exits: [
        'success killed KILL local',
        'signal killed KILL local',
        'success exited 0 local',
        'exit-code exited 1 bad',
        'exit-code exited 1 bad',
        'exit-code exited 1 bad',
      ],
      timesFit: true,
      modes: ['700', '600'],
      last: '7',
      bare: 'resources - - -',
      byHand: 2,
    });
    assert.ok(cutTo > 60_000 && cutTo < 66_000, `cut to ${cutTo} bytes`);
  });
});
