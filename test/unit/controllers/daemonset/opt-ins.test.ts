import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optInsOf } from '../../../../controllers/daemonset/opt-ins.ts';
import { actionsOf, planned, type Situation } from './notation.ts';

interface Case extends Situation {
  why: string;
  does: string;
}
const partition = (value: string): Pick<Case, 'annotations'> => ({ annotations: { 'dkc.dev/partition': value } });
const select = (value: string): Pick<Case, 'annotations'> => ({ annotations: { 'dkc.dev/rollout-node-selector': value } });
const paused = { annotations: { 'dkc.dev/paused': 'true' } };
const surge = { maxUnavailable: 0, maxSurge: 4 };

const cases: Case[] = [
  { why: 'paused, replaces nothing', nodes: 'a b', pods: 'a@old b@old!', ...paused, does: '' },
  { why: 'paused, surges nowhere', nodes: 'a b', pods: 'a@old b@old!', ...surge, ...paused, does: '' },
  { why: 'paused, makes what is missing of the present template', nodes: 'a b', pods: 'a@old', ...paused, does: 'create b@new' },
  { why: 'paused, removes what failed', nodes: 'a b', pods: 'a@old b@old#', ...paused, does: 'delete b-old (failed)' },
  { why: 'paused, removes what is not to be there', nodes: 'a b!', pods: 'a@old b@old', ...paused, does: 'delete b-old (misplaced)' },
  { why: 'resumed, goes on', nodes: 'a b', pods: 'a@old b@old', annotations: { 'dkc.dev/paused': 'false' }, does: 'delete a-old (update)' },

  {
    why: 'with a partition, leaves so many old',
    nodes: 'a b c',
    pods: 'a@old b@old c@old',
    maxUnavailable: 3,
    ...partition('2'),
    does: 'delete a-old (update)',
  },
  {
    why: 'with a partition of none, updates all',
    nodes: 'a b',
    pods: 'a@old b@old',
    maxUnavailable: 2,
    ...partition('0'),
    does: 'delete a-old (update), delete b-old (update)',
  },
  { why: 'with a partition of all, updates none', nodes: 'a b', pods: 'a@old b@old', maxUnavailable: 2, ...partition('100%'), does: '' },
  {
    why: 'with a partition of more than all, updates none',
    nodes: 'a b',
    pods: 'a@old b@old',
    maxUnavailable: 2,
    ...partition('9'),
    does: '',
  },
  {
    why: 'rounds a share to keep up',
    nodes: 'a b c',
    pods: 'a@old b@old c@old',
    maxUnavailable: 3,
    ...partition('34%'),
    does: 'delete a-old (update)',
  },
  { why: 'counts new ones, wherever they are', nodes: 'a b c', pods: 'a@old b@old c@new', maxUnavailable: 3, ...partition('2'), does: '' },
  { why: 'counts new ones that are not ready', nodes: 'a b c', pods: 'a@old b@old c@new!', maxUnavailable: 3, ...partition('2'), does: '' },
  {
    why: 'does not count one under way that will not be made again',
    nodes: 'a~ b c d',
    pods: 'a@old- b@old c@old d@old',
    maxUnavailable: 3,
    ...partition('1'),
    does: 'delete b-old (update), delete c-old (update)',
  },
  {
    why: 'does not count one under way that will be made again as it was',
    nodes: 'a b:canary c:canary',
    pods: 'a@old- b@old c@old',
    maxUnavailable: 3,
    annotations: { 'dkc.dev/partition': '1', 'dkc.dev/rollout-node-selector': 'pool' },
    does: 'delete b-old (update), delete c-old (update)',
  },
  {
    why: 'does not count a new one where it should not run',
    nodes: 'a b c~',
    pods: 'a@old b@old c@new',
    maxUnavailable: 2,
    ...partition('1'),
    does: 'delete a-old (update)',
  },
  {
    why: 'keeps to the budget too',
    nodes: 'a b c d',
    pods: 'a@old b@old c@old d@old',
    maxUnavailable: 1,
    ...partition('1'),
    does: 'delete a-old (update)',
  },
  { why: 'keeps broken old ones too', nodes: 'a b c', pods: 'a@old b@old! c@old!', ...partition('2'), does: 'delete b-old (update)' },
  {
    why: 'counts those under way, whose new ones come later',
    nodes: 'a b c',
    pods: 'a@old- b@old c@old',
    maxUnavailable: 3,
    ...partition('2'),
    does: '',
  },
  {
    why: 'counts those under way beside those that are new',
    nodes: 'a b c d e',
    pods: 'a@new b@old- c@old d@old e@old',
    maxUnavailable: 3,
    ...partition('3'),
    does: '',
  },
  {
    why: 'counts those under way against broken ones',
    nodes: 'a b c',
    pods: 'a@old- b@old! c@old',
    maxUnavailable: 3,
    ...partition('2'),
    does: '',
  },
  {
    why: 'makes missing ones new as far as the partition leaves room',
    nodes: 'a b c',
    pods: 'c@old',
    ...partition('2'),
    does: 'create a@new, create b@old',
  },
  {
    why: 'makes a missing one old where all others that may be are new',
    nodes: 'a b c',
    pods: 'a@new c@old',
    ...partition('2'),
    does: 'create b@old',
  },
  {
    why: 'gives kept nodes the newest other revision that a pod has',
    nodes: 'a b',
    pods: 'a@older',
    ...partition('2'),
    does: 'create b@older',
  },
  {
    why: 'gives kept nodes the newest of two that pods have',
    nodes: 'a b c',
    pods: 'a@older b@old',
    ...partition('3'),
    does: 'create c@old',
  },
  {
    why: 'makes all new when nobody has the old one any more',
    nodes: 'a b',
    pods: '',
    ...partition('2'),
    does: 'create a@new, create b@new',
  },
  {
    why: 'gives kept nodes the old one of a pod that is going',
    nodes: 'a b',
    pods: 'a@old- b@new',
    ...surge,
    ...partition('1'),
    does: 'create a@old',
  },
  {
    why: 'gives kept nodes the old one of a pod that failed and is going',
    nodes: 'a b',
    pods: 'a@old#- b@new',
    ...partition('1'),
    does: 'create a@old',
  },
  {
    why: 'where people delete, makes all new',
    nodes: 'a b c',
    pods: 'c@old',
    onDelete: true,
    ...partition('3'),
    does: 'create a@new, create b@new',
  },
  {
    why: 'surges as far as the partition leaves room',
    nodes: 'a b c',
    pods: 'a@old b@old c@old',
    ...surge,
    ...partition('2'),
    does: 'create a@new',
  },
  { why: 'counts the new ones of a surge', nodes: 'a b c', pods: 'a@old/60 a@new!/30 b@old c@old', ...surge, ...partition('2'), does: '' },
  {
    why: 'counts broken ones of a surge first',
    nodes: 'a b c',
    pods: 'a@old b@old! c@old',
    ...surge,
    ...partition('2'),
    does: 'create b@new',
  },

  {
    why: 'with a selector, updates only nodes that match',
    nodes: 'a b:canary c',
    pods: 'a@old b@old c@old',
    maxUnavailable: 3,
    ...select('pool=canary'),
    does: 'delete b-old (update)',
  },
  { why: 'with a selector, leaves broken ones elsewhere', nodes: 'a b:canary', pods: 'a@old! b@new', ...select('pool=canary'), does: '' },
  { why: 'with a selector, counts broken ones elsewhere', nodes: 'a b:canary', pods: 'a@old! b@old', ...select('pool=canary'), does: '' },
  {
    why: 'with a selector, surges only where it matches',
    nodes: 'a b:canary',
    pods: 'a@old! b@old',
    ...surge,
    ...select('pool in (canary, next)'),
    does: 'create b@new',
  },
  {
    why: 'with a selector, makes missing ones of other nodes old',
    nodes: 'a b:canary c',
    pods: 'c@old',
    ...select('pool=canary'),
    does: 'create a@old, create b@new',
  },
  {
    why: 'with a selector, leaves what is on nodes that are gone',
    nodes: 'b:canary',
    pods: 'x@old b@new',
    ...select('pool=canary'),
    does: '',
  },
  {
    why: 'with both, heeds both',
    nodes: 'a b:canary c:canary',
    pods: 'a@old b@old c@old',
    maxUnavailable: 3,
    annotations: { 'dkc.dev/partition': '2', 'dkc.dev/rollout-node-selector': 'pool' },
    does: 'delete b-old (update)',
  },

  { why: 'with a partition that cannot be read, replaces nothing', nodes: 'a b', pods: 'a@old b@old!', ...partition('some'), does: '' },
  { why: 'with a selector that cannot be read, replaces nothing', nodes: 'a b', pods: 'a@old b@old!', ...select('a in'), does: '' },
  {
    why: 'with a pause that cannot be read, replaces nothing',
    nodes: 'a b',
    pods: 'a@old b@old!',
    annotations: { 'dkc.dev/paused': 'yes' },
    does: '',
  },
  {
    why: 'with a deadline that cannot be read, replaces nothing',
    nodes: 'a b',
    pods: 'a@old b@old!',
    annotations: { 'dkc.dev/progress-deadline': '10' },
    does: '',
  },
  {
    why: 'with one that cannot be read, makes missing ones as they were',
    nodes: 'a b',
    pods: 'a@old',
    ...partition('some'),
    does: 'create b@old',
  },
  {
    why: 'with one that cannot be read, makes all new when nobody has the old one',
    nodes: 'a b',
    pods: '',
    ...partition('some'),
    does: 'create a@new, create b@new',
  },
];
for (const { why, does, ...situation } of cases) test(`a set ${why}`, () => assert.equal(actionsOf(planned(situation)), does));

