import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueueOnPodName } from '../../../../controllers/statefulset/enqueue.ts';
import type { Pod } from '../../../../controllers/statefulset/types.ts';
import { statefulSet } from './objects.ts';

const set = statefulSet();
const sets = { get: (key: string) => (key === `${set.metadata.namespace}/web` ? set : undefined) };
const owner = (uid: string) => ({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid, controller: true });
const pod = (name: string, metadata: Pod['metadata'] = {}): Pod => ({
  metadata: { name, namespace: set.metadata.namespace ?? '', uid: 'u', ...metadata },
});

const cases = [
  { why: 'of a former set', last: pod('web-0', { ownerReferences: [owner('former')] }), wakes: true },
  { why: 'of nobody', last: pod('web-0'), wakes: true },
  { why: 'of its own', last: pod('web-0', { ownerReferences: [owner(set.metadata.uid ?? '')] }), wakes: false },
  { why: 'of another name', last: pod('db-0'), wakes: false },
  { why: 'of another form of name', last: pod('web-00'), wakes: false },
  { why: 'of another namespace', last: pod('web-0', { namespace: 'other' }), wakes: false },
];
for (const { why, last, wakes } of cases)
  test(`a pod that is gone ${wakes ? 'wakes' : 'does not wake'} the set: one ${why}`, () => {
    assert.deepEqual(enqueueOnPodName({ do: 'delete', last, unseen: false }, sets), wakes ? [`${set.metadata.namespace}/web`] : []);
    assert.deepEqual(enqueueOnPodName({ do: 'add', object: last }, sets), []);
  });
