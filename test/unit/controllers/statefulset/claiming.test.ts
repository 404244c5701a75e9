import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSets } from '../../../../kube/api/object.ts';
import { controllerRef } from '../../../../kube/controller/owners.ts';
import type { Pod } from '../../../../controllers/statefulset/types.ts';
import { noMemory } from '../../../../controllers/common/set-memory.ts';
import { planOwnership } from '../../../../controllers/statefulset/plan.ts';
import { slotsOf } from '../../../../controllers/statefulset/places.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { Revision } from '../../../../controllers/common/history/contract.ts';
import { factsOf, NOW, pod, revisions, setOf } from './notation.ts';

const other = controllerRef({ metadata: { name: 'web', uid: 'earlier-uid' } }, statefulSets);
const missing: Revision = { metadata: {}, revision: 0 };
const plain = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x-uid' };

/** As ours, `0@new`, but for what is said. */
interface Case {
  why: string;
  pod?: string;
  owner?: 'ours' | 'none' | 'another' | 'not as controller';
  labels?: Record<string, string>;
  namespace?: string;
  leaving?: true;
  claim: 'keep' | 'adopt' | 'release' | 'ignore';
}

const cases: Case[] = [
  { why: 'ours, selected', claim: 'keep' },
  { why: 'ours, selected, going', pod: '0@new-', claim: 'keep' },
  { why: 'ours, selected, of a set that goes', leaving: true, claim: 'keep' },
  { why: 'ours, not selected', labels: { app: 'x' }, claim: 'release' },
  { why: 'ours, not selected, going', pod: '0@new-', labels: { app: 'x' }, claim: 'release' },
  { why: 'ours, not selected, of a set that goes', labels: { app: 'x' }, leaving: true, claim: 'ignore' },
  { why: 'ours, called otherwise', pod: 'db-0@new', claim: 'release' },
  { why: 'ours, called otherwise, of a set that goes', pod: 'db-0@new', leaving: true, claim: 'ignore' },
  { why: 'ours, without an ordinal', pod: 'web-x@new', claim: 'release' },
  { why: 'ours, in another form than ours', pod: 'web-01@new', claim: 'release' },
  { why: 'ours, beyond the last ordinal', pod: 'web-2147483648@new', claim: 'release' },
  { why: 'ours, at the last ordinal', pod: 'web-2147483647@new', claim: 'keep' },
  { why: 'ours, without a place', pod: '7@new', claim: 'keep' },
  { why: 'another’s, selected', owner: 'another', claim: 'ignore' },
  { why: 'another’s, not selected', owner: 'another', labels: { app: 'x' }, claim: 'ignore' },
  { why: 'nobody’s, selected', owner: 'none', claim: 'adopt' },
  { why: 'nobody’s, owned but not controlled', owner: 'not as controller', claim: 'adopt' },
  { why: 'nobody’s, selected, of a set that goes', owner: 'none', leaving: true, claim: 'ignore' },
  { why: 'nobody’s, selected, going', pod: '0@new-', owner: 'none', claim: 'ignore' },
  { why: 'nobody’s, not selected', owner: 'none', labels: { app: 'x' }, claim: 'ignore' },
  { why: 'nobody’s, called otherwise', pod: 'db-0@new', owner: 'none', claim: 'ignore' },
  { why: 'nobody’s, of a set whose name begins with ours', pod: 'web-db-0@new', owner: 'none', claim: 'ignore' },
  { why: 'nobody’s, of a set whose name ends with ours', pod: 'my-web-0@new', owner: 'none', claim: 'ignore' },
  { why: 'nobody’s, in another form than ours', pod: 'web-01@new', owner: 'none', claim: 'ignore' },
  { why: 'nobody’s, without an ordinal', pod: 'web@new', owner: 'none', claim: 'ignore' },
  { why: 'nobody’s, elsewhere', owner: 'none', namespace: 'other', claim: 'ignore' },
];

for (const { why, pod: text = '0@new', owner = 'ours', labels, namespace, leaving, claim } of cases)
  test(`whose a pod is: ${why}`, () => {
    const made = pod(text);
    const { ownerReferences = [], ...metadata } = made.metadata;
    const owners = { none: [], another: [other], 'not as controller': [plain], ours: ownerReferences }[owner];
    const asked: Pod = {
      ...made,
      metadata: {
        ...metadata,
        ...(owners.length === 0 ? {} : { ownerReferences: owners }),
        labels: { ...metadata.labels, ...labels },
        namespace: namespace ?? 'ns',
      },
    };
    const { keep, adopt, release } = factsOf({ pods: [asked], leaving: leaving === true }).adoption.pods;
    const is = { keep: keep.length, adopt: adopt.length, release: release.length };
    assert.deepEqual(is, { keep: 0, adopt: 0, release: 0, ...(claim === 'ignore' ? {} : { [claim]: 1 }) });
  });

test('a pod that is adopted fills its place at once', () => {
  const { ownerReferences: _, ...metadata } = pod('0@new').metadata;
  const facts = factsOf({ pods: [{ ...pod('0@new'), metadata }] });
  assert.equal(facts.adoption.pods.adopt.length, 1);
  assert.equal(slotsOf(facts).wanted[0]?.pod?.metadata.name, 'web-0');
});

test('revisions of nobody are adopted, those that are not selected released, and those of another set left alone', () => {
  const set = setOf();
  const [older = missing, old = missing, current = missing] = revisions(set);
  const { adoption: claims } = planOwnership({
    rules: rulesOf(set),
    memory: noMemory,
    pods: [],
    revisions: [
      { ...older, metadata: { ...older.metadata, ownerReferences: [] } },
      { ...old, metadata: { ...old.metadata, ownerReferences: [other] } },
      current,
      { ...current, metadata: { ...current.metadata, name: 'web-x', labels: { app: 'x' } } },
    ],
    pvc: () => undefined,
    allPvcs: () => [],
    storageClass: () => undefined,
    now: NOW,
  });
  const called = (list: readonly Readonly<Revision>[]): string[] => list.map(({ metadata }) => metadata.name ?? '');
  assert.deepEqual(
    [called(claims.revisions.keep), called(claims.revisions.adopt), called(claims.revisions.release)],
    [['web-new'], ['web-older'], ['web-x']],
  );
});

test('a set whose selector cannot be read adopts nothing', () => {
  const set = setOf();
  const { ownerReferences: _, ...metadata } = pod('0@new').metadata;
  const blind = { ...rulesOf(set), selector: undefined };
  const cluster = {
    rules: blind,
    memory: noMemory,
    pods: [{ ...pod('0@new'), metadata }],
    revisions: [],
    pvc: () => undefined,
    allPvcs: () => [],
    storageClass: () => undefined,
    now: NOW,
  };
  assert.deepEqual(planOwnership(cluster).adoption.pods.adopt, []);
});
