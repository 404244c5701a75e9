import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { BrokenDiskResult } from './scenarios/broken-disk.ts';
import { machines } from './suite.ts';

await machines('a disk that takes no writes', () => {
  test('a full one keeps no kubelet on a configuration that kills it', async (t) => {
    const { kills, backAfterMs, ...seen } = await onMachine<BrokenDiskResult>('broken-disk');
    assert.deepEqual(seen, { starts: [100, 101, 103, 101], afterRestart: 101, isWritten: true, isUntouched: true });
    // Where the agent gets no CPU for seconds, the kubelet comes to some more.
    assert.ok(kills >= 3 && kills <= 8, `${kills} starts of the killer`);
    assert.ok(backAfterMs < 120_000, `back after ${backAfterMs} ms, the deadline of a kubelet without health`);
    t.diagnostic(`${kills} starts of the killer, back ${Math.round(backAfterMs)} ms after its last end`);
  });
});
