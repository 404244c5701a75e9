/**
 * Test files that compute for long in fake time: each runs in a process of its own, without the async hook of Node's test runner (no-test-hooks.ts says
 * why). Suites inside of suites with `before` need the hook: a file with those is none of these.
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
