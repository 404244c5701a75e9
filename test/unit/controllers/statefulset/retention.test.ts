import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRetention } from '../../../../controllers/statefulset/storage.ts';
import { rulesOf, type Rules } from '../../../../controllers/statefulset/rules.ts';
import type { OwnerReference } from '../../../../kube/api/object.ts';
import { statefulSets } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { claim, lookupOf, statefulSet } from './objects.ts';
import { NODE, setsOf, simWorld, statefulSet as stored } from './simulated/world.ts';

/** `whenScaled` and `whenDeleted`, by their first letters. */
const meanings = { RR: ['Retain', 'Retain'], RD: ['Retain', 'Delete'], DR: ['Delete', 'Retain'], DD: ['Delete', 'Delete'] } as const;
type Policy = keyof typeof meanings;

function rules(policy: Policy, claims: readonly string[] = ['data']): Rules {
  const [whenScaled, whenDeleted] = meanings[policy];
  return rulesOf(statefulSet({ claims, spec: { persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } } }));
}

/** Words: `set`, `pod` or `job`, as controller; with `~` as one owner among others, with `?` of an earlier UID. */
function refs(text: string): OwnerReference[] {
  const known = {
    set: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-uid' },
    pod: { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'web-0-uid' },
    job: { apiVersion: 'batch/v1', kind: 'Job', name: 'backup', uid: 'job-uid' },
  };
  return [...text.matchAll(/(set|pod|job)(~?)(\??)/g)].map(([, who, plain, earlier]) => ({
    ...known[who as keyof typeof known],
    ...(earlier === '?' ? { uid: 'earlier' } : {}),
    ...(plain === '~' ? {} : { controller: true, blockOwnerDeletion: true }),
  }));
}

interface Case {
  why: string;
  policy: Policy;
  condemned?: true;
  /** There is no pod yet. */
  unmade?: true;
  has?: string;
  /** What is written; undefined: nothing. */
  becomes?: string;
  conflicts?: true;
}
const cases: Case[] = [
  { why: 'retained, loses the set', policy: 'RR', has: 'set', becomes: '' },
  { why: 'retained, loses the pod', policy: 'RR', has: 'pod', becomes: '' },

  { why: 'deleted with the set, loses the pod beside it', policy: 'RD', has: 'set pod~', becomes: 'set' },

  { why: 'deleted when scaled, gets the pod when condemned', policy: 'DR', condemned: true, becomes: 'pod' },
  { why: 'deleted when scaled, loses the pod that has a place again', policy: 'DR', has: 'pod', becomes: '' },

  { why: 'always deleted, gets the pod for the set when condemned', policy: 'DD', condemned: true, has: 'set', becomes: 'pod' },
  { why: 'always deleted, gets the set for the pod that has a place again', policy: 'DD', has: 'pod', becomes: 'set' },

  { why: 'has the set, not as its controller', policy: 'RD', has: 'set~', becomes: 'set' },
  { why: 'has others, which stay', policy: 'RD', has: 'job~', becomes: 'job~ set' },

  { why: 'has a set that is gone', policy: 'RD', has: 'set?' },

  { why: 'has a foreign controller', policy: 'RD', has: 'job', conflicts: true },
  { why: 'has a foreign controller beside all', policy: 'DD', has: 'set~ job pod~', becomes: 'job', conflicts: true },
  { why: 'is retained whoever controls it, and loses the set', policy: 'RR', has: 'set~ job', becomes: 'job' },

  { why: 'is of a pod to be made, gets the set', policy: 'DD', unmade: true, becomes: 'set' },
  { why: 'is of a pod to be made, and was that of one that is gone', policy: 'DD', unmade: true, has: 'pod' },
];
for (const { why, policy, condemned = false, unmade, has = '', becomes, conflicts } of cases)
  test(`a claim that ${why}`, () => {
    const there = claim('data-web-0', { labels: { app: 'web' }, ...(has === '' ? {} : { ownerReferences: refs(has) }) });
    const before = structuredClone(there);
    const holder = { podName: 'web-0', podUid: unmade === true ? undefined : 'web-0-uid', ordinal: 0, condemned };
    const { write, conflicting } = planRetention(rules(policy), holder, lookupOf(there));
    const { ownerReferences: _, ...metadata } = there.metadata;
    const owners = becomes === '' ? {} : { ownerReferences: refs(becomes ?? '') };
    assert.deepEqual(write, becomes === undefined ? [] : [{ ...there, metadata: { ...metadata, ...owners } }]);
    assert.deepEqual(conflicting, conflicts === true ? ['data-web-0'] : []);
    assert.deepEqual(there, before);
    // What is written is right.
    assert.deepEqual(planRetention(rules(policy), holder, lookupOf(...write)).write, []);
  });

test('claims of pods without a place are left alone while it is not known which places there are', () => {
  const spec = { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' } };
  const unread = rulesOf(statefulSet({ claims: ['data'], spec, annotations: { 'dkc.dev/reserve-ordinals': '1;2' } }));
  const holder = { podName: 'web-0', podUid: 'web-0-uid', ordinal: 0 };
  const there = claim('data-web-0', { ownerReferences: refs('pod~') });
  assert.deepEqual(planRetention(unread, { ...holder, condemned: true }, lookupOf(there)), { write: [], conflicting: [] });
  assert.deepEqual(planRetention(unread, { ...holder, condemned: false }, lookupOf(there)).write.map(({ metadata }) => metadata.ownerReferences), [refs('set')]); // prettier-ignore
});

test('who owns claims is put right with an event as of an update of the pod, once; what is refused is told too', async (t) => {
  let refuses = false;
  const no = new ApiError({ method: 'PUT', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: 'no' });
  const world = simWorld({ bindMs: () => 0, startMs: () => 0, endMs: () => 0 });
  t.after(() => world.stop());
  world.addNodes(NODE);
  world.start({
    call: (call, pass) => (refuses && call.verb === 'replace' && call.resource === 'persistentvolumeclaims' ? Promise.reject(no) : pass()),
  });
  world.api.add(stored('web', { replicas: 1 }));
  const told = (): string[] =>
    world.api.hooks.storage
      .list('/events')
      .objects.filter(({ reason }) => String(reason).endsWith('Update'))
      .map(({ message, count }) => `${String(message)} x${String(count)}`);
  const owned = async (whenDeleted: string, events: number): Promise<void> => {
    const policy = { persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled: 'Retain' } };
    await world.user.patch(statefulSets, { name: 'web', namespace: 'default' }, { spec: policy }, { type: 'merge' });
    await world.until(() => told().length === events, 60_000);
  };
  await world.until(() => setsOf(world)[0]?.status?.readyReplicas === 1, 60_000);
  assert.deepEqual(told(), []);
  await owned('Delete', 1);
  assert.deepEqual(told(), ['update Pod web-0 in StatefulSet web successful x1']);
  refuses = true;
  await owned('Retain', 2);
  assert.match(told()[1] ?? '', /^update Pod web-0 in StatefulSet web failed error: could not update claim data-web-0 .*: no/);
});
