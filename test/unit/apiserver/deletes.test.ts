import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocalApiOptions } from '../../../apiserver/local-api.ts';
import { configMaps, pods, type KubeObject, type OwnerReference } from '../../../kube/api/object.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

const at = { name: 'web', namespace: 'default' };

function world(options: Partial<LocalApiOptions> = {}) {
  const clock = new FakeClock('2026-03-01T00:00:00Z');
  const api = localApi(clock, options);
  const client = localClient(api, { clock });
  return { clock, api, client, storage: api.hooks.storage };
}

describe('deleting a pod', () => {
  const kubelets: { options: Partial<LocalApiOptions>; lives?: number; gone?: number }[] = [
    { options: {}, lives: 3_600_000 },
    { options: { podKubelet: 'instant' }, gone: 0 },
    { options: { podKubelet: 3000 }, lives: 2999, gone: 1 },
  ];
  for (const { options, lives, gone } of kubelets)
    test(`is finished by nobody but a simulated kubelet, in its time: ${JSON.stringify(options)}`, async () => {
      const { client, storage, clock, api } = world(options);
      const live = () => storage.get('/pods', 'default/web');
      const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: 'a' };
      const removed = (body: object = {}) => {
        const made = api.add({ apiVersion: 'v1', kind: 'Pod', metadata: at, spec });
        storage.put('/pods', 'default/web', { ...made, status: { phase: 'Running' } });
        return client.delete(pods, at, { body });
      };
      await removed();
      await clock.advance(lives ?? 0);
      if (lives !== undefined) assert.ok(live());
      if (gone !== undefined) {
        await clock.advance(gone);
        assert.equal(live(), undefined);
        await removed({ gracePeriodSeconds: 0 });
        assert.deepEqual([live(), clock.sleepers], [undefined, 0], 'a forced deletion waits for no kubelet');
        await removed();
      }
      api.stop();
      await atRest();
      assert.equal(clock.sleepers, 0, 'it leaves no timer behind');
    });
});

test('a pod that a simulated kubelet cannot remove is an error in the log, and the server goes on', async () => {
  const { log, lines } = recordedLog();
  const { client, storage, clock, api } = world({ podKubelet: 'instant', log });
  api.add({ apiVersion: 'v1', kind: 'Pod', metadata: at, spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'a' } });
  storage.put('/pods', 'default/web', { ...storage.get('/pods', 'default/web'), status: { phase: 'Running' } } as KubeObject);
  storage.onChange((_, { type }) => assert.notEqual(type, 'DELETED'));
  await client.delete(pods, at);
  await clock.advance(1_000);
  assert.ok(lines.includes('error: failed to finish deleted pod'));
});

describe('what an owner leaves behind', () => {
  const to = ({ metadata: { name = '', uid = '' } }: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }); // prettier-ignore
  function withOwners(options: Partial<LocalApiOptions> = {}) {
    const { client, storage, api } = world(options);
    return {
      add: (name: string, owners: readonly OwnerReference[] = [], metadata: object = {}): KubeObject => {
        const ownerReferences = owners.length === 0 ? {} : { ownerReferences: owners };
        return api.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...ownerReferences, ...metadata } });
      },
      patch: (name: string, metadata: object) => client.patch(configMaps, { namespace: 'default', name }, { metadata }, { type: 'merge' }),
      remove: async (name: string, propagationPolicy: string) => {
        await client.delete(configMaps, { namespace: 'default', name }, { body: { propagationPolicy } });
        return storage.get('/configmaps', `default/${name}`)?.metadata.finalizers;
      },
      /** Who is left when all is settled. */
      left: async (): Promise<string> => {
        await api.hooks.settled();
        return storage.list('/configmaps').objects.map(({ metadata }) => metadata.name).join(' '); // prettier-ignore
      },
    };
  }

  test('does not hold it in the foreground where it does not block it', async () => {
    const { add, remove, left } = withOwners();
    add('child', [to(add('owner'))], { finalizers: ['test.io/held'] });
    await remove('owner', 'Foreground');
    assert.equal(await left(), 'child');
  });

  test('stays when its owner is of a kind that is not served, and goes when there never was one in its namespace', async () => {
    const { add, left, patch } = withOwners();
    const owner = add('owner');
    add('of-another-kind', [to(owner, { apiVersion: 'example.com/v1', kind: 'Thing' })]);
    add('elsewhere', [to(add('there', [], { namespace: 'kube-system' }))]);
    add('taken');
    await patch('taken', { ownerReferences: [to(owner, { uid: 'gone' })] });
    assert.equal(await left(), 'of-another-kind owner there');
  });

  test('is left alone when the collector is off; the last way of propagation that was asked for is remembered', async () => {
    const { add, remove, left } = withOwners({ garbageCollection: false });
    add('child', [to(add('a', [], { finalizers: ['test.io/held'] }))]);
    assert.deepEqual(await remove('a', 'Foreground'), ['test.io/held', 'foregroundDeletion']);
    assert.deepEqual(await remove('a', 'Orphan'), ['test.io/held', 'orphan']);
    assert.deepEqual(await remove('a', 'Background'), ['test.io/held']);
    assert.equal(await left(), 'a child');
  });
});
