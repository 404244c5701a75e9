import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { pinnedTo } from '../../../../controllers/daemonset/pods.ts';
import { daemonSets, type KubeObject } from '../../../../kube/api/object.ts';
import { ApiError, apiErrorFrom } from '../../../../kube/client/errors.ts';
import { behave } from '../../../support/hollow/hollow-nodes.ts';
import { daemonSet } from '../../../support/simulated/sets.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import { type SimProcess, SimWorld } from '../../../support/simulated/sim-world.ts';

/** Repetitions that do no harm are seen by nothing but counting. */

const LATE = 3_000;

/** One after the other, and not all at one time. */
function startsAfter(): () => number {
  let ms = 500;
  return () => (ms += 5);
}

interface Scene {
  world: SimWorld;
  process: SimProcess;
  calls: string[];
}

/** @param slow - of this kind every event comes late. @param write - in the place of the call */
async function scene(t: TestContext, slow: string, write?: (world: SimWorld, what: string) => void | Promise<void>): Promise<Scene> {
  const world = new SimWorld({ pace: { bindMs: () => 0, startMs: startsAfter(), endMs: () => 500 } });
  t.after(() => world.stop());
  world.addNodes('a', 'b');
  const calls: string[] = [];
  const by: Interceptor = {
    call: async (call, pass) => {
      const what = `${call.verb} ${call.resource}`;
      calls.push(what);
      await write?.(world, what);
      return pass();
    },
    async *watch({ resource }, pass) {
      for await (const event of pass()) {
        if (resource === slow && event.type !== 'BOOKMARK') await world.clock.sleep(LATE);
        yield event;
      }
    },
  };
  const process = world.start(by);
  await world.until(() => process.ready, 10_000);
  return { world, process, calls };
}

function orphan(node: string): KubeObject {
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pinnedTo(node) } };
  const metadata = { name: 'orphan', namespace: 'default', labels: { app: 'web' } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { affinity, containers: [{ name: 'c', image: 'v0' }] } };
}

const count = (calls: readonly string[], what: string): number => calls.filter((one) => one === what).length;

test('a revision that the cache is slow to show is made once', async (t) => {
  const { world, calls } = await scene(t, 'controllerrevisions');
  world.api.add(daemonSet('web'));
  await world.clock.advance(10_000);
  assert.equal(world.set()?.status?.numberAvailable, 2);
  assert.equal(count(calls, 'create controllerrevisions'), 1);
  assert.equal(count(calls, 'get controllerrevisions'), 0);
});

test('a pod that the cache is slow to show as adopted is adopted once', async (t) => {
  const { world, calls } = await scene(t, 'pods');
  world.api.add({ ...orphan('a') });
  await world.clock.advance(10_000);
  world.api.add(daemonSet('web', { updateStrategy: { type: 'OnDelete' } }));
  await world.clock.advance(1_000);
  // Something wakes the set while the cache is behind.
  await world.patchNode('b', { metadata: { labels: { pool: 'x' } }, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });
  await world.clock.advance(20_000);
  assert.equal(count(calls, 'patch pods'), 1);
});

test('a status that somebody else was quicker with is written onto what is there now, in the same pass', async (t) => {
  let left = 1;
  const quicker = ({ api }: SimWorld, what: string): void => {
    if (what !== 'replace daemonsets/status' || left === 0) return;
    left -= 1;
    const { storage } = api.hooks;
    const set = storage.get('apps/daemonsets', 'default/web');
    if (set !== undefined)
      storage.put('apps/daemonsets', 'default/web', { ...set, metadata: { ...set.metadata, annotations: { by: 'another' } } });
  };
  const { world, process, calls } = await scene(t, '', quicker);
  world.api.add(daemonSet('web'));
  await world.clock.advance(10_000);
  assert.equal(left, 0);
  assert.equal(world.set()?.status?.numberAvailable, 2);
  assert.equal(world.set()?.metadata.annotations?.['by'], 'another');
  assert.deepEqual(process.failures(), []);
  assert.equal(count(calls, 'get daemonsets'), 1);
});

