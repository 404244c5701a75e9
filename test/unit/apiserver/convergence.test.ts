import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFaults } from '../../../apiserver/faults/fault.ts';
import { createLocalApi } from '../../../apiserver/local-api.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { localClient } from '../../support/embedded-api.ts';

/*
 * A watcher as simple as one can be that heeds what the API promises: whatever the faults do, it must end up with what the server has. So the faults
 * break connections and patience, and no promise.
 */
const faults = [
  { verb: '*', resource: '*', fault: 'drop', probability: 0.02 },
  { verb: '*', resource: '*', fault: 'reset', probability: 0.01 },
  { verb: '*', resource: '*', fault: 'half', probability: 0.05 },
  { verb: '*', resource: '*', fault: 'truncate', probability: 0.02 },
  { verb: 'watch', resource: '*', fault: 'gone', probability: 0.05 },
  { verb: '*', resource: '*', status: 503, probability: 0.02 },
  { verb: '*', resource: '*', fault: 'stale', versions: 20, probability: 0.5 },
  { verb: 'watch', resource: '*', fault: 'reorder', probability: 0.1 },
  { verb: 'watch', resource: '*', fault: 'duplicate', probability: 0.1 },
  { verb: 'watch', resource: '*', fault: 'early-gone', probability: 0.02 },
];

const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);

async function follow(client: Client, seen: Map<string, KubeObject>, signal: AbortSignal): Promise<void> {
  let at = '0';
  let newest = 0;
  while (!signal.aborted) {
    try {
      // Of any version at first, later never older than what was seen: a replica may lag.
      const list = await client.list(configMaps, { resourceVersion: at, resourceVersionMatch: 'NotOlderThan' }, { signal });
      seen.clear();
      for (const item of list.items) seen.set(item.metadata.name ?? '', item);
      newest = Math.max(newest, Number(list.metadata.resourceVersion));
      at = String(newest);
      for (;;) {
        const gone = new Map<string, number>();
        for await (const { type, object } of client.watch(configMaps, { resourceVersion: at }, signal)) {
          const name = object.metadata.name ?? '';
          const known = seen.get(name);
          if (type !== 'BOOKMARK' && versionOf(object) > Math.max(known ? versionOf(known) : 0, gone.get(name) ?? 0)) {
            if (type === 'DELETED') {
              seen.delete(name);
              gone.set(name, versionOf(object));
            } else seen.set(name, object);
          }
          newest = Math.max(newest, versionOf(object));
          at = String(newest);
        }
      }
    } catch {
      // The list begins anew.
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`who heeds the promises of the API sees in the end what there is, whatever goes wrong (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const clock = new FakeClock();
    const api = createLocalApi({ clock, random, log: silentLog, faults: parseFaults(faults), watchWindow: 40 });
    const client = localClient(api, { clock, random });
    const seen = new Map<string, KubeObject>();
    const stop = new AbortController();
    const following = follow(client, seen, stop.signal);
    const { storage } = api.hooks;
    for (let change = 0; change < 400; change++) {
      const name = `n${Math.floor(random() * 12)}`;
      if (random() < 0.3) storage.remove('/configmaps', `default/${name}`);
      else storage.put('/configmaps', `default/${name}`, { metadata: { name, namespace: 'default' }, data: { change: String(change) } });
      if (random() < 0.3) await atRest();
      if (random() < 0.01) api.hooks.compact();
      if (random() < 0.01) api.hooks.dropConnections();
    }
    api.hooks.setFaults([]);
    for (let turn = 0; turn < 5; turn++) await atRest();
    const there = storage.list('/configmaps').objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
    assert.deepEqual([...seen.values()].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted(), there.toSorted());
    stop.abort();
    await following;
    assert.equal(clock.sleepers, 0);
  });
}
