/**
 * Test files with long computations in fake time: each runs in a separate process, without the async hook of Node's test runner (reason: no-test-hooks.ts).
 * Nested suites with `before` need the hook, so a file with them cannot be listed here.
 */
const files = [
  'agent/stories',
  'agent/kill-sweep',
  'agent/boot/boot-table',
  'controllers/faults',
  'controllers/rollout/random',
  'controllers/rollout/rollout',
  'controllers/rollout/sweep',
  'embedded/stories',
  'scheduler/faults',
  'scheduler/handover',
  'scheduler/hostile',
  'scheduler/core/rollouts',
  'endurance/controllers',
  'endurance/day',
  'endurance/hand-overs',
  'endurance/rollouts',
  'endurance/scheduler',
  'endurance/scheduler-faults',
].map((file) => `/${file}.test.ts`);

export const isHookless = (file: string): boolean => files.some((one) => file.endsWith(one));
