import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { HandOverResult } from './scenarios/hand-over.ts';
import { machines } from './suite.ts';

await machines('kubelet-sync', () => {
  test('restarts a kubelet once where its file is new, and in no other state', async () => {
    assert.deepEqual(await onMachine<HandOverResult>('hand-over'), {
      'nothing is new': 'exit 0, active, 0 starts',
      'off by the environment': 'exit 0, active, 0 starts',
      'off by agent.yaml': 'exit 0, active, 0 starts',
      'not a unit name': 'exit 1, active, 0 starts',
      running: 'exit 0, active, 1 starts',
      'masked while it runs': 'exit 1, active, 0 starts',
      'masked no more': 'exit 0, active, 1 starts',
      'stopped by the administrator': 'exit 0, inactive, 0 starts',
      'waits for its automatic restart': 'exit 0, active, 1 starts',
      'failed by its start limit': 'exit 0, active, 1 starts',
      'waits at its start limit': 'active',
      'started before the drop-in was there': 'exit 0, active, 1 starts',
      'no effective file': 'exit 1, active, 0 starts',
      'without the drop-in': 'exit 0, active, 1 starts with the wrong file',
      'without the drop-in, again': 'exit 1, active, 0 starts',
      'a unit of another name': 'exit 0, active, 1 starts',
    });
  });
});
