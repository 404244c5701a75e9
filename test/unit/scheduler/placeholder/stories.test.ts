import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ApiError } from '../../../../kube/client/errors.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import type { Interceptor, SeenCall } from '../../../support/simulated/intercepted.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';

const reservation = { ...defaultSchedulerConfig.reservation, mirror: true, mirrorImage: 'pause:1' };
const isPlaceholder = ({ metadata }: Pod): boolean => metadata.labels?.['dkc.dev/room'] === 'kept';

/** A full node with web-0 on it, of a set of one, and a pod that waits for capacity. `seen`: what happens to pods: `+web-0`, `-web-0`, `web-0@a`; `[web-0]` is the placeholder pod of web-0. */
async function fullNode(t: TestContext, by?: Interceptor) {
  const found = await scene(t, ['a'], { endMs: 1_000, config: { maxBackoffMs: 1_000, reservation }, ...(by && { by }) });
  const { world, stage, nodeOf } = found;
  const seen: string[] = [];
  const known = new Map<string, string>();
  world.api.hooks.storage.onChange((kind, { object, type }) => {
    const { metadata, spec } = object as Pod;
    if (kind !== '/pods') return;
    const shown = isPlaceholder(object as Pod) ? `[${metadata.annotations?.['dkc.dev/room-of']}]` : (metadata.name ?? '');
    const [before, node] = [known.get(metadata.uid ?? ''), spec?.nodeName ?? ''];
    if (type === 'DELETED') seen.push(`-${shown}`);
    else if (before === undefined) seen.push(node === '' ? `+${shown}` : `+${shown}@${node}`);
    else if (before !== node) seen.push(`${shown}@${node}`);
    known.set(metadata.uid ?? '', node);
  });
  world.api.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'p10' }, value: 10 });
  stage.addSet('web', '3', { replicas: 1 });
  await stage.pass(3_000);
  stage.add(pod('small').cpu('1'));
  await stage.pass(1_000);
  stage.add(pod('waits').cpu('1'));
  await stage.pass(3_000);
  assert.deepEqual([nodeOf('web-0'), nodeOf('waits')], ['a', '']);
  seen.length = 0;
  return { ...found, seen };
}

/** The first so many calls about placeholder pods fail with this. */
function failing(verb: SeenCall['verb'], times: number, code: number, reason: string, message: string): Interceptor {
  let left = times;
  return {
    call: (call, pass) => {
      if (call.verb !== verb || call.resource !== 'pods' || !/-room-/.test(call.key) || left-- <= 0) return pass();
      return Promise.reject(new ApiError({ method: verb.toUpperCase(), path: call.key, host: 'local' }, { code, reason, message }));
    },
  };
}

const inPlace = ['-web-0', '+[web-0]@a', '+web-0', '-[web-0]', 'web-0@a'];

test('a placeholder pod exists from the deletion of the old pod until right before its successor is bound', async (t) => {
  const { world, stage, seen, nodeOf } = await fullNode(t);
  for (const image of ['v2', 'v3']) {
    await stage.roll('web', { image });
    await stage.pass(10_000);
    assert.deepEqual(seen.splice(0).toSorted(), inPlace.toSorted());
    assert.equal(nodeOf('waits'), '');
    assert.equal(world.parts?.reservations.size, 0);
  }
});

test('a successor is bound only after its placeholder pod is deleted: if that fails, its binding fails and is retried', async (t) => {
  const { stage, seen, nodeOf } = await fullNode(t, failing('delete', 1, 500, 'InternalError', 'the test says so'));
  await stage.roll('web', { image: 'v2' });
  await stage.pass(20_000);
  assert.deepEqual(seen.filter((line) => line !== '+web-0'), inPlace.filter((line) => line !== '+web-0')); // prettier-ignore
  assert.deepEqual([nodeOf('web-0'), nodeOf('waits')], ['a', '']);
});

for (const { why, by } of [
  { why: 'whose creation fails with a server error', by: failing('create', 2, 500, 'InternalError', 'the test says so') },
  { why: 'whose name belonged to a pod that is deleted by now', by: failing('create', 1, 409, 'AlreadyExists', 'it is there') },
])
  test(`a placeholder pod, ${why}, is requested again`, async (t) => {
    const { world, stage, seen, find } = await fullNode(t, by);
    await stage.roll('web', { image: 'v2' });
    await world.until(() => find('web-0')?.metadata.deletionTimestamp !== undefined, 5_000, 50);
    void world.stopControllers();
    await stage.pass(30_000);
    assert.deepEqual(seen, ['-web-0', '+[web-0]@a']);
  });

test('where no placeholder pod may be created, the reservation is made all the same, and an event says so once for each', async (t) => {
  const quota = 'exceeded quota: pods, requested: pods=1';
  const { stage, scheduler, seen, nodeOf, events } = await fullNode(t, failing('create', 99, 403, 'Forbidden', quota));
  for (const image of ['v2', 'v3']) {
    await stage.roll('web', { image });
    await stage.pass(10_000);
    assert.deepEqual(seen.splice(0), ['-web-0', '+web-0', 'web-0@a']);
    assert.equal(nodeOf('waits'), '');
  }
  const told = (await events('web')).filter(({ reason }) => reason === 'ReservationNotMirrored');
  assert.equal(told.reduce((sum, { count }) => sum + (count ?? 1), 0), 2); // prettier-ignore
  assert.equal(told[0]?.message, `Room of pod default/web-0 on node a is not shown to other schedulers: ${quota}`);
  const said = 'failed to create a placeholder pod, other schedulers do not see the reservation';
  assert.equal(scheduler.lines.filter((line) => line.includes(said)).length, 1);
});

test('a placeholder pod is deleted when its reservation ends, and before another pod is bound there', async (t) => {
  const { world, stage, seen } = await fullNode(t);
  await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '9' } } });
  await stage.pass(5_000);
  assert.deepEqual(seen.splice(0), ['-web-0', '+[web-0]@a', '+web-0']);
  void world.stopControllers();
  await stage.scale('web', 0);
  await stage.pass(5_000);
  assert.deepEqual(seen, ['-[web-0]', 'waits@a']);
});

test('a placeholder pod is deleted for a pod of higher priority that takes the capacity', async (t) => {
  const { world, stage, seen } = await fullNode(t);
  await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '9' } } });
  await stage.pass(5_000);
  seen.length = 0;
  stage.add(pod('important').cpu('2').priority(10));
  await stage.pass(5_000);
  assert.deepEqual(seen.slice(0, 3), ['+important', '-[web-0]', 'important@a']);
  assert.equal(world.parts?.reservations.size, 0);
});
