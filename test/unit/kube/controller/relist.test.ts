import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { SharedInformer } from '../../../../kube/cache/shared-informer.ts';
import { done } from '../../../../kube/controller/controller.ts';
import { runController } from '../../../../kube/controller/run-controller.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { ScriptedApi } from '../cache/scripted-api.ts';
import { pods } from '../cache/informer-world.ts';

const COUNT = 12_000;

/** All pods of a cluster, each of the same uid. */
const all = (uid: number, version: number): string => Array.from({ length: COUNT }, (_, n) => `p${n}#${uid}@${version}`).join(' ');

/** The first that a relist changes, and the last. */
const ends = ['ns/p0', `ns/p${COUNT - 1}`];

/** A cache that lists other pods under the same names once `relist` is called, and a controller that writes down what it sees of it. */
function world() {
  const clock = new FakeClock();
  const { log } = recordedLog();
  const api = new ScriptedApi(`list 5: ${all(1, 3)}`, 'fail 410', `list 9: ${all(2, 8)}`, 'watch hold');
  const informer = new SharedInformer<KubeObject>({ resource: pods, client: api.client, clock, random: () => 0, log, streams: false });
  const seen = new Set<string>();
  const queue = new WorkQueue('pods', { clock });
  const reconcile = async () => {
    const uids = new Set(ends.map((key) => informer.get(key)?.metadata.uid));
    seen.add(`uid ${[...uids].join(' and ')}`);
    return done;
  };
  const stop = new AbortController();
  const controller = { name: 'pods', primary: informer, reconcile };
  const ended: Promise<unknown>[] = [informer.run(stop.signal)];
  return {
    informer,
    seen,
    queue,
    stop,
    ended,
    clock,
    control: () => runController(controller, { queue, workers: 2, log, clock }, stop.signal),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a controller at work never sees the middle of a relist that takes many turns', async () => {
  const { informer, seen, queue, control, stop, ended, clock } = world();
  ended.push(control());
  await informer.whenSynced(stop.signal);
  let between = 0;
  for (let turns = 0; turns < 10_000 && informer.version !== '9'; turns++) {
    queue.add(`ns/p${turns % 7}`);
    await turn();
    if (!informer.settled) between += 1;
  }
  assert.ok(between > 0, 'the relist was applied in one turn');
  await atRest();
  assert.deepEqual([...seen], ['uid 1', 'uid 2']);
  stop.abort();
  await Promise.all(ended);
  assert.equal(clock.sleepers, 0);
});
