import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSets } from '../../../../kube/api/object.ts';
import { controllerRef } from '../../../../kube/controller/owners.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import { noMemory } from '../../../../controllers/common/set-memory.ts';
import { planOwnership } from '../../../../controllers/statefulset/plan.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { Revision } from '../../../../controllers/common/history/contract.ts';
import { table } from '../../../support/table.ts';
import { factsOf, NOW, pod, revisions, setOf } from './notation.ts';

const other = controllerRef({ metadata: { name: 'web', uid: 'earlier-uid' } }, statefulSets);
const missing: Revision = { metadata: {}, revision: 0 };
const plain = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x-uid' };

/** Whose the pod is, what it is, in which circumstances (the set is leaving, too), and what is done about it. */
const cases = table('owner | pod | that is | claim | why')(`
  ours              | 0@new              |                    | keep    | selected
  ours              | 0@new              | unselected         | release | not selected
  ours              | 0@new              | unselected leaving | ignore  | not selected, of a set that goes
  ours              | db-0@new           |                    | release | called otherwise
  ours              | web-01@new         |                    | release | in another form than ours
  ours              | 7@new              |                    | keep    | without a place
  another           | 0@new              |                    | ignore  | selected
  none              | 0@new              |                    | adopt   | selected
  not as controller | 0@new              |                    | adopt   | owned but not controlled
  none              | 0@new-             |                    | ignore  | selected, going
  none              | web-db-0@new       |                    | ignore  | of a set whose name begins with ours
  none              | 0@new              | elsewhere          | ignore  | elsewhere
`);

for (const { owner, pod: text, why, claim, ...more } of cases)
  test(`whose a pod is: ${owner}, ${why}`, () => {
    const made = pod(text);
    const { ownerReferences: ours = [], labels, ...metadata } = made.metadata;
    const owners = { ours, another: [other], none: undefined, 'not as controller': [plain] }[owner];
    const is = (what: string): boolean => more['that is'].split(' ').includes(what);
    const asked: Pod = {
      ...made,
      metadata: {
        ...metadata,
        ...(owners === undefined ? {} : { ownerReferences: owners }),
        labels: { ...labels, ...(is('unselected') ? { app: 'x' } : {}) },
        namespace: is('elsewhere') ? 'other' : 'ns',
      },
    };
    const { keep, adopt, release } = factsOf({ pods: [asked], leaving: is('leaving') }).adoption.pods;
    const done = { keep: keep.length, adopt: adopt.length, release: release.length };
    assert.deepEqual(done, { keep: 0, adopt: 0, release: 0, ...(claim === 'ignore' ? {} : { [claim]: 1 }) });
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
    isTaken: () => false,
    storageClass: () => undefined,
    now: NOW,
  });
  const called = (list: readonly Readonly<Revision>[]): string[] => list.map(({ metadata }) => metadata.name ?? '');
  const { keep, adopt, release } = claims.revisions;
  assert.deepEqual([keep, adopt, release].map(called), [['web-new'], ['web-older'], ['web-x']]);
});
