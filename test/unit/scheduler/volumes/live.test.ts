import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ActionError } from '../../../../base/errors.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { atRest } from '../../../support/fake-clock.ts';
import { LiveStorage, liveClaim, liveClass, liveNode, liveVolume } from './live-storage.ts';
import { podWith } from './storage-builders.ts';

const timeout = 120_000;

/** A class, node a, a claim `data` and what else there is; and a pod with the claim, for which all is decided and reserved. */
async function reserved(
  t: TestContext,
  provisioner: string | undefined,
  options: Parameters<typeof LiveStorage.start>[1] = {},
  ...more: ReturnType<typeof liveVolume>[]
) {
  const world = await LiveStorage.start(t, options);
  await world.add(liveClass(provisioner), liveNode('a', 'a'), ...more, liveClaim('data'));
  const { pod, decision } = world.decide(podWith('web-0', 'data'), 'a');
  world.binder.reserve(pod, decision);
  return { world, pod, decision, preBind: (signal = world.signal) => world.binder.preBind(pod, 'a', decision, signal) };
}

test('reserves the volume that was found, and waits until the claim is bound', { timeout }, async (t) => {
  const large = liveVolume('large', { capacity: { storage: '9Gi' } });
  const { world, preBind } = await reserved(t, undefined, {}, large, liveVolume('small'));
  assert.equal(world.view.volume('small')?.spec?.claimRef?.uid, world.claim('data').metadata.uid);
  await preBind();
  const { spec, metadata } = world.volume('small');
  assert.equal(spec?.claimRef?.uid, world.claim('data').metadata.uid);
  assert.equal(metadata.annotations?.['pv.kubernetes.io/bound-by-controller'], 'yes');
  assert.equal(world.claim('data').spec?.volumeName, 'small');
  assert.equal(world.volume('large').spec?.claimRef, undefined);
  assert.equal(world.view.assumptions, 0);
  assert.equal(world.binder.waiting, 0);
  assert.deepEqual(world.freed, []);
  await atRest();
  assert.equal(world.sleepers, 0);
});

test('has a volume made for the node, and waits until the claim is bound to it', { timeout }, async (t) => {
  const { world, preBind } = await reserved(t, 'driver');
  assert.throws(() => world.decide(podWith('web-1', 'data'), 'b'), RangeError);
  await preBind();
  const { metadata, spec } = world.claim('data');
  assert.equal(metadata.annotations?.['volume.kubernetes.io/selected-node'], 'a');
  assert.equal(spec?.volumeName, 'made-for-data');
  assert.equal(world.view.assumptions, 0);
});

test('two pods in flight do not get one volume', { timeout }, async (t) => {
  const world = await LiveStorage.start(t);
  await world.add(liveClass(), liveNode('a', 'a'), liveVolume('one'), liveVolume('two'), liveClaim('x'), liveClaim('y'));
  const first = world.decide(podWith('web-0', 'x'), 'a');
  world.binder.reserve(first.pod, first.decision);
  const second = world.decide(podWith('web-1', 'y'), 'a');
  world.binder.reserve(second.pod, second.decision);
  await Promise.all([first, second].map(({ pod, decision }) => world.binder.preBind(pod, 'a', decision, world.signal)));
  assert.deepEqual(
    ['x', 'y'].map((name) => world.claim(name).spec?.volumeName),
    ['one', 'two'],
  );
});

test('says what is free again when a pod is not bound after all', { timeout }, async (t) => {
  const world = await LiveStorage.start(t, { binds: false });
  await world.add(
    liveClass('driver'),
    liveNode('a', 'a'),
    liveVolume('pv'),
    liveClaim('x'),
    liveClaim('y', { accessModes: ['ReadOnlyMany'] }),
  );
  const one = world.decide(podWith('web-0', 'x', 'y'), 'a');
  world.binder.reserve(one.pod, one.decision);
  const two = world.decide(podWith('web-1', 'y'), 'a');
  world.binder.reserve(two.pod, two.decision);
  world.binder.unreserve(one.pod);
  const told = world.freed.map((event) => {
    assert.ok(event.kind === 'storage-changed' && event.of === 'PersistentVolume');
    return `${event.before?.metadata.name} ${event.before?.spec?.claimRef?.name} ${event.after?.spec?.claimRef?.name}`;
  });
  assert.deepEqual(told, ['pv x undefined']);
  world.binder.unreserve(two.pod);
  assert.deepEqual(
    world.freed.slice(1).map((event) => 'of' in event && event.of),
    ['PersistentVolumeClaim'],
  );
  world.binder.unreserve(two.pod);
  assert.equal(world.freed.length, 2);
});

