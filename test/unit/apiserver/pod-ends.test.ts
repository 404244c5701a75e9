import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocalApiOptions } from '../../../apiserver/local-api.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

const pods: Resource = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const budgets: Resource = {
  group: 'policy',
  version: 'v1beta1',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};
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
    evict: (body: object = {}, dryRun = false) =>
      client.post(pods, at, 'eviction', { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: at, ...body }, { dryRun }),
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

  test('that runs leaves it to its kubelet; again only shortens the wait, from the first delete on', async () => {
    const { pod, remove, clock } = world();
    pod({ node: 'a', phase: 'Running' });
    assert.equal(await remove(), '30 00:30');
    await clock.advance(2000);
    assert.equal(await remove({ gracePeriodSeconds: 60 }), '30 00:30');
    assert.equal(await remove({ gracePeriodSeconds: 5 }), '5 00:05');
    assert.equal(await remove({ gracePeriodSeconds: 20 }), '5 00:05');
    assert.equal(await remove({ gracePeriodSeconds: 0 }), 'gone');
  });

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

describe('evicting a pod', () => {
  const running = { node: 'a', phase: 'Running', ready: true };
  const healthy = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 };
  const spent = { ...healthy, disruptionsAllowed: 0 };
  const budgetOf = (api: ReturnType<typeof world>['api'], name = 'one') =>
    api.hooks.storage.get('policy/poddisruptionbudgets', `default/${name}`)?.['status'];

  test('deletes it where no budget says anything', async () => {
    const { pod, evict, live } = world();
    pod(running);
    assert.deepEqual(await evict(), { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    assert.equal(live()?.metadata.deletionGracePeriodSeconds, 30);
  });

  test('takes one from its budget, and writes the pod down there', async () => {
    const { api, pod, budget, evict } = world();
    pod(running);
    budget('one', healthy);
    await evict();
    assert.deepEqual(budgetOf(api), {
      observedGeneration: 1,
      ...healthy,
      disruptionsAllowed: 0,
      disruptedPods: { web: '2026-03-01T00:00:00Z' },
    });
  });

  test('is refused by a budget that has nothing left, in the words of a real server', async () => {
    const { pod, budget, evict, live } = world();
    pod(running);
    budget('one', spent);
    const message = 'The disruption budget one needs 1 healthy pods and has 2 currently';
    await assert.rejects(evict(), {
      code: 429,
      serverMessage: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes: [{ reason: 'DisruptionBudget', message }] },
    });
    assert.equal(live()?.metadata.deletionTimestamp, undefined);
  });

  const refused = [
    { why: 'its controller has not looked at it yet', status: { ...healthy, observedGeneration: 0 }, code: 429 },
    { why: 'it is overdrawn', status: { ...healthy, disruptionsAllowed: -1 }, code: 429 },
  ];
  for (const { why, status, code } of refused) {
    test(`is refused by a budget because ${why}`, async () => {
      const { pod, budget, evict } = world();
      pod(running);
      budget('one', status);
      await assert.rejects(evict(), { code });
    });
  }

  const free = [
    { why: 'it goes already', as: running, first: true },
    { why: 'it is pending', as: { node: 'a', phase: 'Pending' } },
    { why: 'it failed', as: { node: 'a', phase: 'Failed' } },
    { why: 'it is not ready, and enough others are', as: { node: 'a', phase: 'Running' } },
  ];
  for (const { why, as, first } of free) {
    test(`asks no budget when ${why}`, async () => {
      const { api, pod, budget, evict, remove } = world();
      pod(as);
      if (first) await remove();
      budget('one', spent);
      await evict();
      assert.deepEqual(budgetOf(api), { observedGeneration: 1, ...spent });
    });
  }

  test('is an error where two budgets select it', async () => {
    const { pod, budget, evict } = world();
    pod(running);
    budget('one', healthy);
    budget('two', healthy);
    await assert.rejects(evict(), { code: 500 });
  });

  test('heeds preconditions before it asks the budget, and does nothing in a dry run', async () => {
    const { api, pod, budget, evict, live } = world();
    pod(running);
    budget('one', healthy);
    await assert.rejects(evict({ deleteOptions: { preconditions: { uid: 'another' } } }), { code: 409 });
    await evict({}, true);
    await evict({ deleteOptions: { dryRun: ['All'] } });
    assert.deepEqual(budgetOf(api), { observedGeneration: 1, ...healthy });
    assert.equal(live()?.metadata.deletionTimestamp, undefined);
  });

  test('takes the body of policy/v1 as well, and none of another kind or name', async () => {
    const { pod, evict, live, client } = world();
    pod(running);
    await assert.rejects(evict({ kind: 'Binding' }), { code: 400 });
    await assert.rejects(evict({ metadata: { name: 'other' } }), { code: 400 });
    await assert.rejects(client.post(pods, { ...at, name: 'nobody' }, 'eviction', {}), { code: 404 });
    await evict({ apiVersion: 'policy/v1', deleteOptions: { gracePeriodSeconds: 0 } });
    assert.equal(live(), undefined);
  });

  test('budgets are found by the client under their own group', async () => {
    const { budget, client } = world();
    budget('one', healthy);
    assert.equal((await client.list(budgets)).items.length, 1);
  });
});
