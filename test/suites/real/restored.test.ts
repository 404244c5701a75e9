import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
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
    test("caches show what there is now, though their versions are ahead of the server's", async (t) => {
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
      const options = { resource: configMaps, selection: { namespace }, client, clock: realClock, random: Math.random, log: silentLog };
      const caches = [true, false].map((streams) => new SharedInformer<KubeObject>({ ...options, streams }));
      for (const cache of caches) void cache.run(ending.signal);
      await put('lost');
      // What the server writes by itself does not catch up with these for hours.
      for (let writes = 0; writes < 500; writes++)
        await client.patch(configMaps, { name: 'lost', namespace }, { data: { writes: String(writes) } }, { type: 'merge' });
      for (const cache of caches) await eventually('the cache has it', async () => cache.get(`${namespace}/lost`));
      await plane.restore();
      await put('after');
      const names = (cache: SharedInformer<KubeObject>): string => {
        const all = cache.list(namespace).map(({ metadata: { name = '' } }) => name);
        return all.filter((name) => !name.startsWith('kube-root')).toSorted().join(' '); // prettier-ignore
      };
      const seen = (): string[] => caches.map(names);
      const expected = ['after before', 'after before'];
      const from = Date.now();
      await eventually('both have what there is', async () => isDeepStrictEqual(seen(), expected) || undefined, 90_000).catch(() => {});
      assert.deepEqual(seen(), expected, 'streamed, and listed');
      t.diagnostic(`${Date.now() - from} ms`);
    });
  },
  release,
);
