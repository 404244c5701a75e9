import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planGrowth } from '../../../../controllers/statefulset/growth.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { Pvc, StorageClass } from '../../../../controllers/statefulset/types.ts';
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

const cases: { why: string; has: Pvc; wants: string; becomes?: string; refused?: string }[] = [
  { why: 'smaller', has: sized('1Gi', 'fast'), wants: '2Gi', becomes: '2Gi' },
  { why: 'smaller, in other words', has: sized('1023Mi', 'fast'), wants: '1Gi', becomes: '1Gi' },
  { why: 'smaller by less than a number can tell', has: sized('4611686018427387903', 'fast'), wants: '4Ei', becomes: '4Ei' },
  { why: 'as large', has: sized('2Gi', 'fast'), wants: '2Gi' },
  { why: 'as large, in other words', has: sized('2048Mi', 'fast'), wants: '2Gi' },
  { why: 'larger', has: sized('3Gi', 'fast'), wants: '2Gi' },
  { why: 'larger, though its number is smaller', has: sized('1Gi', 'fast'), wants: '1000M' },
  { why: 'of the default class', has: sized('1Gi'), wants: '2Gi', becomes: '2Gi' },
  {
    why: 'of a class that does not grow',
    has: sized('1Gi', 'fixed'),
    wants: '2Gi',
    refused: 'it is smaller than the 2Gi of its template, and storage class fixed does not set allowVolumeExpansion',
  },
  {
    why: 'of a class that says nothing',
    has: sized('1Gi', 'old'),
    wants: '2Gi',
    refused: 'it is smaller than the 2Gi of its template, and storage class old does not set allowVolumeExpansion',
  },
  { why: 'as large, in a class that does not grow', has: sized('2Gi', 'fixed'), wants: '2Gi' },
  {
    why: 'of a class that is gone',
    has: sized('1Gi', 'gone'),
    wants: '2Gi',
    refused: 'it is smaller than the 2Gi of its template, and storage class gone does not exist',
  },
  {
    why: 'of no class',
    has: sized('1Gi', ''),
    wants: '2Gi',
    refused: 'it is smaller than the 2Gi of its template, and it has no storage class, so nothing can expand it',
  },
  {
    why: 'of a class by the old annotation',
    has: sized('1Gi', 'fixed', { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } }),
    wants: '2Gi',
    becomes: '2Gi',
  },
  { why: 'going', has: sized('1Gi', 'fast', { deletionTimestamp: '2026-01-01T00:00:00Z' }), wants: '2Gi' },
  { why: 'waiting to be bound', has: unbound('Pending'), wants: '2Gi' },
  { why: 'lost', has: unbound('Lost'), wants: '2Gi' },
  { why: 'not looked at by anybody', has: unbound(), wants: '2Gi' },
  { why: 'of a size that nobody can read', has: sized('some', 'fast'), wants: '2Gi' },
  { why: 'smaller than what nobody can read', has: sized('1Gi', 'fast'), wants: 'more' },
];
for (const { why, has, wants, becomes, refused } of cases)
  test(`a claim that is ${why}`, () => {
    const before = structuredClone(has);
    const plan = planGrowth(rulesOf(statefulSet({ claims: [claimTemplate('data', wants)] })), [has], classOf);
    const resources = { requests: { storage: becomes ?? '' }, limits: { storage: '9Ti' } };
    assert.deepEqual(plan, {
      write: becomes === undefined ? [] : [{ ...has, spec: { ...has.spec, resources } }],
      refused: refused === undefined ? [] : [{ pvc: 'data-web-0', why: refused }],
    });
    assert.deepEqual(has, before);
  });

test('a claim of the default class, where there is none', () => {
  const rules = rulesOf(statefulSet({ claims: [claimTemplate('data', '2Gi')] }));
  assert.deepEqual(planGrowth(rules, [sized('1Gi')], () => undefined).refused, [
    { pvc: 'data-web-0', why: 'it is smaller than the 2Gi of its template, and there is no default storage class' },
  ]);
});

test('all claims of the places that are asked for are looked at, and what is missing is passed over', () => {
  const rules = rulesOf(statefulSet({ claims: [claimTemplate('data', '2Gi'), claimTemplate('log', '1Gi'), claimTemplate('tmp', '3Gi')] }));
  const names = ['tmp-web-2', 'data-web-2', 'data-web-0', 'data-web-3', 'log-web-0', 'data-webb-0', 'data-web-01', 'web-0', 'other'];
  assert.deepEqual(
    planGrowth(
      rules,
      names.map((name) => claim(name)),
      classOf,
    ).write.map(({ metadata }) => metadata.name),
    ['data-web-0', 'data-web-2', 'tmp-web-2'],
  );
});

test('a template without a size asks for none', () => {
  const rules = rulesOf(statefulSet({ claims: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }] }));
  assert.deepEqual(planGrowth(rules, [claim('data-web-0')], classOf), { write: [], refused: [] });
});
