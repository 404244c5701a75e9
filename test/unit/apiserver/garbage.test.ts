import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocalApiOptions } from '../../../apiserver/local-api.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { KubeObject, OwnerReference } from '../../../kube/api/object.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

function world(options: Partial<LocalApiOptions> = {}) {
  const clock = new FakeClock();
  const api = localApi(clock, options);
  const client = localClient(api, { clock });
  const { storage } = api.hooks;
  const start = storage.version;
  const add = (name: string, owners: readonly OwnerReference[] = [], metadata: object = {}): KubeObject => {
    const ownerReferences = owners.length === 0 ? {} : { ownerReferences: owners };
    return api.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...ownerReferences, ...metadata } });
  };
  return {
    storage,
    add,
    remove: (name: string, body: object = {}) => client.delete(configMaps, { namespace: 'default', name }, { body }),
    patch: (name: string, metadata: object) => client.patch(configMaps, { namespace: 'default', name }, { metadata }, { type: 'merge' }),
    /** Who is left when all is settled. */
    left: async (): Promise<string> => {
      await api.hooks.settled();
      return storage
        .list('/configmaps')
        .objects.map(({ metadata }) => metadata.name)
        .join(' ');
    },
    get: (name: string) => storage.get('/configmaps', `default/${name}`)?.metadata,
    /** Every change since the start: `+a`, `~a`, `-a`. */
    told: () =>
      (storage.log('/configmaps').after(start, 1000) ?? [])
        .map(({ type, object }) => `${{ ADDED: '+', MODIFIED: '~', DELETED: '-' }[type]}${object.metadata.name}`)
        .join(' '),
  };
}

const to = ({ metadata: { name = '', uid = '' } }: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid,
  ...more,
});

describe('what an owner leaves behind', () => {
  test('does not hold it in the foreground where it does not block it', async () => {
    const { add, remove, left } = world();
    add('child', [to(add('owner'))], { finalizers: ['test.io/held'] });
    await remove('owner', { propagationPolicy: 'Foreground' });
    assert.equal(await left(), 'child');
  });

  test('goes in the foreground level by level', async () => {
    const { add, remove, left, told } = world();
    const child = add('child', [to(add('owner'), { blockOwnerDeletion: true })]);
    add('grandchild', [to(child, { blockOwnerDeletion: true })]);
    await remove('owner', { propagationPolicy: 'Foreground' });
    assert.equal(await left(), '');
    assert.match(told(), /-grandchild.* -child.* -owner$/);
  });

  test('stays when its owner is of a kind that is not served', async () => {
    const { add, left } = world();
    add('a', [to(add('owner'), { apiVersion: 'example.com/v1', kind: 'Thing' })]);
    assert.equal(await left(), 'a owner');
  });

  test('goes when its owner lives in another namespace: nobody is there under that name', async () => {
    const { add, left } = world();
    add('child', [to(add('owner', [], { namespace: 'kube-system' }))]);
    assert.equal(await left(), 'owner');
  });

  test('goes when an owner is taken from it that does not come back', async () => {
    const { add, left, patch } = world();
    add('child');
    await patch('child', { ownerReferences: [to(add('owner'), { uid: 'gone' })] });
    assert.equal(await left(), 'owner');
  });

  test('is nobody’s business when the collector is off, but finalizers are set all the same', async () => {
    const { add, remove, left, get } = world({ garbageCollection: false });
    add('child', [to(add('owner'))]);
    await remove('owner', { propagationPolicy: 'Foreground' });
    assert.equal(await left(), 'child owner');
    assert.deepEqual(get('owner')?.finalizers, ['foregroundDeletion']);
  });
});

describe('a delete in one way of propagation', () => {
  test('takes the place of an earlier one', async () => {
    const { add, remove, get } = world({ garbageCollection: false });
    add('a', [], { finalizers: ['test.io/held'] });
    const finalizers = async (propagationPolicy: string) => {
      await remove('a', { propagationPolicy });
      return get('a')?.finalizers;
    };
    assert.deepEqual(await finalizers('Foreground'), ['test.io/held', 'foregroundDeletion']);
    assert.deepEqual(await finalizers('Orphan'), ['test.io/held', 'orphan']);
    assert.deepEqual(await finalizers('Background'), ['test.io/held']);
  });
});
