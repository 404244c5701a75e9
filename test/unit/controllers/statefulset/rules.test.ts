import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OptIns, optInsOf, type Rules, rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { StatefulSet } from '../../../../controllers/statefulset/types.ts';
import { claimTemplate, type SetOptions, statefulSet } from './objects.ts';
import { ordinalsOf } from './ordinals.ts';

test('a set that says nothing is read as a server would default it', () => {
  const set: StatefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web', namespace: 'ns' } };
  const { set: same, optIns, places, ...rules } = rulesOf(set);
  assert.equal(same, set);
  assert.deepEqual(optIns.problems, []);
  assert.deepEqual(rules, {
    name: 'web',
    namespace: 'ns',
    selector: undefined,
    tooLarge: undefined,
    matchLabels: {},
    template: {},
    claimTemplates: [],
    replicas: 1,
    parallel: false,
    update: { type: 'RollingUpdate', partition: 0, maxUnavailable: undefined },
    minReadyMs: 0,
    historyLimit: 10,
    retention: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  } satisfies Omit<Rules, 'set' | 'optIns' | 'places'>);
  assert.deepEqual(ordinalsOf({ places }), [0]);
});

test('what a set says is read', () => {
  const template = claimTemplate('data');
  const spec = {
    selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    podManagementPolicy: 'Parallel',
    minReadySeconds: 5,
    revisionHistoryLimit: 0,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
  };
  const set = statefulSet({ spec, claims: [template], annotations: { 'dkc.dev/paused': 'true' } });
  const rules = rulesOf(set);
  assert.deepEqual(rules.selector, [
    { key: 'app', operator: 'in', values: ['web'] },
    { key: 'tier', operator: 'exists' },
  ]);
  assert.deepEqual(rules.matchLabels, { app: 'web' });
  assert.equal(rules.template, set.spec?.template);
  assert.deepEqual(rules.claimTemplates, [template]);
  assert.equal(rules.parallel, true);
  assert.equal(rules.minReadyMs, 5_000);
  assert.equal(rules.historyLimit, 0);
  assert.deepEqual(rules.retention, { whenDeleted: 'Delete', whenScaled: 'Delete' });
  assert.equal(rules.optIns.paused, true);
});

const ordinals: { why: string; start?: number; replicas?: number; reserved?: string; is: number[] }[] = [
  { why: 'from 0', replicas: 3, is: [0, 1, 2] },
  { why: 'none', replicas: 0, is: [] },
  { why: 'from where it starts', start: 5, replicas: 2, is: [5, 6] },
  { why: 'without a reserved one', replicas: 3, reserved: '1', is: [0, 2, 3] },
  { why: 'without a reserved one, two', replicas: 2, reserved: '1', is: [0, 2] },
  { why: 'without several', replicas: 3, reserved: '0,2-4', is: [1, 5, 6] },
  { why: 'without those reserved where it starts', start: 5, replicas: 2, reserved: '1,5-6,8', is: [7, 9] },
  { why: 'with none reserved among them', replicas: 2, reserved: '2-9', is: [0, 1] },
  { why: 'all, when what is reserved cannot be read', replicas: 2, reserved: 'x', is: [0, 1] },
  { why: 'up to the last there is', start: 2147483646, replicas: 4, is: [2147483646, 2147483647] },
  { why: 'as by default, when there cannot be so few', replicas: -1, is: [0] },
  { why: 'as by default, when it cannot start there', start: -1, is: [0, 1, 2] },
];
for (const { why, start, replicas, reserved, is } of ordinals)
  test(`ordinals: ${why}`, () => {
    const spec = { ...(start === undefined ? {} : { ordinals: { start } }), ...(replicas === undefined ? {} : { replicas }) };
    const annotations: Record<string, string> = reserved === undefined ? {} : { 'dkc.dev/reserve-ordinals': reserved };
    const { places } = rulesOf(statefulSet({ spec, annotations }));
    const all = ordinalsOf({ places });
    assert.deepEqual(all, is);
    assert.deepEqual(
      all.map((ordinal) => places.placeOf(ordinal)),
      all.map((_, at) => at),
    );
    for (const other of [...Array(12).keys(), 2147483645].filter((ordinal) => !all.includes(ordinal)))
      assert.equal(places.placeOf(other), undefined, `${other}`);
  });

