import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan, planInTurns, type Plan } from '../../../../controllers/statefulset/plan.ts';
import { slotsOf } from '../../../../controllers/statefulset/places.ts';
import type { Pvc } from '../../../../controllers/common/types.ts';
import { actionsOf, factsOf, type Situation } from './notation.ts';

const ALL = 2 ** 31 - 1;

/** A plan, and how often it asked for a claim. */
function counted(situation: Situation, there: readonly Pvc[] = []): { plan: Plan; lookups: number } {
  const facts = factsOf(situation);
  let lookups = 0;
  const claim = (name: string): Readonly<Pvc> | undefined => {
    lookups += 1;
    return facts.pvc(name);
  };
  return { plan: plan({ ...facts, pvc: claim, allPvcs: () => there }), lookups };
}

const templates = (count: number): string[] => Array.from({ length: count }, (_, at) => `t${at}`);
const actions = ({ groups }: Plan): number => groups.reduce((sum, group) => sum + group.length, 0);
const claims = ({ groups }: Plan): number => groups.flat().reduce((sum, one) => sum + (one.do === 'create' ? one.pvcs.length : 0), 0);

test('in parallel, two billion replicas are made in steps of 500', () => {
  const { plan: first } = counted({ replicas: ALL, parallel: true });
  assert.equal(actions(first), 500);
  const { plan: next } = counted({ replicas: ALL, parallel: true, pods: '0@new 2@new', start: 0 });
  assert.match(actionsOf(next), /^create 1@new, create 3@new, /);
  assert.equal(actions(next), 500);
});

test('in parallel, two billion replicas with ten claims each plan 2,000 claims at once', () => {
  const { plan: first, lookups } = counted({ replicas: ALL, parallel: true, templates: templates(10) });
  assert.deepEqual([actions(first), claims(first)], [200, 2_000]);
  assert.ok(lookups <= 2_000, `${lookups} lookups`);
});

for (const parallel of [true, false])
  test(`between two steps of a plan ${parallel ? 'in parallel' : 'in order'} few claims are asked for`, () => {
    const pods = Array.from({ length: 600 }, (_, at) => `${at}@new`).join(' ');
    const facts = factsOf({ replicas: 500, pods, parallel, templates: templates(10), revisions: 'new', current: 'new' });
    const asked = [0];
    const steps = planInTurns({ ...facts, pvc: () => void asked.push((asked.pop() ?? 0) + 1) });
    while (steps.next().done !== true) asked.push(0);
    // 46 pods of ten claims each.
    assert.deepEqual([Math.max(...asked), asked.reduce((sum, one) => sum + one, 0)], [460, 6_000]);
  });

test('what is not listed is counted', () => {
  const { wanted, unlisted } = slotsOf(factsOf({ replicas: 1_000, pods: '0@new 999@new' }));
  assert.deepEqual([wanted.length, unlisted?.count, unlisted?.top.name], [502, 498, 'web-998']);
  const places = wanted.map(({ at }) => at);
  assert.deepEqual(places, [...Array(501).keys(), 999]);
  assert.equal(slotsOf(factsOf({ replicas: 502, pods: '0@new 501@new' })).unlisted, undefined);
});
