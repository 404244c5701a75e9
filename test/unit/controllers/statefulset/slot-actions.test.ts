import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotsOf } from '../../../../controllers/statefulset/places.ts';
import { actionsOf, factsOf, planned } from './notation.ts';
import { situationOf } from './rows.ts';
import { table } from '../../../support/table.ts';

const revisions = table('situation | makes | why')(`
  none                                 | 0@new 1@new 2@new | no partition: all of the present one
  partition=2                          | 0@old 1@old 2@new | below the partition of the one before
  partition=2 +reserve-ordinals=1,3    | 0@old 2@old 4@new | the partition counts no reserved places
  update=nil currentReplicas=2         | 0@old 1@old 2@new | without the block, as many as are current
  update=nil                           | 0@new 1@new 2@new | without the block, nobody knows how many are
  update=OnDelete currentReplicas=3    | 0@new 1@new 2@new | people delete: always the present one
`);

for (const { situation: text, makes, why } of revisions)
  test(`of which revision a new pod is: ${why}`, () => {
    const all = makes.split(' ').map((pod) => `create ${pod}`);
    const situation = situationOf(text);
    assert.equal(actionsOf(planned({ ...situation, parallel: true })), all.join(', '));
    assert.equal(actionsOf(planned(situation)), all[0], 'in order the same, one by one');
  });

test('a new pod of an old revision is made of its template', () => {
  const { groups } = planned({ update: { partition: 1 } });
  const [action] = groups[0] ?? [];
  assert.equal(action?.do === 'create' ? action.template.spec?.containers[0]?.image : undefined, 'old');
});

test('claims are made with the owners that they should have', () => {
  for (const [policy, owners] of [
    [{}, undefined],
    [{ whenDeleted: 'Delete' }, ['web']],
  ] as const)
    for (const pods of ['', '0@new?']) {
      const [action] = planned({ ...policy, templates: ['data'], pods }).groups.flat();
      const made = action?.do === 'create' || action?.do === 'storage' ? action.pvcs : [];
      assert.deepEqual(made.map(({ metadata }) => metadata.ownerReferences?.map(({ name }) => name)), [owners]); // prettier-ignore
    }
});

const places = table('situation | wanted | condemned | why')(`
  0@new 1@new 10@new 9@new replicas=1              | 0+       | 10 9 1 | those above the end, highest first
  0@new 1@new 2@new replicas=1 start=2             | 2+       | 1 0    | those below the first
  0@new 1@new 2@new replicas=2 +reserve-ordinals=1 | 0+ 2+    | 1      | reserved ones
  0@new replicas=0                                 |          | 0      | no places
`);
for (const { situation, wanted, condemned, why } of places)
  test(`places: ${why}`, () => {
    const slots = slotsOf(factsOf(situationOf(situation)));
    assert.equal(slots.wanted.map(({ ordinal, pod }) => `${ordinal}${pod === undefined ? '' : '+'}`).join(' '), wanted);
    assert.equal(slots.condemned.map(({ ordinal }) => ordinal).join(' '), condemned);
  });
