import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf, type Rules } from '../../../../controllers/statefulset/rules.ts';
import type { StatefulSet } from '../../../../controllers/statefulset/types.ts';
import { claimTemplate, statefulSet, type SetOptions } from './objects.ts';
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
