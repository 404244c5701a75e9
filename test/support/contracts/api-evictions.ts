import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { byRelease, inOwnNamespace, isRefused, type ContractWorld, type ServerRelease } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { HttpAnswer, Loose } from '../api-http.ts';

/** Evictions, as whoever empties a node asks for them. No controller keeps the budgets: their status is what the tests say. */
export function evictionContract(here: () => ContractWorld, release: ServerRelease): void {
  inOwnNamespace(here, 'evictions', (namespace) => {
    const pods = (): string => `/api/v1/namespaces/${namespace()}/pods`;
    const policy = byRelease(release, 'policy/v1beta1', 'policy/v1');
    const budgets = (): string => `/apis/${policy}/namespaces/${namespace()}/poddisruptionbudgets`;

    /** @param phase - with 'Running' it is ready as well */
    const makePod = async (name: string, phase: 'Pending' | 'Running' | 'Failed' = 'Running'): Promise<Loose> => {
      const spec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'example/image' }], automountServiceAccountToken: false };
      const { code, json } = await here().api.post(pods(), { metadata: { name, labels: { app: name } }, spec });
      assert.equal(code, 201, text(json['message']));
      const target = { apiVersion: 'v1', kind: 'Node', name: 'contract-node' };
      const bound = await here().api.post(`${pods()}/${name}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target });
      assert.equal(bound.code, 201, bound.text);
      const conditions = phase === 'Running' ? [{ type: 'Ready', status: 'True' }] : [];
      assert.equal((await here().api.patch(`${pods()}/${name}/status`, { status: { phase, conditions } })).code, 200);
      return json;
    };
    const makeBudget = async (pod: string, disruptionsAllowed: number, name = pod): Promise<void> => {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: pod } } };
      const made = await here().api.post(budgets(), { metadata: { name }, spec });
      assert.equal(made.code, 201, made.text);
      const status = {
        observedGeneration: 1,
        disruptionsAllowed,
        currentHealthy: 1 + disruptionsAllowed,
        desiredHealthy: 1,
        expectedPods: 2,
      };
      const told = await here().api.patch(`${budgets()}/${name}/status`, { status });
      assert.equal(told.code, 200, told.text);
    };
    const evict = (name: string, { deleteOptions = {}, query = '', metadata = {} } = {}): Promise<HttpAnswer> =>
      here().api.post(`${pods()}/${name}/eviction${query}`, {
        apiVersion: policy,
        kind: 'Eviction',
        metadata: { name, ...metadata },
        deleteOptions,
      });
    const livePod = (name: string): Promise<HttpAnswer> => here().api.get(`${pods()}/${name}`);
    const statusOf = async (name: string): Promise<Loose | undefined> => (await here().api.get(`${budgets()}/${name}`)).json['status'];
    const now = { gracePeriodSeconds: 0 };
    // No kubelet ends them, and a namespace waits for its pods.
    afterEach(() => here().api.delete(pods(), now));

    test('an eviction that no budget minds is 201, and leaves the pod to its kubelet', async () => {
      await makePod('free');
      const done = await evict('free', { deleteOptions: { gracePeriodSeconds: 20 } });
      assert.equal(done.code, 201, done.text);
      assert.equal(done.json['kind'], 'Status');
      assert.equal(done.json['status'], 'Success');
      const { json } = await livePod('free');
      assert.equal(json['metadata']?.['deletionGracePeriodSeconds'], 20);
      assert.equal((await evict('free', { deleteOptions: now })).code, 201); // it goes already, and now at once
      assert.equal((await livePod('free')).code, 404);
      assert.equal((await evict('free')).code, 404);
    });

    test('discovery says which version of an eviction is posted', async () => {
      const { json } = await here().api.get('/api/v1');
      const found = Object.values(json['resources'] ?? {}).find((one) => text(one['name']) === 'pods/eviction');
      assert.deepEqual([found?.['group'], found?.['version']], policy.split('/'));
    });

    test('a budget counts who was evicted, and refuses the next', async () => {
      await makePod('counted');
      await makePod('kept');
      await here().api.patch(`${pods()}/kept`, { metadata: { labels: { app: 'counted' } } });
      await makeBudget('counted', 1);
      assert.equal((await evict('counted', { deleteOptions: now })).code, 201);
      const after = await statusOf('counted');
      assert.equal(after?.['disruptionsAllowed'], 0);
      assert.deepEqual(Object.keys(after['disruptedPods'] ?? {}), ['counted']);
      const refused = await evict('kept');
      assert.equal(refused.code, 429);
      const { reason, message, details } = refused.json;
      assert.equal(reason, 'TooManyRequests');
      assert.equal(message, "Cannot evict pod as it would violate the pod's disruption budget.");
      assert.deepEqual(details?.['causes'], [
        {
          reason: 'DisruptionBudget',
          message: byRelease(
            release,
            'The disruption budget counted needs 1 healthy pods and has 2 currently',
            'The disruption budget counted does not allow evicting pods currently',
          ),
        },
      ]);
      assert.equal((await livePod('kept')).json['metadata']?.['deletionTimestamp'], undefined);
    });

    test('a budget whose controller has not looked yet refuses, and so do two', async () => {
      await makePod('unseen');
      const spec = { minAvailable: 1, selector: { matchLabels: { app: 'unseen' } } };
      await here().api.post(budgets(), { metadata: { name: 'unseen' }, spec });
      const { code, json } = await evict('unseen');
      assert.equal(code, 429);
      assert.deepEqual(json['details']?.['causes'], [
        { reason: 'DisruptionBudget', message: 'The disruption budget unseen is still being processed by the server.' },
      ]);
      await makeBudget('unseen', 1, 'another');
      isRefused(await evict('unseen'), 500, /^This pod has more than one PodDisruptionBudget/);
    });

    test('pods that do not run yet, or no longer, are nothing to a budget', async () => {
      for (const phase of ['Pending', 'Failed'] as const) {
        const name = phase.toLowerCase();
        await makePod(name, phase);
        await makeBudget(name, 0);
        // With enough others healthy, one that is not ready would be free to go anyway.
        await here().api.patch(`${budgets()}/${name}/status`, { status: { currentHealthy: 0 } });
        const { code, text: said } = await evict(name, { deleteOptions: now });
        assert.equal(code, 201, said);
        assert.equal((await livePod(name)).code, 404);
        assert.equal((await statusOf(name))?.['disruptedPods'], undefined);
      }
    });

    test('a pod that is not ready is not refused while enough others are', async () => {
      await makePod('unready');
      const conditions = [{ type: 'Ready', status: 'False' }];
      await here().api.patch(`${pods()}/unready/status`, { status: { conditions } });
      await makeBudget('unready', 0);
      assert.equal((await evict('unready', { deleteOptions: now })).code, 201);
      assert.equal((await statusOf('unready'))?.['disruptedPods'], undefined);
    });

    test('a dry run says what would happen, and nothing does', async () => {
      await makePod('dry');
      await makeBudget('dry', 1);
      for (const asked of [{ query: '?dryRun=All' }, { deleteOptions: { dryRun: ['All'] } }]) {
        const { code, text: said } = await evict('dry', asked);
        assert.equal(code, 201, said);
      }
      const status = await statusOf('dry');
      assert.equal(status?.['disruptionsAllowed'], 1);
      assert.equal(status['disruptedPods'], undefined);
      assert.equal((await livePod('dry')).json['metadata']?.['deletionTimestamp'], undefined);
      await here().api.patch(`${budgets()}/dry/status`, { status: { disruptionsAllowed: 0 } });
      assert.equal((await evict('dry', { query: '?dryRun=All' })).code, 429);
    });

    test('of another pod under the same name it is 409, and of another name 400', async () => {
      const pod = await makePod('other');
      const wrong = await evict('other', { deleteOptions: { preconditions: { uid: 'not-it' } } });
      assert.equal(wrong.code, 409);
      assert.equal(wrong.json['reason'], 'Conflict');
      assert.equal((await evict('other', { metadata: { name: 'somebody' } })).code, 400);
      assert.equal((await livePod('other')).json['metadata']?.['deletionTimestamp'], undefined);
      const { uid } = pod['metadata'] ?? {};
      assert.equal((await evict('other', { deleteOptions: { ...now, preconditions: { uid } } })).code, 201);
      assert.equal((await livePod('other')).code, 404);
    });
  });
}