test('ordinals: two billion by a slip are taken for a million', () =>
  assert.equal(rulesOf(statefulSet({ spec: { replicas: 2_000_000_000 } })).places.length, 1_000_000));

type Strategy = NonNullable<NonNullable<StatefulSet['spec']>['updateStrategy']> & { rollingUpdate?: { maxUnavailable?: number | string } };
const updates: { why: string; strategy?: Strategy; annotated?: string; is: Rules['update'] }[] = [
  { why: 'none', is: { type: 'RollingUpdate', partition: 0, maxUnavailable: undefined } },
  { why: 'an empty one', strategy: {}, is: { type: 'RollingUpdate', partition: 0, maxUnavailable: undefined } },
  {
    why: 'a type without its block',
    strategy: { type: 'RollingUpdate' },
    is: { type: 'RollingUpdate', partition: undefined, maxUnavailable: undefined },
  },
  {
    why: 'a type without its block, annotated',
    strategy: { type: 'RollingUpdate' },
    annotated: '2',
    is: { type: 'RollingUpdate', partition: undefined, maxUnavailable: 2 },
  },
  {
    why: 'a block without partition',
    strategy: { type: 'RollingUpdate', rollingUpdate: {} },
    is: { type: 'RollingUpdate', partition: 0, maxUnavailable: undefined },
  },
  {
    why: 'a block without type',
    strategy: { rollingUpdate: { partition: 2 } },
    is: { type: 'RollingUpdate', partition: 2, maxUnavailable: undefined },
  },
  {
    why: 'a partition below 0',
    strategy: { rollingUpdate: { partition: -2 } },
    is: { type: 'RollingUpdate', partition: 0, maxUnavailable: undefined },
  },
  {
    why: 'the field',
    strategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: '30%' } },
    is: { type: 'RollingUpdate', partition: 1, maxUnavailable: '30%' },
  },
  {
    why: 'the annotation where the field is not',
    strategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
    annotated: '30%',
    is: { type: 'RollingUpdate', partition: 1, maxUnavailable: '30%' },
  },
  {
    why: 'the field rather than the annotation',
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 3 } },
    annotated: '2',
    is: { type: 'RollingUpdate', partition: 0, maxUnavailable: 3 },
  },
  { why: 'deletion by people', strategy: { type: 'OnDelete' }, annotated: '2', is: { type: 'OnDelete' } },
  { why: 'Recreate', strategy: { type: 'Recreate' }, annotated: '2', is: { type: 'Recreate' } },
  {
    why: 'a type that nobody knows',
    strategy: { type: 'Sideways' },
    is: { type: 'RollingUpdate', partition: undefined, maxUnavailable: undefined },
  },
];
for (const { why, strategy, annotated, is } of updates)
  test(`update strategy: ${why}`, () => {
    const options: SetOptions = {
      spec: strategy === undefined ? {} : { updateStrategy: strategy },
      annotations: annotated === undefined ? {} : { 'dkc.dev/max-unavailable': annotated },
    };
    assert.deepEqual(rulesOf(statefulSet(options)).update, is);
  });

const selectors: { why: string; selector: NonNullable<StatefulSet['spec']>['selector'] }[] = [
  { why: 'an empty one, which would select everything', selector: {} },
  { why: 'one that is empty in both parts', selector: { matchLabels: {}, matchExpressions: [] } },
  { why: 'one with an operator that nobody knows', selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
  { why: 'one with a key that cannot be', selector: { matchLabels: { 'a b': '' } } },
];
for (const { why, selector } of selectors)
  test(`no selector: ${why}`, () => assert.equal(rulesOf(statefulSet({ spec: { selector } })).selector, undefined));

test('the words of retention policies are exact', () => {
  const spec = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'delete', whenScaled: 'Delete' } };
  assert.deepEqual(rulesOf(statefulSet({ spec })).retention, { whenDeleted: 'Retain', whenScaled: 'Delete' });
});

