import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { nodes, type KubeObject, type Resource } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import type { Controller } from '../../../../kube/controller/controller.ts';
import { done } from '../../../../kube/controller/outcome.ts';
import { runController } from '../../../../kube/controller/run-controller.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { FakeInformer } from './fake-informer.ts';

const sets: Resource = { group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet', namespaced: true };
const pods: Resource = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };

let versions = 0;
const made = (name: string, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  metadata: { namespace: 'ns', name, uid: `u-${name}`, resourceVersion: String((versions += 1)), ...more },
});
const ownedBy = (name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: `u-${name}`, controller: true }],
});

/** A controller like the DaemonSet's: sets, their pods, and nodes that concern every set. */
function cluster(t: TestContext) {
  const clock = new FakeClock();
  const queue = new WorkQueue('daemonset', { clock });
  const { log, lines } = recordedLog();
  const told: string[] = [];
  const of = {
    sets: new FakeInformer(sets),
    pods: new FakeInformer(pods),
    nodes: new FakeInformer(nodes),
    revisions: new FakeInformer(pods),
  };
  const controller: Controller<KubeObject> = {
    name: 'daemonset',
    primary: of.sets,
    owns: [
      {
        of: of.pods,
        matching: (_orphan, owners) => owners.list('ns').map(objectKey),
        expectations: {
          creationSeen: (key, uid) => told.push(`created ${uid} of ${key}`),
          deletionSeen: (key, uid) => told.push(`deleted ${uid} of ${key}`),
        },
        again: (_owner, _before, after) => (after['ready'] === true ? 10_000 : undefined),
      },
    ],
    reads: [
      {
        of: of.nodes,
        mapFunc: ({ do: what }, owners) => (what === 'delete' ? owners.list().map(objectKey) : [{ key: 'ns/a', limited: true }]),
      },
      { of: of.revisions },
    ],
    gone: (key) => told.push(`forget ${key}`),
    reconcile: async (key) => {
      told.push(`reconcile ${key}`);
      return done;
    },
  };
  const stop = new AbortController();
  const ended = runController(controller, { queue, workers: 1, log, clock }, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    assert.equal(clock.sleepers, 0);
    for (const informer of Object.values(of)) assert.equal(informer.listeners, 0);
  });
  /** What happened since it was last asked. */
  const news = async (ms = 0): Promise<string[]> => {
    await clock.advance(ms);
    return told.splice(0);
  };
  const sync = (): void => Object.values(of).forEach((informer) => informer.finishList());
  return { ...of, clock, queue, lines, stop, ended, news, sync };
}

test('nothing is reconciled before every cache has synced, those included that wake nobody', async (t) => {
  const { sets, pods, nodes, revisions, news, lines } = cluster(t);
  sets.put(made('a'));
  for (const informer of [sets, pods, nodes]) informer.finishList();
  assert.deepEqual(await news(60_000), []);
  assert.deepEqual(lines, []);
  revisions.finishList();
  assert.deepEqual(await news(), ['reconcile ns/a']);
  assert.deepEqual(lines, ['info: controller runs']);
});

test('caches that have long been running are told from the start', async (t) => {
  const { sets, pods, sync, news } = cluster(t);
  sets.put(made('a'));
  sets.put(made('b'));
  pods.put(made('p', ownedBy('b')));
  sync();
  assert.deepEqual(await news(), ['created u-p of ns/b', 'reconcile ns/a', 'reconcile ns/b']);
});

test('each change reaches those it concerns', async (t) => {
  const { sets, pods, nodes, sync, news } = cluster(t);
  sync();
  const a = made('a');
  sets.put(a);
  assert.deepEqual(await news(), ['reconcile ns/a']);
  sets.put(a);
  assert.deepEqual(await news(), ['reconcile ns/a'], 'a resync');
  pods.put(made('p', ownedBy('a')));
  assert.deepEqual(await news(), ['created u-p of ns/a', 'reconcile ns/a']);
  pods.put({ ...made('p', ownedBy('a')), ready: true });
  assert.deepEqual(await news(9_999), ['reconcile ns/a']);
  assert.deepEqual(await news(1), ['reconcile ns/a'], 'ten seconds after it became ready');
  pods.put(made('p', { ...ownedBy('a'), deletionTimestamp: '2026-01-01T00:00:00Z' }));
  assert.deepEqual(await news(), ['deleted u-p of ns/a', 'reconcile ns/a']);
  pods.remove('ns/p');
  assert.deepEqual(await news(), ['deleted u-p of ns/a', 'reconcile ns/a']);
  pods.put(made('orphan'));
  assert.deepEqual(await news(), ['deleted u-orphan of ns/a', 'reconcile ns/a'], 'it need not be looked out for');
  nodes.put(made('n1', { namespace: '' }));
  assert.deepEqual(await news(4), []);
  assert.deepEqual(await news(1), ['reconcile ns/a'], 'after its first backoff');
  nodes.remove('n1');
  assert.deepEqual(await news(), ['reconcile ns/a']);
  sets.remove('ns/a');
  assert.deepEqual(await news(), ['forget ns/a', 'reconcile ns/a']);
});

test('stopped before it synced: it ends, and listens to nothing', async (t) => {
  const { queue, stop, ended, sets, news } = cluster(t);
  sets.put(made('a'));
  stop.abort();
  await ended;
  assert.deepEqual(await news(), []);
  assert.equal(sets.listeners, 0);
  assert.equal(queue.isShutDown, true);
});

test('stopped: it ends without a sleep or a listener left', async (t) => {
  const { clock, queue, stop, ended, sets, pods, sync, news, lines } = cluster(t);
  sync();
  sets.put(made('a'));
  pods.put(made('p', ownedBy('a')));
  pods.put({ ...made('p', ownedBy('a')), ready: true });
  await news();
  assert.equal(queue.delayed, 1);
  stop.abort();
  await ended;
  await atRest();
  assert.deepEqual([clock.sleepers, queue.delayed, sets.listeners, pods.listeners], [0, 0, 0, 0]);
  assert.deepEqual(lines, ['info: controller runs', 'info: controller has stopped']);
});
