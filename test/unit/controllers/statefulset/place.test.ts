import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotsOf } from '../../../../controllers/statefulset/places.ts';
import { actionsOf, factsOf, planned, type Situation } from './notation.ts';

const three = 'create 0@old, create 1@old, create 2@old';
const revisions: (Situation & { why: string; makes: string })[] = [
  { why: 'no partition: all of the present one', makes: 'create 0@new, create 1@new, create 2@new' },
  { why: 'a partition of none', update: { partition: 0 }, makes: 'create 0@new, create 1@new, create 2@new' },
  { why: 'below the partition of the one before', update: { partition: 2 }, makes: 'create 0@old, create 1@old, create 2@new' },
  { why: 'a partition of all', update: { partition: 3 }, makes: three },
  { why: 'a partition beyond all', update: { partition: 99 }, makes: three },
  {
    why: 'the partition counts from where it starts',
    start: 4,
    update: { partition: 1 },
    makes: 'create 4@old, create 5@new, create 6@new',
  },
  {
    why: 'the partition counts no reserved places',
    annotations: { 'reserve-ordinals': '1,3' },
    update: { partition: 2 },
    makes: 'create 0@old, create 2@old, create 4@new',
  },
  {
    why: 'below the partition, when nothing is current',
    current: 'gone',
    update: { partition: 2 },
    makes: 'create 0@new, create 1@new, create 2@new',
  },
  {
    why: 'below the partition, when both are one',
    current: 'new',
    update: { partition: 2 },
    makes: 'create 0@new, create 1@new, create 2@new',
  },
  {
    why: 'without the block, as many as are current',
    update: 'nil',
    status: { currentReplicas: 2 },
    makes: 'create 0@old, create 1@old, create 2@new',
  },
  {
    why: 'without the block, none is current',
    update: 'nil',
    status: { currentReplicas: 0 },
    makes: 'create 0@new, create 1@new, create 2@new',
  },
  { why: 'without the block, nobody knows how many are', update: 'nil', makes: 'create 0@new, create 1@new, create 2@new' },
  {
    why: 'without the block, they count from where it starts',
    update: 'nil',
    start: 4,
    status: { currentReplicas: 1 },
    makes: 'create 4@old, create 5@new, create 6@new',
  },
  {
    why: 'with the block, how many are current does not count',
    status: { currentReplicas: 3 },
    makes: 'create 0@new, create 1@new, create 2@new',
  },
  {
    why: 'people delete: always the present one',
    update: 'OnDelete',
    status: { currentReplicas: 3 },
    makes: 'create 0@new, create 1@new, create 2@new',
  },
  {
    why: 'Recreate: always the present one',
    update: 'Recreate',
    status: { currentReplicas: 3 },
    makes: 'create 0@new, create 1@new, create 2@new',
  },
];

for (const { why, makes, ...situation } of revisions)
  test(`of which revision a new pod is: ${why}`, () => {
    assert.equal(actionsOf(planned({ ...situation, parallel: true })), makes);
    const [first = ''] = makes.split(', ');
    assert.equal(actionsOf(planned(situation)), first, 'in order the same, one by one');
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
      assert.deepEqual(
        made.map(({ metadata }) => metadata.ownerReferences?.map(({ name }) => name)),
        [owners],
      );
    }
});

test('a low pod that is deleted in the middle of a rollout comes back new', () => {
  assert.equal(actionsOf(planned({ pods: '1@old 2@new' })), 'create 0@new');
});

const places: (Situation & { why: string; wanted: string; condemned?: string })[] = [
  { why: 'all in their places', pods: '2@new 0@new 1@new', wanted: '0+ 1+ 2+' },
  { why: 'empty ones', pods: '1@new', wanted: '0 1+ 2' },
  { why: 'those above the end, highest first', replicas: 1, pods: '0@new 1@new 10@new 9@new', wanted: '0+', condemned: '10 9 1' },
  { why: 'those below the first', start: 2, replicas: 1, pods: '0@new 1@new 2@new', wanted: '2+', condemned: '1 0' },
  {
    why: 'reserved ones',
    annotations: { 'reserve-ordinals': '1' },
    replicas: 2,
    pods: '0@new 1@new 2@new',
    wanted: '0+ 2+',
    condemned: '1',
  },
  { why: 'two that were reserved', annotations: { 'reserve-ordinals': '0-1' }, replicas: 2, pods: '2@new', wanted: '2+ 3' },
  { why: 'no places', replicas: 0, pods: '0@new', wanted: '', condemned: '0' },
  { why: 'pods of other names', pods: '0@new web-01@new db-1@new', wanted: '0+ 1 2' },
];
for (const { why, wanted, condemned = '', ...situation } of places)
  test(`places: ${why}`, () => {
    const slots = slotsOf(factsOf(situation));
    assert.equal(slots.wanted.map(({ ordinal, pod }) => `${ordinal}${pod === undefined ? '' : '+'}`).join(' '), wanted);
    assert.equal(slots.condemned.map(({ ordinal }) => ordinal).join(' '), condemned);
  });

const health: { pod: string; minReady?: number; is: string; availableIn?: number }[] = [
  { pod: '0@new', is: 'runningReady available' },
  { pod: '0@new!', is: '' },
  { pod: '0@new?', is: 'pending' },
  { pod: '0@new#', is: 'ended' },
  { pod: '0@new$', is: 'ended' },
  { pod: '0@new-', is: 'terminating runningReady available' },
  { pod: '0@new=5', is: 'runningReady available' },
  { pod: '0@new=5', minReady: 6, is: 'runningReady', availableIn: 1_000 },
  { pod: '0@new=6', minReady: 6, is: 'runningReady available' },
  { pod: '0@new!=5', minReady: 6, is: '' },
];
for (const { pod, minReady, is, availableIn } of health)
  test(`how ${pod} stands${minReady === undefined ? '' : ` when it must be ready for ${minReady} s`}`, () => {
    const facts = factsOf({ pods: pod, ...(minReady === undefined ? {} : { minReady }) });
    const { availableAt, ...flags } = slotsOf(facts).wanted[0]?.health ?? {};
    const said = Object.entries(flags).flatMap(([name, is]) => (is ? [name] : []));
    assert.equal(said.join(' '), is);
    assert.equal(availableAt === undefined ? undefined : availableAt - facts.now, availableIn);
  });
