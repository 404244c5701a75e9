import { test } from 'node:test';
import { cuttingServer } from './cutting-server.ts';
import { assertNothingLeaked, reconnect } from './leaks.ts';

// Thousands of them, and what they leave in memory: test/suites/endurance/reconnects.test.ts
test('fifty cut connections leave no socket and no timer behind, and no change is missed', { timeout: 120_000 }, async () => {
  await using server = await cuttingServer();
  assertNothingLeaked(await reconnect(server, { parts: 1, cuts: 50 }));
});
