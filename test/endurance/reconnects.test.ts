import { test } from 'node:test';
import { assertNothingLeaked, reconnect } from '../kube/client/leaks.ts';

test(
  'a thousand cut connections leave no socket, no timer and no memory behind, and no change is missed',
  { timeout: 600_000 },
  async (t) => {
    const times = 1_000;
    const result = await reconnect(times);
    const { before, after, failures } = result;
    t.diagnostic(`${failures} watches were cut; heap ${before.heapMb.toFixed(1)} MB before, ${after.heapMb.toFixed(1)} MB after`);
    t.diagnostic(`handles ${JSON.stringify(before.resources)} before, ${JSON.stringify(after.resources)} after`);
    // 5 KB for each would be a leak that years add up.
    assertNothingLeaked(result, (times * 5) / 1024);
  },
);