const nothing: OptIns = {
  paused: false,
  progressDeadlineMs: undefined,
  forcedRollback: false,
  maxUnavailable: undefined,
  reserved: [],
  expandClaims: false,
  problems: [],
};

/** Annotations are written without `dkc.dev/`. `problem` is how what is read wrongly begins, when anything is. */
const cases: { why: string; annotations: Record<string, string>; is?: Partial<OptIns>; problem?: string }[] = [
  { why: 'nothing', annotations: {} },
  { why: 'a pause', annotations: { paused: 'true' }, is: { paused: true } },
  { why: 'no pause', annotations: { paused: 'false' } },
  { why: 'a pause in other letters', annotations: { paused: 'yes' }, problem: 'paused is "yes"; write "true"' },
  { why: 'a deadline', annotations: { 'progress-deadline': '10m' }, is: { progressDeadlineMs: 600_000 } },
  { why: 'a deadline without unit', annotations: { 'progress-deadline': '10' }, problem: 'progress-deadline is "10"; write a duration' },
  { why: 'a forced rollback', annotations: { 'forced-rollback': 'true' }, is: { forcedRollback: true } },
  { why: 'no forced rollback', annotations: { 'forced-rollback': 'false' } },
  { why: 'a rollback in other letters', annotations: { 'forced-rollback': '1' }, problem: 'forced-rollback is "1"; write "true"' },
  { why: 'growing claims', annotations: { 'expand-claims': 'true' }, is: { expandClaims: true } },
  { why: 'claims that grow in other letters', annotations: { 'expand-claims': 'TRUE' }, problem: 'expand-claims is "TRUE"; write "true"' },
  { why: 'a count that may be down', annotations: { 'max-unavailable': '2' }, is: { maxUnavailable: 2 } },
  { why: 'a share that may be down', annotations: { 'max-unavailable': '30%' }, is: { maxUnavailable: '30%' } },
  { why: 'all that may be down', annotations: { 'max-unavailable': '100%' }, is: { maxUnavailable: '100%' } },
  {
    why: 'none that may be down',
    annotations: { 'max-unavailable': '0' },
    problem: 'max-unavailable is "0"; write a number of pods above 0',
  },
  { why: 'a share of none', annotations: { 'max-unavailable': '00%' }, problem: 'max-unavailable is "00%"; write a number' },
  { why: 'a share beyond all', annotations: { 'max-unavailable': '101%' }, problem: 'max-unavailable is "101%"; write a number' },
  { why: 'fewer than none', annotations: { 'max-unavailable': '-1' }, problem: 'max-unavailable is "-1"; write a number' },
  { why: 'reserved ordinals', annotations: { 'reserve-ordinals': '1,3-5' }, is: { reserved: [1, 3, 4, 5] } },
  {
    why: 'one that is no list',
    annotations: { 'reserve-ordinals': 'one' },
    problem: 'reserve-ordinals is "one"; write up to 10,000 ordinals',
  },
];
for (const { why, annotations, is = {}, problem } of cases)
  test(`opt-ins: ${why}`, () => {
    const read = optInsOf(Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`dkc.dev/${name}`, value])));
    assert.deepEqual({ ...read, problems: [] }, { ...nothing, ...is });
    assert.equal(read.problems.length, problem === undefined ? 0 : 1);
    if (problem !== undefined) assert.ok(read.problems[0]?.startsWith(`dkc.dev/${problem}`), read.problems[0]);
  });

test('opt-ins: annotations of others, or none at all', () => {
  assert.deepEqual(optInsOf({ 'example.com/paused': 'true', paused: 'true' }), nothing);
  assert.deepEqual(optInsOf(), nothing);
});

test('opt-ins: each that cannot be read is named', () =>
  assert.equal(optInsOf({ 'dkc.dev/paused': '', 'dkc.dev/max-unavailable': '', 'dkc.dev/expand-claims': 'true' }).problems.length, 2));