test('an orphan that goes while it is adopted is not counted on', async (t) => {
  const gone = ({ api }: SimWorld, what: string): void => {
    if (what === 'patch pods') api.hooks.storage.remove('/pods', 'default/orphan');
  };
  const { world } = await scene(t, 'pods', gone);
  world.api.add({ ...orphan('a') });
  await world.clock.advance(30_000);
  // On its node alone: what happens on another would wake the set.
  const spec = { nodeSelector: { 'kubernetes.io/hostname': 'a' }, containers: [{ name: 'c', image: 'v1' }] };
  world.api.add(daemonSet('web', { template: { metadata: { labels: { app: 'web' } }, spec } }));
  await world.clock.advance(60_000);
  assert.deepEqual(
    world.pods().map(({ spec }) => spec?.containers[0]?.image),
    ['v1'],
  );
  assert.equal(world.set()?.status?.updatedNumberScheduled, 1);
});

test('a pod that somebody marks while the pass writes the history is not waited for', async (t) => {
  let drains = false;
  const drained = async (world: SimWorld, what: string): Promise<void> => {
    if (what !== 'create controllerrevisions' || !drains) return;
    const { storage } = world.api.hooks;
    const pod = world.pods().find(({ spec }) => spec?.nodeName === 'a');
    assert.ok(pod?.metadata.name);
    const marked = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
    storage.put('/pods', `default/${pod.metadata.name}`, { ...pod, metadata: marked });
    // The cache has it before the answer comes.
    await world.clock.sleep(200);
  };
  const { world } = await scene(t, '', drained);
  world.api.add(daemonSet('web', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }));
  await world.clock.advance(10_000);
  // Nobody ends its pods any more.
  await world.patchNode('a', behave('dead'));
  drains = true;
  const template = { spec: { containers: [{ name: 'c', image: 'v2' }] } };
  await world.user.patch(daemonSets, { name: 'web', namespace: 'default' }, { spec: { template } }, { type: 'merge' });
  await world.clock.advance(20_000);
  assert.equal(world.set()?.status?.updatedNumberScheduled, 1, 'node b is updated, and not after five minutes');
});

test('no pod is made for a set that goes while the pass writes the history', async (t) => {
  const { world, calls } = await scene(t, '', async ({ api, clock }, what) => {
    if (what !== 'create controllerrevisions') return;
    api.hooks.storage.remove('apps/daemonsets', 'default/web');
    // The cache has it before the answer comes.
    await clock.sleep(200);
  });
  world.api.add(daemonSet('web'));
  await world.clock.advance(10_000);
  assert.deepEqual([count(calls, 'create controllerrevisions'), count(calls, 'create pods')], [1, 0]);
});

test('a pod that another of its name takes the place of while the pass writes the history is not deleted', async (t) => {
  let swaps = false;
  const { world, process } = await scene(t, '', async (at, what) => {
    if (what !== 'create controllerrevisions' || !swaps) return;
    for (const pod of at.pods()) {
      const { name, uid } = pod.metadata;
      at.api.hooks.storage.put('/pods', `default/${name}`, { ...pod, metadata: { ...pod.metadata, uid: `${uid}-2` } });
    }
    await at.clock.sleep(200);
  });
  world.api.add(daemonSet('web', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }));
  await world.clock.advance(10_000);
  swaps = true;
  const template = { spec: { containers: [{ name: 'c', image: 'v2' }] } };
  await world.user.patch(daemonSets, { name: 'web', namespace: 'default' }, { spec: { template } }, { type: 'merge' });
  await world.clock.advance(10_000);
  assert.deepEqual(process.failures(), []);
  assert.equal(world.set()?.status?.updatedNumberScheduled, 2);
});

test('a pod that fails at once is made again after pauses that grow', async (t) => {
  const { world, calls } = await scene(t, '');
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'hollow/failed:1' }] } };
  world.api.add(daemonSet('web', { template }));
  await world.clock.advance(60_000);
  // On each of two nodes at once, then after 1, 2, 4, 8, 16 and 32 s.
  const made = count(calls, 'create pods');
  assert.ok(made > 8 && made <= 16, `${made} pods`);
});

