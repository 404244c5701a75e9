import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rfc3339 } from '../../../../base/clock.ts';
import { ClockGaps } from '../../../../controllers/rollout/clock-gaps.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ModelController } from '../../../support/fleet/model-controller.ts';
import { ModelFleet } from '../../../support/fleet/model-fleet.ts';
import { RandomRun } from '../../../support/fleet/random-run.ts';

const RUNS = 15;

// test/suites/endurance/rollouts.test.ts plays a thousand.
test(`${RUNS} random runs: budgets hold at every write, what is good completes, what is bad is taken back`, () => {
  for (let seed = 1; seed <= RUNS; seed++) new RandomRun(seed).play();
});

/** Looks again and again as long as that writes something. @returns what was written of one node */
function rest(fleet: ModelFleet, controller: ModelController, node: string): string[] {
  const written: string[] = [];
  for (let isBusy = true; isBusy;) {
    controller.syncAll();
    const { version } = fleet;
    const steps = controller.look('web');
    let next = steps.next();
    for (; next.done !== true; next = steps.next('arrives')) if (next.value.node?.node === node) written.push(next.value.what);
    isBusy = fleet.version > version;
  }
  return written;
}

test('who has older caches than those that the last touch was decided on touches nothing, also where the wall clock was set since', () => {
  for (const [ms, down] of [
    [0, 'a'],
    [-36_000_000, 'b'],
    [36_000_000, 'a'],
  ] as const) {
    const fleet = new ModelFleet(1);
    fleet.publish('good');
    for (const name of ['a', 'b']) fleet.add(name);
    fleet.roll('web', { maxUnavailable: 1, steps: [{ nodes: '100%' }], drain: 'Never', paused: true });
    const one = new ModelController(fleet, 'one');
    rest(fleet, one, down);
    const other = new ModelController(fleet, 'other');
    Object.assign(fleet.nodes.get(down) ?? {}, { cordoned: true });
    fleet.changed(down, 'nodes');
    fleet.edit('web', { paused: false });
    // It takes no place of its own.
    assert.match(rest(fleet, one, down).join(), /^assign/);
    fleet.offset += ms;
    other.sync('rollouts');
    assert.equal(other.look('web').next().done, true);
  }
});

test('the wall clock tells what it jumped over, and what of that it goes through after all', () => {
  const clock = new FakeClock('2026-03-01T12:00:00Z');
  const gaps = new ClockGaps(clock);
  const said = (): string => gaps.look().map(({ from, to }) => `${rfc3339(from).slice(11, 16)}-${rfc3339(to).slice(11, 16)}`).join(' '); // prettier-ignore
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
