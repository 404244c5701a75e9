import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Change } from '../../../../kube/cache/change.ts';
import { objectKey, type Lister } from '../../../../kube/cache/contract.ts';
import { routeOwned, routePrimary, routeRead, type Step } from '../../../../kube/controller/run-controller.ts';

const sets: Resource = { group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet', namespaced: true };
const rollouts: Resource = {
  group: 'dkc.dev',
  version: 'v1alpha1',
  resource: 'nodeconfigrollouts',
  kind: 'NodeConfigRollout',
  namespaced: false,
};

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
  again: (_owner: KubeObject, before: KubeObject, after: KubeObject) =>
    before['ready'] !== true && after['ready'] === true ? 11_000 : undefined,
};

const cases = [
  { why: 'a new one is its owner’s creation', seen: 'add: by a/ua', steps: 'creationSeen ns/a up, enqueue ns/a' },
  { why: 'one that is going already is a deletion', seen: 'add: by a/ua going', steps: 'deletionSeen ns/a up, enqueue ns/a' },
  {
    why: 'a new orphan goes to all that match: one of them may have made it',
    seen: 'add: l=ab',
    steps: 'deletionSeen ns/a up, enqueue ns/a, deletionSeen ns/b up, enqueue ns/b',
  },
  { why: 'an orphan without labels goes to nobody', seen: 'add:', steps: '' },
  { why: 'also one that is going', seen: 'add: l=b going', steps: 'deletionSeen ns/b up, enqueue ns/b' },
  { why: 'an owner that is no controller does not count', seen: 'add: owner a/ua l=b', steps: 'deletionSeen ns/b up, enqueue ns/b' },
  { why: 'another UID is another owner', seen: 'add: by a/old l=ab', steps: '' },
  { why: 'another kind is another owner', seen: 'add: by a/ua of ReplicaSet', steps: '' },
  { why: 'owners live in the namespace of what they own', seen: 'add: by c/uc', steps: '' },
  { why: 'a resync is no change', seen: 'update: by a/ua -> by a/ua ready', steps: '' },
  { why: 'any change goes to the owner', seen: 'update: by a/ua -> by a/ua v2', steps: 'enqueue ns/a' },
  {
    why: 'a pod that became ready is looked at again',
    seen: 'update: by a/ua -> by a/ua ready v2',
    steps: 'enqueue ns/a, enqueue ns/a in 11000',
  },
  { why: 'a pod that stays ready is not', seen: 'update: by a/ua ready -> by a/ua ready v2', steps: 'enqueue ns/a' },
  {
    why: 'marked for deletion counts as deleted',
    seen: 'update: by a/ua -> by a/ua going v2',
    steps: 'deletionSeen ns/a up, enqueue ns/a',
  },
  { why: 'adopted: the owner, and no creation', seen: 'update: l=b -> l=b by a/ua v2', steps: 'enqueue ns/a' },
  {
    why: 'released: gone for its owner, and for all that match',
    seen: 'update: l=b by a/ua -> l=b v2',
    steps: 'deletionSeen ns/a up, enqueue ns/a, enqueue ns/b',
  },
  { why: 'taken over: both owners', seen: 'update: by a/ua -> by b/ub v2', steps: 'deletionSeen ns/a up, enqueue ns/a, enqueue ns/b' },
  { why: 'released as it goes: its owner alone', seen: 'update: l=b by a/ua -> l=b going v2', steps: 'deletionSeen ns/a up, enqueue ns/a' },
  { why: 'a former owner of another UID is nobody', seen: 'update: by a/old -> by b/ub v2', steps: 'enqueue ns/b' },
  { why: 'an orphan with new labels goes to all that match', seen: 'update: l=a -> l=ab v2', steps: 'enqueue ns/a, enqueue ns/b' },
  { why: 'an orphan that changed otherwise goes to nobody', seen: 'update: l=ab -> l=ab ready v2', steps: '' },
  { why: 'gone', seen: 'delete: by a/ua', steps: 'deletionSeen ns/a up, enqueue ns/a' },
  {
    why: 'an orphan that is gone was counted on by any that match: one may have been about to adopt it',
    seen: 'delete: l=ab',
    steps: 'deletionSeen ns/a up, enqueue ns/a, deletionSeen ns/b up, enqueue ns/b',
  },
  { why: 'one that a list no longer has is gone', seen: 'unlisted: by a/ua', steps: 'deletionSeen ns/a up, enqueue ns/a' },
  {
    why: 'an orphan that a list no longer has may have been adopted by any that match',
    seen: 'unlisted: l=ab',
    steps: 'deletionSeen ns/a up, enqueue ns/a, deletionSeen ns/b up, enqueue ns/b',
  },
  { why: 'gone after its owner', seen: 'delete: by a/old', steps: '' },
];
for (const { why, seen, steps } of cases)
  test(`an owned object: ${why}`, () => {
    assert.equal(routeOwned(change(seen), edge, { resource: sets, lister: owners }).map(inWords).join(', '), steps);
  });

test('what lives in no namespace owns what does', () => {
  const steps = routeOwned(change('add: by r/ur of NodeConfigRollout'), {}, { resource: rollouts, lister: owners });
  assert.deepEqual(steps.map(inWords), ['creationSeen r up', 'enqueue r']);
});

test('orphans concern nobody where nobody adopts', () => {
  assert.deepEqual(routeOwned(change('add: l=ab'), {}, { resource: sets, lister: owners }), []);
});

test('each change of a primary, and each resync, is its own key’s', () => {
  for (const seen of ['add:', 'update: -> v2', 'update: -> ']) assert.deepEqual(routePrimary(change(seen)).map(inWords), ['enqueue ns/p']);
  assert.deepEqual(routePrimary(change('delete:')).map(inWords), ['forget ns/p', 'enqueue ns/p']);
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
