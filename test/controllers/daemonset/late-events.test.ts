import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { pinnedTo } from '../../../controllers/daemonset/pods.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { daemonSets } from '../../../kube/api/resources.ts';
import { apiErrorFrom } from '../../../kube/client/errors.ts';
import { daemonSet } from './live-world.ts';
import type { Interceptor } from './simulated/intercepted.ts';
import { SimWorld, type SimProcess } from './simulated/sim-world.ts';

/** Repetitions that do no harm are seen by nothing but counting. */

const LATE = 3_000;

interface Scene {
  world: SimWorld;
  process: SimProcess;
  calls: string[];
}

/** @param slow - of this kind every event comes late. @param write - in the place of the call */
async function scene(t: TestContext, slow: string, write?: (world: SimWorld, what: string) => void): Promise<Scene> {
  const world = new SimWorld({ pace: { bindMs: () => 0, startMs: () => 500, endMs: () => 500 } });
  t.after(() => world.stop());
  world.addNodes('a', 'b');
  const calls: string[] = [];
  const by: Interceptor = {
    call: (call, pass) => {
      const what = `${call.verb} ${call.resource}`;
      calls.push(what);
      write?.(world, what);
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
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pinnedTo('a') } };
  const metadata = { name: 'orphan', namespace: 'default', labels: { app: 'web' } };
  world.api.add({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { affinity, containers: [{ name: 'c', image: 'v0' }] } });
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

test('a pod that came and went while the cache listed anew is not waited for', async (t) => {
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
