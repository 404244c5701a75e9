import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OptIns, optInsOf, ordinalsIn, problemsOf, type Rules, rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { StatefulSet } from '../../../../controllers/common/types.ts';
import { table } from '../../../support/table.ts';
import { claimTemplate, ordinalsOf, statefulSet } from './objects.ts';

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
  assert.deepEqual(rules.selector, [{ key: 'app', operator: 'in', values: ['web'] }, { key: 'tier', operator: 'exists' }]); // prettier-ignore
  const { matchLabels, claimTemplates, parallel, minReadyMs, historyLimit, retention, optIns } = rules;
  assert.deepEqual([matchLabels, claimTemplates, parallel], [{ app: 'web' }, [template], true]);
  assert.deepEqual([minReadyMs, historyLimit, retention, optIns.paused], [5_000, 0, { whenDeleted: 'Delete', whenScaled: 'Delete' }, true]);
});

const ordinals: { why: string; start?: number; replicas?: number; reserved?: string; is: number[] }[] = [
  { why: 'from where it starts', start: 5, replicas: 2, is: [5, 6] },
  { why: 'without a reserved one', replicas: 3, reserved: '1', is: [0, 2, 3] },
  { why: 'without those reserved where it starts', start: 5, replicas: 2, reserved: '1,5-6,8', is: [7, 9] },
  { why: 'all, when what is reserved cannot be read', replicas: 2, reserved: 'x', is: [0, 1] },
  { why: 'up to the last there is', start: 2147483646, replicas: 4, is: [2147483646, 2147483647] },
  { why: 'as by default, when there cannot be so few', replicas: -1, is: [0] },
];
for (const { why, start, replicas, reserved, is } of ordinals)
  test(`ordinals: ${why}`, () => {
    const spec = { ...(start === undefined ? {} : { ordinals: { start } }), ...(replicas === undefined ? {} : { replicas }) };
    const annotations: Record<string, string> = reserved === undefined ? {} : { 'dkc.dev/reserve-ordinals': reserved };
    const { places } = rulesOf(statefulSet({ spec, annotations }));
    const all = ordinalsOf({ places });
    assert.deepEqual(all, is);
    assert.deepEqual(all.map((ordinal) => places.placeOf(ordinal)), all.map((_, at) => at)); // prettier-ignore
    for (const other of [...Array(12).keys(), 2147483645].filter((ordinal) => !all.includes(ordinal)))
      assert.equal(places.placeOf(other), undefined, `${other}`);
  });

test('ordinals: two billion by a slip are taken for a million', () =>
  assert.equal(rulesOf(statefulSet({ spec: { replicas: 2_000_000_000 } })).places.length, 1_000_000));

/** As it is written, with the annotation, and as it is read. */
const updates = table('strategy | annotated | read | why')(`
  none                                                     |     | partition=0 maxUnavailable=    | none
  {"type":"RollingUpdate"}                                 |     | partition= maxUnavailable=     | a type without its block
  {"type":"RollingUpdate"}                                 | 2   | partition= maxUnavailable=2    | a type without its block, annotated
  {"rollingUpdate":{"partition":2}}                        |     | partition=2 maxUnavailable=    | a block without type
  {"type":"RollingUpdate","rollingUpdate":{"partition":1,"maxUnavailable":"30%"}} |     | partition=1 maxUnavailable=30% | the field
  {"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":3}} | 2 | partition=0 maxUnavailable=3 | the field rather than the annotation
  {"type":"Recreate"}                                      | 2   | Recreate                       | Recreate
  {"type":"Sideways"}                                      |     | partition= maxUnavailable=     | a type that nobody knows
`);
for (const { strategy, annotated, read, why } of updates)
  test(`update strategy: ${why}`, () => {
    const { type, ...update } = rulesOf(
      statefulSet({
        spec: strategy === 'none' ? {} : { updateStrategy: JSON.parse(strategy) as object },
        annotations: annotated === '' ? {} : { 'dkc.dev/max-unavailable': annotated },
      }),
    ).update;
    const said = Object.entries(update).map(([name, value]) => `${name}=${value ?? ''}`);
    assert.equal(said.length === 0 ? type : said.join(' '), read);
  });

