import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../../../../base/waiting.ts';
import { planGrowth } from '../../../../controllers/statefulset/growth.ts';
import { plan } from '../../../../controllers/statefulset/plan.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { Pvc, StorageClass } from '../../../../controllers/common/types.ts';
import { table } from '../../../support/table.ts';
import { factsOf } from './notation.ts';
import { claim, claimTemplate, statefulSet } from './objects.ts';

const classes: Record<string, StorageClass> = {
  fast: { metadata: { name: 'fast' }, provisioner: 'p', allowVolumeExpansion: true },
  fixed: { metadata: { name: 'fixed' }, provisioner: 'p', allowVolumeExpansion: false },
  old: { metadata: { name: 'old' }, provisioner: 'p' },
};
/** `fast` is the default. */
const classOf = (name: string | undefined): StorageClass | undefined => classes[name ?? 'fast'];

/** `data-web-0` of a size, in a class. */
function sized(storage: string, storageClassName?: string, metadata: Pvc['metadata'] = {}): Pvc {
  const resources = { requests: { storage }, limits: { storage: '9Ti' } };
  return claim('data-web-0', metadata, { resources, ...(storageClassName === undefined ? {} : { storageClassName }) });
}
function unbound(phase?: string): Pvc {
  const { status: _, ...there } = sized('1Gi', 'fast');
  return phase === undefined ? there : { ...there, status: { phase } };
}

/** Size and class of a claim (of the default one where none is said), the size that its template has, and what becomes of it: the size it gets, or why it is refused one. */
const sizes = table('has | class | wants | becomes | why')(`
  1Gi    | fast  | 2Gi   | 2Gi                                                            | smaller
  3Gi    | fast  | 2Gi   |                                                                | larger
  2Gi    | fast  | 2Gi   |                                                                | as large
  1Gi    |       | 2Gi   | 2Gi                                                            | of the default class
  1Gi    | fixed | 2Gi   | refused: storage class fixed does not set allowVolumeExpansion | of a class that does not grow
  1Gi    | none  | 2Gi   | refused: it has no storage class, so nothing can expand it     | of no class
`);
const cases: { why: string; has: Pvc; wants: string; becomes?: string }[] = [
  ...sizes.map(({ has, class: of, ...row }) => ({ ...row, has: sized(has, of === '' ? undefined : of.replace('none', '')) })),
  {
    why: 'of a class by the old annotation',
    has: sized('1Gi', 'fixed', { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } }),
    wants: '2Gi',
    becomes: '2Gi',
  },
  { why: 'going', has: sized('1Gi', 'fast', { deletionTimestamp: '2026-01-01T00:00:00Z' }), wants: '2Gi' },
  { why: 'waiting to be bound', has: unbound('Pending'), wants: '2Gi' },
];
for (const { why, has, wants, becomes = '' } of cases)
  test(`a claim that is ${why}`, () => {
    const before = structuredClone(has);
    const plan = atOnce(planGrowth(rulesOf(statefulSet({ claims: [claimTemplate('data', wants)] })), [has], classOf));
    const [refused, storage] = becomes.startsWith('refused: ') ? [becomes.replace('refused: ', ''), ''] : ['', becomes];
    const resources = { requests: { storage }, limits: { storage: '9Ti' } };
    assert.deepEqual(plan, {
      write: storage === '' ? [] : [{ ...has, spec: { ...has.spec, resources } }],
      refused: refused === '' ? [] : [{ pvc: 'data-web-0', why: `it is smaller than the ${wants} of its template, and ${refused}` }],
    });
    assert.deepEqual(has, before);
  });

test('a claim of the default class, where there is none', () => {
  const rules = rulesOf(statefulSet({ claims: [claimTemplate('data', '2Gi')] }));
  assert.deepEqual(atOnce(planGrowth(rules, [sized('1Gi')], () => undefined)).refused, [
    { pvc: 'data-web-0', why: 'it is smaller than the 2Gi of its template, and there is no default storage class' },
  ]);
});

test('claims of a large set are put in order in small steps, and of those that cannot be expanded events name 500', () => {
  const claims = Array.from({ length: 2_500 }, (_, at) => claim(`data-web-${2_499 - at}`));
  const large = factsOf({ replicas: 2_500, templates: ['data'], annotations: { 'expand-claims': 'true' } });
  const rules = rulesOf(statefulSet({ spec: { replicas: 2_500 }, claims: [claimTemplate('data', '2Gi')] }));
  const { write } = atOnce(planGrowth(rules, claims, classOf));
  assert.deepEqual(write.map(({ metadata }) => metadata.name), claims.map(({ metadata }) => metadata.name).toReversed()); // prettier-ignore
  // A thousand at a time are read, then sorted, then looked at.
  assert.equal([...planGrowth(rules, claims, classOf)].length, 9);
  const { refused, warnings } = plan({ ...large, rules: { ...large.rules, claimTemplates: rules.claimTemplates }, allPvcs: () => claims, storageClass: () => undefined }); // prettier-ignore
  assert.deepEqual([refused.length, warnings.map(({ events }) => events.length)], [2_500, [500, 0]]);
});

test('all claims of the places that are asked for are looked at, and what is missing is passed over', () => {
  const rules = rulesOf(statefulSet({ claims: [claimTemplate('data', '2Gi'), claimTemplate('log', '1Gi'), claimTemplate('tmp', '3Gi')] }));
  const names = ['tmp-web-2', 'data-web-2', 'data-web-0', 'data-web-3', 'log-web-0', 'data-webb-0', 'data-web-01', 'web-0', 'other'];
  const claims = names.map((name) => claim(name));
  const grown = atOnce(planGrowth(rules, claims, classOf)).write.map(({ metadata }) => metadata.name);
  assert.deepEqual(grown, ['data-web-0', 'data-web-2', 'tmp-web-2']);
});