test('with a progress deadline, too, the status is written ten times a second at most', async (t) => {
  const { world, calls } = await scene(t, '');
  world.addNodes(...Array.from({ length: 98 }, (_, at) => `n-${at}`));
  const set = daemonSet('web');
  const metadata = { name: 'web', namespace: 'default', annotations: { 'dkc.dev/progress-deadline': '10m' } };
  world.api.add({ ...set, metadata });
  await world.until(() => world.set()?.status?.numberAvailable === 100, 10_000, 5);
  assert.ok(count(calls, 'replace daemonsets/status') <= 12, String(count(calls, 'replace daemonsets/status')));
});

test('a pod that is taken from the set while the set deletes it is not waited for', async (t) => {
  let left = 1;
  const taken = ({ api }: SimWorld, what: string): void => {
    if (what !== 'delete pods' || left === 0) return;
    left -= 1;
    const { storage } = api.hooks;
    for (const pod of storage.list('/pods').objects) {
      const { ownerReferences: _, labels: __, ...metadata } = pod.metadata;
      storage.put('/pods', `default/${metadata.name}`, { ...pod, metadata });
    }
  };
  const { world, calls } = await scene(t, '', taken);
  world.api.add(daemonSet('web', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }));
  await world.clock.advance(10_000);
  const template = { spec: { containers: [{ name: 'c', image: 'v2' }] } };
  await world.user.patch(daemonSets, { name: 'web', namespace: 'default' }, { spec: { template } }, { type: 'merge' });
  await world.clock.advance(10_000);
  assert.equal(left, 0);
  assert.equal(count(calls, 'create pods'), 4, 'two, and two in their place at once: not after five minutes');
  assert.equal(world.set()?.status?.updatedNumberScheduled, 2);
});

test('a pod that came and went while the cache relisted is not waited for', async (t) => {
  const removed: string[] = [];
  let broken = false;
  const world = new SimWorld({ pace: { bindMs: () => 0, startMs: () => 500, endMs: () => 500 } });
  t.after(() => world.stop());
  world.addNodes('a', 'b');
  const process = world.start({
    call: async ({ verb, resource }, pass) => {
      if (verb !== 'create' || resource !== 'pods' || removed.length > 0) return pass();
      broken = true;
      const { metadata } = (await pass()) as KubeObject;
      world.api.hooks.storage.remove('/pods', `default/${metadata.name}`);
      removed.push(metadata.uid ?? '');
      return { metadata };
    },
    async *watch({ resource }, pass) {
      for await (const event of pass()) {
        if (resource === 'pods' && broken) {
          broken = false;
          throw apiErrorFrom({ method: 'GET', path: '/api/v1/pods', host: 'test' }, 410, '');
        }
        yield event;
      }
    },
  });
  await world.until(() => process.ready, 10_000);
  world.api.add(daemonSet('web'));
  await world.clock.advance(15_000);
  assert.equal(removed.length, 1);
  assert.equal(world.set()?.status?.numberAvailable, 2, 'and not after five minutes');
});

test('in a namespace that is terminating a pod is tried once, without an event, and again when what is expected expires', async (t) => {
  const causes = [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated', field: 'metadata.namespace' }];
  const no = { code: 403, reason: 'Forbidden', message: 'no', details: { causes } };
  const { world, calls } = await scene(t, '', (_, what) => {
    if (what === 'create pods') throw new ApiError({ method: 'POST', path: '/', host: 'test' }, no);
  });
  world.api.add(daemonSet('web'));
  await world.clock.advance(60_000);
  assert.equal(world.set()?.status?.observedGeneration, 1);
  await world.user.patch(daemonSets, { name: 'web', namespace: 'default' }, { spec: { minReadySeconds: 1 } }, { type: 'merge' });
  await world.clock.advance(60_000);
  assert.deepEqual([count(calls, 'create pods'), world.set()?.status?.observedGeneration], [1, 1]);
  await world.clock.advance(200_000);
  assert.deepEqual([count(calls, 'create pods'), world.set()?.status?.observedGeneration], [2, 2]);
  assert.deepEqual(
    world.api.hooks.storage.list('/events').objects.filter(({ reason }) => reason === 'FailedCreate'),
    [],
  );
});
