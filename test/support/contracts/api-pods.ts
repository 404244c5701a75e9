import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRelease, type ContractWorld, type ServerRelease } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { HttpAnswer, Loose } from '../api-http.ts';

/** Pods as a scheduler and a kubelet write them. */
export function podContract(here: () => ContractWorld, release: ServerRelease): void {
  const pods = (): string => `/api/v1/namespaces/${here().namespace}/pods`;
  const make = async (name: string, metadata: object = {}): Promise<Loose> => {
    // Another scheduler's, so that none takes it.
    const spec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'example/image' }], automountServiceAccountToken: false };
    const { code, json } = await here().api.post(pods(), { metadata: { name, ...metadata }, spec });
    assert.equal(code, 201, text(json['message']));
    return json;
  };
  const bind = (name: string, { target = {}, metadata = {}, query = '' } = {}): Promise<HttpAnswer> =>
    here().api.post(`${pods()}/${name}/binding${query}`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, ...metadata },
      target: { apiVersion: 'v1', kind: 'Node', name: 'contract-node', ...target },
    });
  const remove = (name: string, gracePeriodSeconds = 0): Promise<HttpAnswer> =>
    here().api.delete(`${pods()}/${name}`, { gracePeriodSeconds });

  test('a binding that is taken says to which node; one of no pod is 404', async () => {
    await make('bound');
    assert.equal((await bind('bound', { query: '?dryRun=All' })).code, 201);
    assert.equal((await here().api.get(`${pods()}/bound`)).json['spec']?.['nodeName'], undefined);
    const done = await bind('bound', { metadata: { annotations: { 'example.com/score': '7' } } });
    assert.equal(done.json['status'], 'Success');
    assert.equal((await here().api.get(`${pods()}/bound`)).json['metadata']?.['annotations']?.['example.com/score'], '7');
    const again = await bind('bound', { target: { name: 'other' } });
    assert.equal(again.code, 409);
    assert.equal(again.json['reason'], 'Conflict');
    assert.equal(
      again.json['message'],
      'Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "contract-node"',
    );
    assert.equal((await bind('nothing')).code, 404);
    await remove('bound');
  });

  test('a binding to anything but a node with a name is refused', async () => {
    await make('unbound');
    for (const target of [{ kind: 'Pod' }, { name: '' }]) {
      const { code } = await bind('unbound', { target });
      assert.ok([422, 500].includes(code), `${code}`); // 1.20 calls its own error what is the caller's
    }
    assert.equal((await here().api.get(`${pods()}/unbound`)).json['spec']?.['nodeName'], undefined);
    await remove('unbound');
  });

  test('a binding of a pod that is going is 409', async () => {
    await make('late', { finalizers: ['example.com/hold'] });
    await remove('late');
    assert.equal((await bind('late')).code, 409);
    await here().api.patch(`${pods()}/late`, { metadata: { finalizers: null } });
  });

  test('status and spec do not write each other', async () => {
    const { api } = here();
    await make('parted');
    const path = `${pods()}/parted`;
    const report = await api.patch(`${path}/status`, {
      spec: { activeDeadlineSeconds: 7 },
      status: { phase: 'Running', podIP: '10.0.0.1' },
    });
    assert.equal(report.json['status']?.['phase'], 'Running');
    assert.equal(report.json['spec']?.['activeDeadlineSeconds'], undefined);
    const other = await api.patch(path, { spec: { activeDeadlineSeconds: 7 }, status: { phase: 'Failed' } });
    assert.equal(other.json['spec']?.['activeDeadlineSeconds'], 7);
    assert.equal(other.json['status']?.['phase'], 'Running');
    await remove('parted');
  });

  test('a generation counts changes of the spec and the first delete; no binding, no status', async () => {
    const { api } = here();
    const path = `${pods()}/counted`;
    const generation = ({ json }: { json: Loose }): unknown => json['metadata']?.['generation'];
    const seen = [generation({ json: await make('counted') })];
    await bind('counted');
    seen.push(generation(await api.get(path)));
    seen.push(generation(await api.patch(`${path}/status`, { status: { phase: 'Running' } })));
    seen.push(generation(await api.patch(path, { metadata: { labels: { a: 'b' } } })));
    seen.push(generation(await api.patch(path, { spec: { activeDeadlineSeconds: 7 } })));
    seen.push(generation(await remove('counted', 20)), generation(await remove('counted', 10)));
    const none = seen.map(() => undefined);
    assert.deepEqual(seen, byRelease<unknown[]>(release, none, [1, 1, 1, 1, 2, 3, 3]));
    await remove('counted');
  });

  test('a second delete can shorten the grace and not lengthen it', async () => {
    await make('graceful');
    await bind('graceful');
    const seconds = async (asked: number): Promise<unknown> =>
      (await remove('graceful', asked)).json['metadata']?.['deletionGracePeriodSeconds'];
    assert.equal(await seconds(20), 20);
    assert.equal(await seconds(25), 20);
    assert.equal(await seconds(10), 10);
    const wrong = await here().api.delete(`${pods()}/graceful`, { gracePeriodSeconds: 0, preconditions: { uid: 'other' } });
    assert.equal(wrong.code, 409);
    await remove('graceful');
    assert.equal((await here().api.get(`${pods()}/graceful`)).code, 404);
  });

  test('pods are selected by node and phase', async () => {
    await make('on-node');
    await make('nowhere');
    await bind('on-node');
    const found = async (selector: string): Promise<string[]> => {
      const { json } = await here().api.get(`${pods()}?fieldSelector=${encodeURIComponent(selector)}`);
      return Object.values(json['items'] ?? {}).map((pod) => text(pod['metadata']?.['name']));
    };
    assert.deepEqual(await found('spec.nodeName=contract-node,status.phase!=Failed'), ['on-node']);
    assert.deepEqual(await found('spec.nodeName='), ['nowhere']);
    assert.deepEqual(await found('status.phase=Pending,metadata.name!=nowhere'), ['on-node']);
    assert.deepEqual(await found('spec.schedulerName=nobody,spec.restartPolicy=Always'), ['nowhere', 'on-node']);
    for (const name of ['on-node', 'nowhere']) await remove(name);
  });
}