test('two pods of one claim both wait for it', { timeout }, async (t) => {
  const world = await LiveStorage.start(t);
  await world.add(liveClass('driver'), liveNode('a', 'a'), liveClaim('data'));
  const pods = ['web-0', 'web-1'].map((name) => {
    const one = world.decide(podWith(name, 'data'), 'a');
    world.binder.reserve(one.pod, one.decision);
    return one;
  });
  await Promise.all(pods.map(({ pod, decision }) => world.binder.preBind(pod, 'a', decision, world.signal)));
  assert.equal(world.claim('data').spec?.volumeName, 'made-for-data');
  assert.equal(world.view.assumptions, 0);
});

test('gives up where no volume can be made', { timeout }, async (t) => {
  const { world, preBind } = await reserved(t, 'driver');
  world.zoneOfMade = undefined;
  await assert.rejects(preBind(), {
    message:
      'Cannot bind the volumes of pod default/web-0 on node a: no volume could be provisioned on this node for claim default/data; see its events; the pod will be retried',
  });
  assert.equal(world.view.assumptions, 0);
  assert.equal(world.view.claim('default', 'data')?.metadata.annotations?.['volume.kubernetes.io/selected-node'], undefined);
});

test('gives up when the time is over, and says what it waited for', { timeout }, async (t) => {
  const { world, preBind } = await reserved(t, 'driver', { binds: false, timeoutMs: 20 });
  await assert.rejects(preBind(), (error) => {
    assert.ok(error instanceof ActionError);
    assert.match(error.message, /claim default\/data is not bound yet; see its events.* \(waited 0\.02 s\)$/);
    return true;
  });
  assert.equal(world.view.assumptions, 0);
  assert.equal(world.binder.waiting, 0);
});

test('ends with the signal', { timeout }, async (t) => {
  const { world, preBind } = await reserved(t, 'driver', { binds: false });
  const ending = new AbortController();
  const bound = assert.rejects(preBind(ending.signal), /the pod is gone/);
  await world.until('it waits', () => world.binder.waiting === 1);
  ending.abort(new Error('the pod is gone'));
  await bound;
  assert.equal(world.view.assumptions, 0);
  assert.equal(world.binder.waiting, 0);
});

test('a server without capacities is no obstacle', { timeout }, async (t) => {
  const world = await LiveStorage.start(t);
  assert.deepEqual([world.caches.csiNodes?.synced, world.caches.csiDrivers?.synced, world.caches.capacities], [true, true, undefined]);
  assert.deepEqual(world.view.capacities('late'), []);
});

/** A client whose writes fail with this code, after or instead of being done. */
const failing =
  (code: number, { done = false, times = Infinity, tries = [] as string[] } = {}) =>
  (client: Client): Client => ({
    ...client,
    get: (...args) => client.get(...args),
    patch: async (resource, ref, patch, options) => {
      tries.push(ref.name);
      if (tries.length > times) return client.patch(resource, ref, patch, options);
      if (done) await client.patch(resource, ref, patch, options);
      throw new ApiError({ method: 'PATCH', path: '/x', host: 'local' }, { code, reason: 'Failed', message: 'no such luck' });
    },
  });

for (const { why, code, times, expected } of [
  { why: 'a write that is done without our hearing of it is not done again', code: 500, times: Infinity, expected: 1 },
  { why: 'a write that failed once is tried again', code: 500, times: 1, expected: 2 },
])
  test(why, { timeout }, async (t) => {
    const tries: string[] = [];
    const wrap = failing(code, { done: times === Infinity, times, tries });
    const { world, preBind } = await reserved(t, undefined, { wrap }, liveVolume('pv'));
    await preBind();
    assert.equal(world.claim('data').spec?.volumeName, 'pv');
    assert.deepEqual(
      tries,
      Array.from({ length: expected }, () => 'pv'),
    );
  });

for (const { why, code, expected } of [
  { why: 'a write that the server refuses is not tried again', code: 403, expected: 1 },
  { why: 'a write that fails and fails is given up', code: 503, expected: 4 },
])
  test(why, { timeout }, async (t) => {
    const tries: string[] = [];
    const { world, preBind } = await reserved(t, 'driver', { wrap: failing(code, { tries }) });
    await assert.rejects(preBind(), {
      message: 'Cannot provision a volume on node a for claim default/data: no such luck; the pod will be retried',
    });
    assert.equal(tries.length, expected);
    assert.equal(world.view.assumptions, 0);
  });
