import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { writeStatus } from '../../../controllers/common/set-writer.ts';
import { daemonSets, type KubeObject } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { apiErrorFrom } from '../../../kube/client/errors.ts';
import { daemonSet } from '../../support/simulated/sets.ts';
import { SimWorld } from '../../support/simulated/sim-world.ts';
import { simWorld, statefulSet } from './statefulset/simulated/world.ts';

const pace = { bindMs: () => 0, startMs: () => 500, endMs: () => 500 };

interface Subject {
  kind: string;
  /** Of the API, as in `replace daemonsets/status`. */
  resource: string;
  world: () => SimWorld;
  set: Record<string, unknown>;
  /** Counter of the status that is 2 in the end. */
  counter: string;
}
const subjects: Subject[] = [
  { kind: 'DaemonSet', resource: 'daemonsets', world: () => new SimWorld({ pace }), set: daemonSet('web'), counter: 'numberAvailable' },
  {
    kind: 'StatefulSet',
    resource: 'statefulsets',
    world: () => simWorld(pace),
    set: statefulSet('web', { replicas: 2 }),
    counter: 'readyReplicas',
  },
];

interface Scene {
  world: SimWorld;
  /** Writes of the status that were begun. */
  writes: () => number;
  stored: () => KubeObject & { status?: Record<string, unknown> };
}

/** @param first - before the first write of the status */
async function scene(
  t: TestContext,
  { world: newWorld, resource, set }: Subject,
  first: (stored: KubeObject) => KubeObject,
): Promise<Scene> {
  const world = newWorld();
  t.after(() => world.stop());
  world.addNodes('a', 'b');
  const { storage } = world.api.hooks;
  const stored = (): KubeObject => {
    const found = storage.get(`apps/${resource}`, 'default/web');
    assert.ok(found);
    return found;
  };
  let writes = 0;
  const process = world.start({
    call: async (call, pass) => {
      if (call.verb === 'replace' && call.resource === `${resource}/status` && writes++ === 0)
        storage.put(`apps/${resource}`, 'default/web', first(stored()));
      return pass();
    },
  });
  await world.until(() => process.ready, 10_000);
  world.api.add(set);
  return { world, writes: () => writes, stored };
}

for (const subject of subjects) {
  const { kind, counter } = subject;

  test(`a condition that somebody else writes at the same time is kept in the status of a ${kind}`, async (t) => {
    const condition = { type: 'Audited', status: 'True', reason: 'ByHand', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const { world, stored } = await scene(t, subject, (set) => ({ ...set, status: { replicas: 0, conditions: [condition] } }));
    await world.clock.advance(20_000);
    assert.equal(stored().status?.[counter], 2);
    assert.deepEqual(stored().status?.['conditions'], [condition]);
  });

  test(`a ${kind} of which something said once that it does not exist is reconciled again after a minute`, async (t) => {
    const { world, writes, stored } = await scene(t, subject, () => {
      throw apiErrorFrom({ method: 'PUT', path: '/', host: 'test' }, 404, '404 page not found');
    });
    await world.clock.advance(50_000);
    assert.equal(writes(), 1, 'it is believed for a while');
    await world.clock.advance(20_000);
    assert.equal(stored().status?.[counter], 2);
  });
}

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
