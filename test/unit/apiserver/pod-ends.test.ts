import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocalApiOptions } from '../../../apiserver/local-api.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

const pods: Resource = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const at = { name: 'web', namespace: 'default' };

function world(options: Partial<LocalApiOptions> = {}) {
  const clock = new FakeClock('2026-03-01T00:00:00Z');
  const api = localApi(clock, options);
  const client = localClient(api, { clock });
  const { storage } = api.hooks;
  const start = storage.version;
  return {
    clock,
    api,
    client,
    pod: ({ node, phase, ready, ...metadata }: { node?: string; phase?: string; ready?: boolean; finalizers?: string[] } = {}) => {
      const spec = { containers: [{ name: 'c', image: 'i' }], ...(node === undefined ? {} : { nodeName: node }) };
      const labels = { app: 'web' };
      const made = api.add({ apiVersion: 'v1', kind: 'Pod', metadata: { ...at, labels, ...metadata }, spec });
      const conditions = ready === true ? [{ type: 'Ready', status: 'True' }] : [];
      return phase === undefined ? made : storage.put('/pods', 'default/web', { ...made, status: { phase, conditions } });
    },
    budget: (name: string, status: object) => {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } };
      const made = api.add({ apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: { name, namespace: 'default' }, spec });
      return storage.put('policy/poddisruptionbudgets', `default/${name}`, { ...made, status: { observedGeneration: 1, ...status } });
    },
    remove: async (body: object = {}) => {
      await client.delete(pods, at, { body });
      const { metadata } = storage.get('/pods', 'default/web') ?? {};
      return metadata === undefined ? 'gone' : `${metadata.deletionGracePeriodSeconds} ${metadata.deletionTimestamp?.slice(14, 19)}`;
    },
    evict: (body: object = {}) =>
      client.post(pods, at, 'eviction', { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: at, ...body }),
    live: (): KubeObject | undefined => storage.get('/pods', 'default/web'),
    told: () =>
      (storage.log('/pods').after(start, 100) ?? [])
        .map(({ type, object }) => `${type} ${object.metadata.deletionGracePeriodSeconds ?? '-'}`)
        .join(', '),
  };
}

describe('deleting a pod', () => {
  const atOnce = [
    { why: 'that nobody has bound yet', as: {}, body: {} },
    { why: 'that failed', as: { node: 'a', phase: 'Failed' }, body: {} },
    { why: 'that succeeded', as: { node: 'a', phase: 'Succeeded' }, body: {} },
    { why: 'without grace', as: { node: 'a', phase: 'Running' }, body: { gracePeriodSeconds: 0 } },
  ];
  for (const { why, as, body } of atOnce) {
    test(`${why} marks it and takes it away in one step`, async () => {
      const { pod, remove, told } = world();
      pod(as);
      assert.equal(await remove(body), 'gone');
      assert.match(told(), /MODIFIED 0, DELETED 0$/);
    });
  }

  test('waits for the grace and for the finalizers, in either order', async () => {
    const { pod, remove, client, live } = world();
    const release = () => client.patch(pods, at, { metadata: { finalizers: null } }, { type: 'merge' });
    pod({ node: 'a', phase: 'Running', finalizers: ['test.io/a'] });
    await remove();
    assert.equal(await remove({ gracePeriodSeconds: 0 }), '0 00:00');
    await release();
    assert.equal(live(), undefined);
    pod({ node: 'a', phase: 'Running', finalizers: ['test.io/a'] });
    await remove();
    await release();
    assert.equal(live()?.metadata.deletionGracePeriodSeconds, 30);
    assert.equal(await remove({ gracePeriodSeconds: 0 }), 'gone');
  });

  test('is finished by nobody without a kubelet', async () => {
    const { pod, remove, clock, live } = world();
    pod({ node: 'a', phase: 'Running' });
    await remove();
    await clock.advance(3_600_000);
    assert.ok(live());
    assert.equal(clock.sleepers, 0);
  });

  test('is finished by a simulated kubelet: at once, or in its time', async () => {
    const instant = world({ podKubelet: 'instant' });
    instant.pod({ node: 'a', phase: 'Running' });
    await instant.remove();
    await atRest();
    assert.equal(instant.live(), undefined);
    const slow = world({ podKubelet: 3000 });
    slow.pod({ node: 'a', phase: 'Running' });
    await slow.remove();
    await slow.clock.advance(2999);
    assert.ok(slow.live());
    await slow.clock.advance(1);
    assert.equal(slow.live(), undefined);
  });

  test('leaves no timer of the simulated kubelet behind', async () => {
    const { pod, remove, clock, api } = world({ podKubelet: 3000 });
    pod({ node: 'a', phase: 'Running' });
    await remove();
    api.stop();
    await atRest();
    assert.equal(clock.sleepers, 0);
  });
});

// What the eviction contract plays on both servers is not repeated here.
describe('evicting a pod', () => {
  const running = { node: 'a', phase: 'Running', ready: true };
  const healthy = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 };

  test('is refused by a budget that is overdrawn', async () => {
    const { pod, budget, evict } = world();
    pod(running);
    budget('one', { ...healthy, disruptionsAllowed: -1 });
    await assert.rejects(evict(), { code: 429 });
  });

  test('asks no budget when the pod is terminating already', async () => {
    const { api, pod, budget, evict, remove } = world();
    pod(running);
    await remove();
    budget('one', { ...healthy, disruptionsAllowed: 0 });
    await evict();
    const { disruptedPods } = (api.hooks.storage.get('policy/poddisruptionbudgets', 'default/one')?.['status'] ?? {}) as {
      disruptedPods?: unknown;
    };
    assert.equal(disruptedPods, undefined);
  });

  test('takes the body of policy/v1 as well, and none of another kind', async () => {
    const { pod, evict, live } = world();
    pod(running);
    await assert.rejects(evict({ kind: 'Binding' }), { code: 400 });
    await evict({ apiVersion: 'policy/v1', deleteOptions: { gracePeriodSeconds: 0 } });
    assert.equal(live(), undefined);
  });
});
