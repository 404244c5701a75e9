import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { daemonSets as sets, type KubeObject } from '../../../../kube/api/object.ts';
import type { Change } from '../../../../kube/cache/change.ts';
import { objectKey, type Lister } from '../../../../kube/cache/contract.ts';
import { routeOwned, routePrimary, routeRead, type Step } from '../../../../kube/controller/run-controller.ts';

/** In the cache: sets a and b of namespace ns, with UIDs ua and ub; b and c of another one; rollout r, in no namespace. */
const known: KubeObject[] = [
  { metadata: { namespace: 'ns', name: 'a', uid: 'ua' } },
  { metadata: { namespace: 'ns', name: 'b', uid: 'ub' } },
  { metadata: { namespace: 'other', name: 'c', uid: 'uc' } },
  { metadata: { name: 'r', uid: 'ur' } },
];
const owners: Lister<KubeObject> = {
  size: known.length,
  get: (key) => known.find((object) => objectKey(object) === key),
  list: () => known,
  indexed: () => [],
};

/**
 * A pod in namespace ns at version 1: `by a/ua` its controller and that one's UID, `of Kind`, `owner a/ua` an owner that is no controller,
 * `l=x` a label, `going` being deleted, `ready`, `v2` its version.
 */
function pod(text: string): KubeObject {
  const object: KubeObject = { metadata: { namespace: 'ns', name: 'p', uid: 'up', resourceVersion: '1' } };
  const kind = /of (\w+)/.exec(text)?.[1] ?? 'DaemonSet';
  const owner = /(by|owner) (\w+)\/(\w+)/.exec(text);
  if (owner !== null) {
    const [, how, name = '', uid = ''] = owner;
    object.metadata.ownerReferences = [{ apiVersion: 'apps/v1', kind, name, uid, controller: how === 'by' }];
  }
  const label = /l=(\w+)/.exec(text)?.[1];
  if (label !== undefined) object.metadata.labels = { l: label };
  if (text.includes('going')) object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  if (text.includes('ready')) object['ready'] = true;
  const version = /v(\d)/.exec(text)?.[1];
  if (version !== undefined) object.metadata.resourceVersion = version;
  return object;
}

function change(text: string): Change<KubeObject> {
  const [what = '', ...rest] = text.split(':');
  const [before = '', after = ''] = rest.join(':').split('->');
  if (what === 'add') return { do: 'add', object: pod(before) };
  if (what === 'delete' || what === 'unlisted') return { do: 'delete', last: pod(before), unseen: what === 'unlisted' };
  return { do: 'update', before: pod(before), after: pod(after) };
}

function inWords(step: Step): string {
  if (step.do !== 'enqueue') return `${step.do} ${step.key}${'uid' in step ? ` ${step.uid}` : ''}`;
  const { request } = step;
  if (typeof request === 'string') return `enqueue ${request}`;
  return 'after' in request ? `enqueue ${request.key} in ${request.after}` : `enqueue ${request.key} limited`;
}

/** The orphan's label says who matches: `l=ab` both sets. */
const edge = {
  matching: ({ metadata }: KubeObject) => Array.from(metadata.labels?.['l'] ?? '', (name) => `ns/${name}`),
};

const cases = table('seen | steps | why')(`
  add: by a/ua                     | creationSeen ns/a up, enqueue ns/a               | a new one is its owner’s creation
  add: by a/ua going               | deletionSeen ns/a up, enqueue ns/a               | one that is going already is a deletion
  add: l=ab | deletionSeen ns/a up, enqueue ns/a, deletionSeen ns/b up, enqueue ns/b
    | a new orphan goes to all that match: one of them may have made it
  add:                             |                                                  | an orphan without labels goes to nobody
  add: owner a/ua l=b              | deletionSeen ns/b up, enqueue ns/b               | an owner that is no controller does not count
  add: by a/old l=ab               |                                                  | another UID is another owner
  update: by a/ua -> by a/ua ready |                                                  | a resync is no change
  update: by a/ua -> by a/ua v2    | enqueue ns/a                                     | any change goes to the owner
  update: by a/ua -> by a/ua going v2 | deletionSeen ns/a up, enqueue ns/a | marked for deletion counts as deleted
  update: l=b -> l=b by a/ua v2    | enqueue ns/a                                     | adopted: the owner, and no creation
  update: l=b by a/ua -> l=b v2    | deletionSeen ns/a up, enqueue ns/a, enqueue ns/b | released: gone for its owner, and for all that match
  update: by a/ua -> by b/ub v2    | deletionSeen ns/a up, enqueue ns/a, enqueue ns/b | taken over: both owners
  update: l=a -> l=ab v2           | enqueue ns/a, enqueue ns/b                       | an orphan with new labels goes to all that match
  update: l=ab -> l=ab ready v2    |                                                  | an orphan that changed otherwise goes to nobody
  delete: by a/ua                  | deletionSeen ns/a up, enqueue ns/a               | gone
  delete: l=ab | deletionSeen ns/a up, enqueue ns/a, deletionSeen ns/b up, enqueue ns/b
    | an orphan that is gone was counted on by any that match: one may have been about to adopt it
`);
for (const { why, seen, steps } of cases)
  test(`an owned object: ${why}`, () => {
    assert.equal(routeOwned(change(seen), edge, { resource: sets, lister: owners }).map(inWords).join(', '), steps);
  });

test('orphans concern nobody where nobody adopts', () => {
  assert.deepEqual(routeOwned(change('add: l=ab'), {}, { resource: sets, lister: owners }), []);
});

test('each change of a primary, and each resync, is its own key’s', () => {
  for (const seen of ['add:', 'update: -> v2', 'update: -> ']) assert.deepEqual(routePrimary(change(seen)).map(inWords), ['enqueue ns/p']);
  assert.deepEqual(routePrimary(change('delete:')).map(inWords), ['forget ns/p up', 'enqueue ns/p']);
});

test('what a controller reads enqueues what its mapFunc says, and nothing at a resync', () => {
  const reads = {
    mapFunc: (_change: Change<KubeObject>, primaries: Lister<KubeObject>) => [
      ...primaries.list().slice(0, 1).map(objectKey),
      { key: 'ns/b', after: 5 },
      { key: 'ns/c', limited: true as const },
    ],
  };
  const words = ['enqueue ns/a', 'enqueue ns/b in 5', 'enqueue ns/c limited'];
  for (const seen of ['add:', 'update: -> v2', 'delete:']) assert.deepEqual(routeRead(change(seen), reads, owners).map(inWords), words);
  assert.deepEqual(routeRead(change('update: -> ready'), reads, owners), []);
  assert.deepEqual(routeRead(change('add:'), {}, owners), []);
});