const readings: { why: string; annotations: Record<string, string>; is: Partial<ReturnType<typeof optInsOf>>; problems?: number }[] = [
  { why: 'nothing', annotations: {}, is: { paused: false, partition: undefined, rolloutNodes: undefined, progressDeadlineMs: undefined } },
  { why: 'those of others', annotations: { 'example.com/paused': 'yes' }, is: { paused: false } },
  { why: 'a count', annotations: { 'dkc.dev/partition': ' 3 ' }, is: { partition: 3 } },
  { why: 'a share', annotations: { 'dkc.dev/partition': '30%' }, is: { partition: '30%' } },
  { why: 'a share above all', annotations: { 'dkc.dev/partition': '101%' }, is: { partition: undefined }, problems: 1 },
  { why: 'a count below none', annotations: { 'dkc.dev/partition': '-1' }, is: { partition: undefined }, problems: 1 },
  { why: 'a deadline', annotations: { 'dkc.dev/progress-deadline': '10m' }, is: { progressDeadlineMs: 600_000 } },
  { why: 'a deadline of nothing', annotations: { 'dkc.dev/progress-deadline': '0s' }, is: { progressDeadlineMs: undefined }, problems: 1 },
  { why: 'an empty selector', annotations: { 'dkc.dev/rollout-node-selector': '' }, is: { rolloutNodes: undefined }, problems: 1 },
  { why: 'a pause in other letters', annotations: { 'dkc.dev/paused': 'True' }, is: { paused: false }, problems: 1 },
  { why: 'two that are wrong', annotations: { 'dkc.dev/paused': '', 'dkc.dev/partition': 'x' }, is: { paused: false }, problems: 2 },
];
for (const { why, annotations, is, problems = 0 } of readings)
  test(`opt-ins: ${why}`, () => {
    const read = optInsOf(annotations);
    assert.deepEqual({ ...read, ...is }, read);
    assert.equal(read.problems.length, problems);
  });

test('a problem names annotation, value and remedy', () =>
  assert.deepEqual(optInsOf({ 'dkc.dev/partition': 'some' }).problems, [
    'dkc.dev/partition is "some"; write a number of nodes, such as "3", or a share, such as "30%"',
  ]));
