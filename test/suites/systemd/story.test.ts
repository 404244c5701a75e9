import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { StoryResult } from './scenarios/story.ts';
import { machines } from './suite.ts';

await machines('story', () => {
  test('a good configuration is trusted, an invalid one refused, one that kills the kubelet undone, with and without an API server', async (t) => {
    const { took, crashes, starts, ...seen } = await onMachine<StoryResult>('story', { agent: 'bundle' });
    assert.deepEqual(seen, {
      // assigned, active, last known good, error
      status: {
        good: 'kubelet-1 kubelet-1 kubelet-1 no error',
        invalid: 'kubelet-1 kubelet-1 kubelet-1 failed to validate config, see Kubelet log for details',
        killer: 'kubelet-3 kubelet-1 kubelet-1 failed trial, see dkc-agent log for details',
      },
      untouched: true,
    });
    // Three crashes are enough; where the agent gets no CPU for seconds, the kubelet comes to some more. Tests in fake time know the exact number.
    assert.deepEqual(
      Object.entries(starts).map(([what, list]) => `${what}: ${list.filter((maxPods, i) => maxPods !== list[i + 1]).join(' ')}`),
      ['good: 101', 'invalid: ', 'killer: 103 101', 'killer without API server: 104 101'],
    );
    for (const maxPods of [103, 104]) {
      const count = crashes.filter((crash) => crash === maxPods).length;
      assert.ok(count >= 3 && count <= 8, crashes.join(' '));
      t.diagnostic(`maxPods ${maxPods}: ${count} crashes`);
    }
    for (const [what, ms] of Object.entries(took)) t.diagnostic(`${what}: ${ms} ms`);
  });
});
