import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rfc3339 } from '../../../../base/clock.ts';
import { ClockGaps } from '../../../../controllers/rollout/clock-gaps.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { RandomRun } from '../../../support/fleet/random-run.ts';

const RUNS = 8;

// test/suites/endurance/rollouts.test.ts plays a hundred.
test(`${RUNS} random runs: budgets hold at every write, what is good completes, what is bad is taken back`, async () => {
  for (let seed = 1; seed <= RUNS; seed++) await new RandomRun(seed).play();
});

test('the wall clock tells what it jumped over, and what of that it goes through after all', () => {
  const clock = new FakeClock('2026-03-01T12:00:00Z');
  const gaps = new ClockGaps(clock);
  const said = (): string => gaps.measure().map(({ from, to }) => `${rfc3339(from).slice(11, 16)}-${rfc3339(to).slice(11, 16)}`).join(' '); // prettier-ignore
  const cases: [ms: number, gaps: string][] = [
    [20_000, ''],
    [3_600_000, '12:00-13:00'],
    [-1_800_000, '12:00-12:30'],
    [86_400_000, '12:00-12:30 12:30-12:30'],
    [-2 * 86_400_000, ''],
  ];
  for (const [ms, expected] of cases) {
    clock.jump(ms);
    assert.equal(said(), expected, `${ms} ms`);
  }
});