const selectors: { why: string; selector: NonNullable<StatefulSet['spec']>['selector'] }[] = [
  { why: 'an empty one, which would select everything', selector: {} },
  { why: 'one with an operator that nobody knows', selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
  { why: 'one with a key that cannot be', selector: { matchLabels: { 'a b': '' } } },
];
for (const { why, selector } of selectors)
  test(`no selector: ${why}`, () => assert.equal(rulesOf(statefulSet({ spec: { selector } })).selector, undefined));

test('the words of retention policies are exact', () => {
  const spec = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'delete', whenScaled: 'Delete' } };
  assert.deepEqual(rulesOf(statefulSet({ spec })).retention, { whenDeleted: 'Retain', whenScaled: 'Delete' });
});

const nothing: OptIns = { paused: false, progressDeadlineMs: undefined, forcedRollback: false, maxUnavailable: undefined, reserved: [], expandClaims: false, problems: [] }; // prettier-ignore

/** Annotations are written without `dkc.dev/`. `problem` is how what is read wrongly begins, when anything is. */
const cases: { why: string; annotations: Record<string, string>; is?: Partial<OptIns>; problem?: string }[] = [
  { why: 'nothing', annotations: {} },
  { why: 'a deadline', annotations: { 'progress-deadline': '10m' }, is: { progressDeadlineMs: 600000 } },
  { why: 'growing claims', annotations: { 'expand-claims': 'true' }, is: { expandClaims: true } },
  { why: 'none that may be down', annotations: { 'max-unavailable': '0' }, problem: 'max-unavailable is "0"' },
  { why: 'reserved ordinals', annotations: { 'reserve-ordinals': '1,3-5' }, is: { reserved: [1, 3, 4, 5] } },
  { why: 'one that is no list', annotations: { 'reserve-ordinals': 'one' }, problem: 'reserve-ordinals is "one"' },
];
for (const { why, annotations, is = {}, problem } of cases)
  test(`opt-ins: ${why}`, () => {
    const read = optInsOf(Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`dkc.dev/${name}`, value])));
    assert.deepEqual({ ...read, problems: [] }, { ...nothing, ...is });
    assert.equal(read.problems.length, problem === undefined ? 0 : 1);
    if (problem !== undefined) assert.ok(read.problems[0]?.startsWith(`dkc.dev/${problem}; write `), read.problems[0]);
  });

test('an annotation that cannot be read is told, with what it stops', () => {
  const [told] = problemsOf(rulesOf(statefulSet({ annotations: { 'dkc.dev/paused': 'x' } })));
  assert.equal(told?.message, 'No pods are replaced or scaled down: invalid annotation: dkc.dev/paused is "x"; write "true" or "false"');
});

const lists = table('text | read | why')(`
  7,3-5,1       | 1 3 4 5 7         | puts them in order
  2147483648    | refused           | refuses one beyond the last
  1, 3 - 5      | 1 3 4 5           | passes over blanks
  5-3           | refused           | refuses a range that runs down
  -1            | refused           | refuses what is below 0
`);
for (const { text, read, why } of lists)
  test(`a list of ordinals ${why}`, () => assert.equal(ordinalsIn(text === 'none' ? '' : text)?.join(' ') ?? 'refused', read));

test('a list of ordinals has room for ten thousand', () => {
  assert.equal(ordinalsIn('1-10000')?.length, 10_000);
  assert.equal(ordinalsIn('1-10000,500-600')?.length, 10_000);
  assert.equal(ordinalsIn('0-10000'), undefined);
  assert.equal(ordinalsIn('0-2147483647'), undefined);
});
