import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { StoryResult } from './scenarios/story.ts';
import { machines } from './suite.ts';

await machines('story', () => {
  test('a good configuration is trusted, an invalid one refused, one that kills the kubelet undone, with and without an API server', async (t) => {
    const { took, ...seen } = await onMachine<StoryResult>('story', { agent: 'bundle' });
    assert.deepEqual(seen, {
      // assigned, active, last known good, error
      status: {
        good: 'kubelet-1 kubelet-1 kubelet-1 no error',
        invalid: 'kubelet-1 kubelet-1 kubelet-1 failed to validate config, see Kubelet log for details',
        killer: 'kubelet-3 kubelet-1 kubelet-1 failed trial, see dkc-agent log for details',
      },
      starts: { good: [101], invalid: [], killer: [103, 103, 103, 101], 'killer without API server': [104, 104, 104, 101] },
      crashes: [103, 103, 103, 104, 104, 104],
      untouched: true,
    });
    for (const [what, ms] of Object.entries(took)) t.diagnostic(`${what}: ${ms} ms`);
  });
});
