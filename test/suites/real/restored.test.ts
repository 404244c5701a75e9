import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { SharedInformer } from '../../../kube/cache/shared-informer.ts';
import { configMaps, type KubeObject } from '../../../kube/api/object.ts';
import { eventually } from '../../support/eventually.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { withRealParts } from './suite.ts';

const namespace = 'default';
const release = await givenRelease();

await withRealParts(
  'etcd is restored from a backup while caches watch',
  ['etcd', 'kube-apiserver'],
  () => {
    for (const streams of [true, false])
      test(`a cache shows what there is now, though its versions are ahead of the server's (${streams ? 'streamed' : 'listed'})`, async (t) => {
        const plane = await startControlPlane({ release });
        const client = adminClient(plane);
        const ending = new AbortController();
        t.after(async () => {
          ending.abort();
          await client.close();
          await plane.stop();
        });
        const put = (name: string): Promise<KubeObject> =>
          client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }, { namespace });
        await put('before');
        await plane.backUp();
        const options = {
          resource: configMaps,
          selection: { namespace },
          client,
          clock: realClock,
          random: Math.random,
          log: silentLog,
          streams,
        };
        const cache = new SharedInformer<KubeObject>(options);
        void cache.run(ending.signal);
        await put('lost');
        // What the server writes by itself does not catch up with these for hours.
        for (let writes = 0; writes < 500; writes++)
          await client.patch(configMaps, { name: 'lost', namespace }, { data: { writes: String(writes) } }, { type: 'merge' });
        await eventually('the cache has it', async () => cache.get(`${namespace}/lost`));
        await plane.restore();
        await put('after');
        const names = (): string => {
          const all = cache.list(namespace).map(({ metadata: { name = '' } }) => name);
          return all.filter((name) => !name.startsWith('kube-root')).toSorted().join(' '); // prettier-ignore
        };
        const from = Date.now();
        await eventually('the cache has what there is', async () => names() === 'after before' || undefined, 90_000).catch(() => {});
        assert.equal(names(), 'after before');
        t.diagnostic(`${Date.now() - from} ms`);
      });
  },
  release,
);
