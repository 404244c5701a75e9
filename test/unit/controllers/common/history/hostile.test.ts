import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetHistory, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { MAX_WRITTEN, planHistory, planTruncation } from '../../../../../controllers/common/history/plan.ts';
import { readRevisions } from '../../../../../controllers/common/reconcile.ts';
import { Turns } from '../../../../../kube/controller/workers.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { readData, revisionData, sameData } from '../../../../../controllers/common/history/revision.ts';
import { daemonSets } from '../../../../../kube/api/object.ts';
import { facts, template } from './notation.ts';

function nested(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let at = 0; at < depth; at++) value = { value };
  return value;
}
const revisions = (count: number, data: (at: number) => unknown): Revision[] =>
  Array.from({ length: count }, (_, at) => ({ metadata: { name: `r-${at}`, namespace: 'ns' }, revision: at, data: data(at) as object }));
const planOf = (all: readonly Revision[]) => planHistory({ ...facts('a', ''), revisions: all }, daemonSets, daemonSetHistory);

test('a revision that is nested 100,000 levels deep is like no other, and is looked at once', () => {
  const [one, other] = [nested(100_000), nested(100_000)];
  assert.equal(sameData(one, other), false);
  assert.equal(sameData(one, one), true);
  assert.equal(sameData(one, revisionData(template('a'))), false);
  const { current, old, steps } = planOf(revisions(2, () => nested(100_000)));
  assert.equal(old.length, 2);
  assert.deepEqual(steps.filter((step) => step.do === 'create').map(({ revision }) => revision.metadata.name), [current.metadata.name]); // prettier-ignore
});

test('of many revisions of one content a hundred go at a time', () => {
  const data = revisionData(template('a'));
  const { steps, old, excess } = planOf(revisions(50_000, () => data));
  assert.deepEqual([old.length, excess.length], [0, 49_000]);
  assert.equal(steps.filter((step) => step.do === 'delete').length, MAX_WRITTEN);
});

test('of fifty thousand old revisions the newest thousand are looked at, and a hundred of the others go at a time', () => {
  const all = revisions(50_000, (at) => ({ at }));
  const plan = planOf(all.toReversed());
  assert.deepEqual([plan.old.length, plan.old[0]?.metadata.name, plan.current.revision], [1_000, 'r-49000', 50_000]);
  const going = planTruncation(plan, new Set(['r-7']), 10, daemonSetHistory);
  assert.equal(going.length, MAX_WRITTEN);
  assert.ok(going.every(({ revision, metadata }) => revision < 49_000 && metadata.name !== 'r-7'));
});

test('a revision with more in it than a template may have is like no other', () => {
  const large = (): object => ({ list: Array.from({ length: 40_001 }, () => 0) });
  assert.equal(sameData(large(), large()), false);
});

test('large revisions are read some in each turn', async () => {
  const all = revisions(20, (at) => ({ at, text: 'x'.repeat(2 ** 18) }));
  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  await readRevisions(all, new Turns(new FakeClock()));
  counting = false;
  assert.ok(turns >= 8, `${turns} turns for 5 MiB`);
  for (const { data } of all) assert.equal(readData(data), 0, 'read already');
});
