import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { nodes, type KubeObject, type Resource } from '../../../../kube/api/object.ts';
import { type Informer, type Lister, objectKey } from '../../../../kube/cache/contract.ts';
import { Informers } from '../../../../kube/cache/informers.ts';
import { type Controller, done } from '../../../../kube/controller/controller.ts';
import { runController } from '../../../../kube/controller/run-controller.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const sets: Resource = { group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet', namespaced: true };
const revisions: Resource = { ...sets, resource: 'controllerrevisions', kind: 'ControllerRevision' };
const pods: Resource = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const ownedBy = (name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: `u-${name}`, controller: true }],
});

/** A controller like the DaemonSet's on the embedded server: sets, their pods, nodes that concern every set, revisions that enqueue nobody. */
function cluster(t: TestContext) {
  const clock = new FakeClock();
  const api = localApi(clock, { garbageCollection: false });
  const client = localClient(api, { clock });
  const informers = new Informers({ client, clock, random: seededRandom(1), log: silentLog });
  const queue = new WorkQueue('daemonset', { clock });
  const { log, lines } = recordedLog();
  const told: string[] = [];
  const tell = (what: string) => (key: string, uid?: string) => void told.push(`${what} ${uid === undefined ? '' : `${uid} of `}${key}`);
  const primary = informers.of(sets);
  const ownedPods = {
    of: informers.of(pods),
    matching: (_orphan: KubeObject, owners: Lister<KubeObject>) => owners.list('ns').map(objectKey),
    expectations: { creationSeen: tell('created'), deletionSeen: tell('deleted') },
    again: (_owner: KubeObject, _before: KubeObject, after: KubeObject) => (after['ready'] === true ? 10_000 : undefined),
  };
  const controller: Controller<KubeObject> = {
    name: 'daemonset',
    primary,
    owns: [ownedPods],
    reads: [{ of: informers.of(nodes), mapFunc: () => [{ key: 'ns/a', limited: true }] }, { of: informers.of(revisions) }],
    gone: tell('forget'),
    reconcile: async (key) => (tell('reconcile')(key), done),
  };
  const [stop, over] = [new AbortController(), new AbortController()];
  const caches = informers.run(over.signal);
  const ended = runController(controller, { queue, workers: 1, log, clock }, stop.signal);
  t.after(async () => {
    for (const end of [stop, over]) end.abort();
    await Promise.all([caches, ended]);
    await client.close();
    assert.equal(clock.sleepers, 0);
  });
  const keyOf = (name: string, { namespaced }: Resource): string => (namespaced ? `ns/${name}` : name);
  const put = (kind: Resource, name: string, metadata: Partial<KubeObject['metadata']> = {}, more: object = {}) => {
    const namespace = kind.namespaced ? { namespace: 'ns' } : {};
    api.hooks.storage.put(`${kind.group}/${kind.resource}`, keyOf(name, kind), { metadata: { ...namespace, name, uid: `u-${name}`, ...metadata }, ...more }); // prettier-ignore
  };
  const remove = (kind: Resource, name: string) => api.hooks.storage.remove(`${kind.group}/${kind.resource}`, keyOf(name, kind));
  /** What happened since it was last asked. */
  const news = async (ms = 0): Promise<string> => {
    await clock.advance(ms);
    await atRest();
    return told.splice(0).join(', ');
  };
  return { api, queue, lines, stop, ended, put, remove, news };
}

test('nothing is reconciled before every cache has synced, those included that enqueue nobody', async (t) => {
  const { api, put, news, lines } = cluster(t);
  api.hooks.setFaults(parseFaults([{ verb: '*', resource: 'controllerrevisions', status: 500 }]));
  put(sets, 'a');
  put(sets, 'b');
  put(pods, 'p', ownedBy('b'));
  assert.equal(await news(60_000), 'created u-p of ns/b', 'what is expected is seen at once');
  assert.deepEqual(lines, []);
  api.hooks.setFaults([]);
  assert.equal(await news(60_000), 'reconcile ns/a, reconcile ns/b');
  assert.deepEqual(lines, ['info: controller started']);
});

test('each change reaches those it concerns', async (t) => {
  const { put, remove, news } = cluster(t);
  await news();
  put(sets, 'a');
  assert.equal(await news(), 'reconcile ns/a');
  put(pods, 'p', ownedBy('a'));
  assert.equal(await news(), 'created u-p of ns/a, reconcile ns/a');
  put(pods, 'p', ownedBy('a'), { ready: true });
  assert.equal(await news(9_999), 'reconcile ns/a');
  assert.equal(await news(1), 'reconcile ns/a', 'ten seconds after it became ready');
  put(pods, 'p', { ...ownedBy('a'), deletionTimestamp: '2026-01-01T00:00:00Z' });
  assert.equal(await news(), 'deleted u-p of ns/a, reconcile ns/a');
  remove(pods, 'p');
  assert.equal(await news(), 'deleted u-p of ns/a, reconcile ns/a');
  put(nodes, 'n1');
  assert.equal(await news(4), '');
  assert.equal(await news(1), 'reconcile ns/a', 'after its first backoff');
  remove(sets, 'a');
  assert.equal(await news(), 'forget ns/a, reconcile ns/a');
});

test('no key is reconciled in the middle of a relist, and a process that ends there waits for nobody', async () => {
  let relist = Promise.withResolvers<void>();
  const primary = {
    settled: false,
    whenSynced: () => Promise.resolve(),
    whenSettled: (signal: AbortSignal) =>
      Promise.race([relist.promise, new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))]),
    addHandlers: () => ({ synced: true, remove: () => {} }),
  };
  const [clock, stop, seen] = [new FakeClock(), new AbortController(), [] as string[]];
  const queue = new WorkQueue('daemonset', { clock });
  const reconcile = async (key: string) => (seen.push(key), done);
  const controller = { name: 'daemonset', primary: primary as unknown as Informer<KubeObject>, reconcile };
  const ended = runController(controller, { queue, workers: 1, log: silentLog, clock }, stop.signal);
  queue.add('ns/a');
  await atRest();
  assert.deepEqual(seen, []);
  primary.settled = true;
  relist.resolve();
  await atRest();
  assert.deepEqual(seen, ['ns/a']);
  primary.settled = false;
  relist = Promise.withResolvers();
  queue.add('ns/b');
  await atRest();
  stop.abort();
  await ended;
  assert.deepEqual([seen, clock.sleepers], [['ns/a'], 0]);
});
