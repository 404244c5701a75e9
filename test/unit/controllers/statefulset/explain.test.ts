import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain } from '../../../../controllers/statefulset/explain.ts';
import { factsOf } from './notation.ts';
import { situationOf } from './rows.ts';
import { table } from '../../../support/table.ts';

/** Each pod by its ordinal, with its reason; the one that is waited for first. */
const cases = table('situation | says | why')(`
  0@new 1@new 2@new                               | 0 runs, 1 runs, 2 runs              | all is well
  0@new 1@new!                                    | 1 NotReady, 0 runs, 2 missing       | the second is not ready
  0@new- 1@new 2@new                              | 0 Terminating, 1 runs, 2 runs       | the first is going
  0@old 1@old 2@new!                              | 2 NotReady, 0 old, 1 old            | an update waits
  0@old 1@old 2@new +paused=true                  | 1 paused, 0 old, 2 runs             | it is paused
  0@old 1@old- 2@new update=Recreate              | 0 recreating, 1 Terminating, 2 runs | all are recreated
  templates=data claims=data-0^ whenScaled=Delete | 0 stale-claim, 1 missing, 2 missing | a claim is in the way
  0@new 1@new! 2@new- leaving                     | 0 runs, 1 NotReady, 2 Terminating   | the set goes
`);
for (const { situation, says, why } of cases)
  test(`what is said when ${why}`, () => {
    const rows = explain(factsOf(situationOf(situation)));
    assert.equal(
      rows.map(({ object, reason }) => `${object} ${reason}`).join(', '),
      says.replaceAll(/(?<=^|, )\d/g, (n) => `web-${n}`),
    );
  });

test('two billion missing pods are 500 rows and one', () => {
  const rows = explain(factsOf({ replicas: 2 ** 31 - 1, pods: '0@new' }));
  assert.equal(rows.length, 502);
  assert.deepEqual(rows.at(-1), { object: 'web', reason: 'missing', detail: '999499 more of 1000000, up to web-999999: they are created after lower ordinals' }); // prettier-ignore
});

const details = table('situation | detail | why')(`
  none                     | it is about to be created                                                       | is made next
  0@new-                   | terminating, grace period ends at NOW                                           | is going
  0@new 1@new 2@old        | it is of an old revision and is about to be replaced                            | is replaced next
`);
for (const { situation, detail, why } of details)
  test(`what is said of a pod that ${why}`, () =>
    assert.equal(explain(factsOf(situationOf(situation)))[0]?.detail, detail.replace('NOW', '2026-03-01T12:00:00Z')));
