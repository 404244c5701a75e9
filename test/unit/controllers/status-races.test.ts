import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { writeStatus } from '../../../controllers/common/set-writer.ts';
import { daemonSets, type KubeObject } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { apiErrorFrom } from '../../../kube/client/errors.ts';
import { daemonSet } from '../../support/simulated/sets.ts';
import { SimWorld } from '../../support/simulated/sim-world.ts';

interface Scene {
  world: SimWorld;
  /** Writes of the status that were begun. */
  writes: () => number;
  stored: () => KubeObject & { status?: Record<string, unknown> };
}

/** A DaemonSet on two nodes. @param first - before the first write of the status */
async function scene(t: TestContext, first: (stored: KubeObject) => KubeObject): Promise<Scene> {
  const world = new SimWorld({ pace: { bindMs: () => 0, startMs: () => 500, endMs: () => 500 } });
  t.after(() => world.stop());
  world.addNodes('a', 'b');
  const { storage } = world.api.hooks;
  const stored = (): KubeObject => storage.get('apps/daemonsets', 'default/web') ?? assert.fail();
  let writes = 0;
  const process = world.start({
    call: async ({ verb, resource }, pass) => {
      if (verb === 'replace' && resource === 'daemonsets/status' && writes++ === 0)
        storage.put('apps/daemonsets', 'default/web', first(stored()));
      return pass();
    },
  });
  await world.until(() => process.ready, 10_000);
  world.api.add(daemonSet('web'));
  return { world, writes: () => writes, stored };
}

test('a condition that somebody else writes at the same time is kept in the status', async (t) => {
  const condition = { type: 'Audited', status: 'True', reason: 'ByHand', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const { world, stored } = await scene(t, (set) => ({ ...set, status: { conditions: [condition] } }));
  await world.clock.advance(20_000);
  assert.equal(stored().status?.['numberAvailable'], 2);
  assert.deepEqual(stored().status?.['conditions'], [condition]);
});

test('a set of which something said once that it does not exist is reconciled again after a minute', async (t) => {
  const { world, writes, stored } = await scene(t, () => {
    throw apiErrorFrom({ method: 'PUT', path: '/', host: 'test' }, 404, '404 page not found');
  });
  await world.clock.advance(50_000);
  assert.equal(writes(), 1, 'it is believed for a while');
  await world.clock.advance(20_000);
  assert.equal(stored().status?.['numberAvailable'], 2);
});

test('the status of a set that is gone is not written on another of its name', async () => {
  const set = { metadata: { name: 'web', namespace: 'ns', uid: 'gone' }, status: {} };
  const written: (string | undefined)[] = [];
  const client = {
    replace: (_: unknown, { metadata }: KubeObject) => {
      written.push(metadata.uid);
      return Promise.reject(apiErrorFrom({ method: 'PUT', path: '/', host: 'test' }, 409, ''));
    },
    get: () => Promise.resolve({ ...set, metadata: { ...set.metadata, uid: 'another' } }),
  } as unknown as Client;
  const status = { client, resource: daemonSets, set, change: () => ({}), wrote: () => {} };
  assert.equal(await writeStatus(status, new AbortController().signal), false);
  assert.deepEqual(written, ['gone']);
});
