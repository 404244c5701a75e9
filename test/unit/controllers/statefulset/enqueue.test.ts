import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueueOnPvc, enqueueOnPodName } from '../../../../controllers/statefulset/enqueue.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { Pvc, StatefulSet, Pod } from '../../../../controllers/common/types.ts';
import type { Change } from '../../../../kube/cache/change.ts';
import { claim, statefulSet } from './objects.ts';

const called = (name: string, claims: string[], namespace = 'ns'): StatefulSet => {
  const set = statefulSet({ claims });
  return { ...set, metadata: { ...set.metadata, name, namespace } };
};
const sets = [called('web', ['data']), called('b-web', ['a']), called('web', ['a-b', 'a'], 'other'), called('b-web', ['a', 'a-b'], 'other')]; // prettier-ignore
const wakes = (change: Change<Pvc>): string[] =>
  enqueueOnPvc(change, { get: (key) => sets.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key) }, rulesOf);
const there = claim('data-web-0');
const owned = claim('data-web-0', { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-uid' }] });
const going = claim('data-web-0', { deletionTimestamp: '2026-01-01T00:00:00Z' });

const cases: { why: string; change: Change<Pvc>; wakes: string[] }[] = [
  { why: 'came', change: { do: 'add', object: there }, wakes: ['ns/web'] },
  { why: 'is going now', change: { do: 'update', before: there, after: going }, wakes: ['ns/web'] },
  { why: 'has an owner now', change: { do: 'update', before: there, after: owned }, wakes: ['ns/web'] },
  { why: 'changed otherwise', change: { do: 'update', before: there, after: claim('data-web-0', { labels: { a: 'b' } }) }, wakes: [] },
  { why: 'has an ordinal in another form', change: { do: 'add', object: claim('data-web-00') }, wakes: [] },
  { why: 'is of a set whose name has a dash', change: { do: 'add', object: claim('a-b-web-0') }, wakes: ['ns/b-web'] },
  {
    why: 'may be of two sets',
    change: { do: 'add', object: claim('a-b-web-0', { namespace: 'other' }) },
    wakes: ['other/b-web', 'other/web'],
  },
];
for (const { why, change, wakes: expected } of cases)
  test(`whom a claim wakes that ${why}`, () => assert.deepEqual(wakes(change).toSorted(), expected));

const web = statefulSet();
const alone = { get: (key: string) => (key === `${web.metadata.namespace}/web` ? web : undefined) };
const owner = (uid: string) => ({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid, controller: true });
const pod = (name: string, metadata: Pod['metadata'] = {}): Pod => ({
  metadata: { name, namespace: web.metadata.namespace ?? '', uid: 'u', ...metadata },
});

const gone = [
  { why: 'of a former set', last: pod('web-0', { ownerReferences: [owner('former')] }), wakes: true },
  { why: 'of nobody', last: pod('web-0'), wakes: true },
  { why: 'of its own', last: pod('web-0', { ownerReferences: [owner(web.metadata.uid ?? '')] }), wakes: false },
  { why: 'of another name', last: pod('db-0'), wakes: false },
];
for (const { why, last, wakes } of gone)
  test(`a pod that is gone ${wakes ? 'wakes' : 'does not wake'} the set: one ${why}`, () => {
    assert.deepEqual(enqueueOnPodName({ do: 'delete', last, unseen: false }, alone), wakes ? [`${web.metadata.namespace}/web`] : []);
    assert.deepEqual(enqueueOnPodName({ do: 'add', object: last }, alone), []);
  });
