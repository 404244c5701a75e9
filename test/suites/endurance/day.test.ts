import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { day } from '../../support/soak/day.ts';

const MB = 2 ** 20;

test('a day in fake time: lease renewals, resyncs, users and faults leave nothing behind, and memory is flat', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { problems, heap, sleepers } = await day(24, 1, collect);
  assert.deepEqual(problems, []);
  assert.equal(sleepers, 0, 'somebody still waits for time to pass');
  // By the sixth hour everything has been loaded. What the event recorder remembers takes a day to reach its bound, and the engine keeps more of what it learns
  // of the code: 1.1 MB at most were seen. The users' 720 acts replace three pods each, which would be 3 KB a pod if they were kept.
  const mean = (from: number, to: number) => heap.slice(from, to).reduce((sum, bytes) => sum + bytes, 0) / (to - from) / MB;
  const [early, late] = [mean(6, 12), mean(18, 24)];
  assert.ok(
    late < early + 2,
    `memory grew from ${early.toFixed(2)} to ${late.toFixed(2)} MB: ${heap.map((bytes) => (bytes / MB).toFixed(1)).join(' ')}`,
  );
});
