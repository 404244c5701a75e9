import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';

const others = ['p', 'q', 'r', 's', 't'];

/** A node of 4 cpus, full with pods of a set and others of 1 cpu each, of which at least one waits. Pods take 2 s to end. */
async function fullNode(t: TestContext, cpu: string, replicas = 1, by?: Interceptor) {
  const found = await scene(t, ['a'], { endMs: 2_000, ...(by && { by }) });
  const { world, stage, nodeOf, find, events } = found;
  stage.addSet('web', cpu, { replicas, podManagementPolicy: 'Parallel' });
  await stage.pass(3_000);
  stage.add(...others.map((name) => pod(name).cpu('1')));
  await stage.pass(3_000);
  const reserved = () => world.parts?.reservations.list().map(({ name, heldPod, state }) => `${name} ${heldPod.requests.cpu}m ${state}`);
  const images = () => ['web-0', 'web-1'].map((name) => (nodeOf(name) === '' ? '' : find(name)?.spec?.containers[0]?.image)).join(' ');
  const placed = () => others.filter((name) => nodeOf(name) !== '').join(' ');
  const told = async (name: string) => (await events(name)).map(({ reason, message }) => `${reason}: ${message}`).join('\n');
  /** Nobody makes pods of the set from now on. What is there goes. */
  const halted = async () => {
    const stopped = world.stopControllers();
    await stage.pass(3_000);
    await stopped;
  };
  const end = async () => {
    await stage.pass(1_000_000);
    assert.deepEqual(stage.problems(), []);
  };
  return { ...found, reserved, images, placed, told, halted, end };
}

test('the capacity of a pod that is rolled is reserved for its successor: neither pods that wait nor new ones get it', async (t) => {
  const { world, stage, nodeOf, find, images, reserved, placed, told, halted, end } = await fullNode(t, '1');
  const before = placed();
  await stage.roll('web', { image: 'v2' });
  await stage.pass(1_000);
  await halted();
  assert.deepEqual([find('web-0'), reserved()], [undefined, ['web-0 1000m active']]);
  stage.add(pod('new').cpu('1'));
  await stage.pass(2_000);
  world.startControllers();
  await stage.pass(8_000);
  assert.deepEqual([images(), reserved(), placed(), nodeOf('new')], ['v2 ', [], before, '']);
  assert.match(await told('web'), /^ReservationCreated: Room of pod default\/web-0 on node a is kept until 2026-03-01T00:01:09Z$/m);
  assert.match(await told('web-0'), /^ReservationUsed: Placed in the room kept on node a$/m);
  await end();
});

test('two pods of a set that are deleted from one node at once have a reservation each', async (t) => {
  const { world, stage, reserved, images, placed, halted, end } = await fullNode(t, '2', 2);
  await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '2' } } });
  await stage.delete('web-0');
  await stage.pass(1_000);
  await halted();
  assert.deepEqual(reserved(), ['web-0 2000m active', 'web-1 2000m active']);
  world.startControllers();
  await stage.pass(5_000);
  assert.deepEqual([images(), placed(), reserved()], ['v2 v2', '', []]);
  await end();
});

test('when the set is scaled down while its pod is away, the reservation is released to other pods at once', async (t) => {
  const { stage, reserved, placed, told, halted, end } = await fullNode(t, '2', 2);
  await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '2' } } });
  await stage.pass(1_000);
  await halted();
  assert.deepEqual([reserved(), placed()], [['web-1 2000m active'], '']);
  await stage.scale('web', 1);
  await stage.pass(1_000);
  assert.deepEqual([reserved(), placed().length], [[], 3]);
  const why = 'StatefulSet web has 1 replicas, none with ordinal 1';
  assert.ok((await told('web')).includes(`ReservationExpired: Room of pod default/web-1 on node a is given up: ${why}`));
  await end();
});

test('when a binding fails, the capacity is reserved again until the next attempt', async (t) => {
  let refusals = 0;
  const failure = new ApiError({ method: 'POST', path: '/', host: 'local' }, { code: 500, reason: 'InternalError', message: 'no' });
  const call: Interceptor['call'] = ({ resource }, pass) =>
    resource === 'pods/binding' && refusals-- > 0 ? Promise.reject(failure) : pass();
  const { world, stage, reserved, images, placed, end } = await fullNode(t, '4', 1, { call });
  refusals = 2;
  await stage.roll('web', { image: 'v2' });
  await world.until(() => refusals === 0, 10_000, 100);
  assert.deepEqual([reserved(), images()], [['web-0 4000m claimed'], ' ']);
  await stage.pass(8_000);
  assert.deepEqual([reserved(), images(), placed()], [[], 'v2 ', '']);
  await end();
});

test('nothing is reserved for a pod that was preempted', async (t) => {
  const { world, stage, nodeOf, reserved, images, told } = await fullNode(t, '4');
  stage.add(pod('boss').cpu('4').priority(100));
  await world.until(() => nodeOf('boss') !== '', 10_000, 100);
  await stage.pass(1_000);
  assert.deepEqual([reserved(), images()], [[], ' ']);
  assert.doesNotMatch(await told('web'), /Reservation/);
});

test('a reservation is also made for a pod whose deletion only a relist shows', async (t) => {
  let deaf: PromiseWithResolvers<void> | undefined;
  const by: Interceptor = {
    call: (_, pass) => pass(),
    async *watch({ resource, signal }, pass) {
      for await (const event of pass()) {
        if (resource === 'pods' && deaf !== undefined) {
          await deaf.promise;
          if (signal?.aborted === true) return;
          throw new ApiError({ method: 'GET', path: 'pods', host: 'local' }, { code: 410, reason: 'Expired', message: 'too old' });
        }
        yield event;
      }
    },
  };
  const { stage, find, reserved, images, placed, told, end } = await fullNode(t, '4', 1, by);
  const before = find('web-0')?.metadata.uid;
  deaf = Promise.withResolvers();
  await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '4' } } });
  await stage.pass(5_000);
  assert.ok(find('web-0')?.metadata.uid !== before && images() === ' ', 'it is there again, and nobody knows');
  deaf.resolve();
  deaf = undefined;
  await stage.pass(8_000);
  assert.deepEqual([reserved(), images(), placed()], [[], 'v2 ', '']);
  assert.match(await told('web'), /ReservationCreated/);
  await end();
});

test('for a successor that requests more than its predecessor, the capacity of that is reserved until there is enough', async (t) => {
  const { stage, reserved, images, placed, end } = await fullNode(t, '1');
  const before = placed();
  await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '2' } } });
  await stage.pass(5_000);
  assert.deepEqual([reserved(), images(), placed()], [['web-0 1000m claimed'], ' ', before]);
  await stage.delete(before.split(' ')[0] ?? '');
  await stage.pass(10_000);
  assert.deepEqual([reserved(), images(), placed().length], [[], 'v2 ', before.length - 2]);
  await end();
});
