import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { pods as podKind, statefulSets } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import type { Interceptor, SeenCall } from '../../../support/simulated/intercepted.ts';
import { pod, type PodBuilder } from '../builders.ts';
import { LiveWorld, statefulSet } from '../live-world.ts';

const LIMIT = { timeout: 120_000 };
const config = {
  maxBackoffMs: 1_000,
  reservation: { ...defaultSchedulerConfig.reservation, mirror: true, mirrorImage: 'pause:1' },
};
const isPlaceholder = ({ metadata }: Pod): boolean => metadata.labels?.['dkc.dev/room'] === 'kept';

/** What happens to pods, in the order of the API: `+web-0`, `-web-0`, `web-0@a`. A pod that stands for room of web-0 is `[web-0]`. */
function transcript(world: LiveWorld, names: RegExp): string[] {
  const lines: string[] = [];
  const nodeOf = new Map(world.pods().map(({ metadata, spec }) => [metadata.uid ?? '', spec?.nodeName ?? '']));
  world.api.hooks.storage.onChange((kind, { object, type }) => {
    const { metadata, spec } = object as Pod;
    const { name = '', uid = '', annotations = {} } = metadata;
    if (kind !== '/pods' || !names.test(name)) return;
    const shown = isPlaceholder(object as Pod) ? `[${annotations['dkc.dev/room-of']}]` : name;
    const before = nodeOf.get(uid);
    const node = spec?.nodeName ?? '';
    if (type === 'DELETED') lines.push(`-${shown}`);
    else if (before === undefined) lines.push(node === '' ? `+${shown}` : `+${shown}@${node}`);
    else if (before !== node) lines.push(`${shown}@${node}`);
    nodeOf.set(uid, node);
  });
  return lines;
}

/** A full node with web-0 on it, of a set of one, and pods that wait for its room. */
async function fullNode(t: TestContext, by?: Interceptor, podSpec: object = {}): Promise<LiveWorld> {
  const world = await LiveWorld.start(t, ['a'], { endMs: 30, config, ...(by && { by }) });
  world.api.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'p10' }, value: 10 });
  await world.startControllers();
  world.api.add(statefulSet('web', '3', { replicas: 1 }, podSpec));
  await world.bound('web-0', 'a');
  await world.until('it runs', () => world.find('web-0')?.status?.phase === 'Running');
  world.add(pod('small').cpu('1'));
  await world.bound('small', 'a');
  world.add(pod('waits').cpu('1'));
  await world.refused('waits');
  return world;
}

const isAboutPlaceholder = ({ resource, key }: SeenCall): boolean => resource === 'pods' && /-room-/.test(key);

/** Calls about pods that stand for room meet this, the first so many times. */
function failing(
  verb: SeenCall['verb'],
  times: number,
  fail: (call: SeenCall, pass: () => Promise<unknown>) => Promise<unknown>,
): Interceptor {
  let left = times;
  return {
    call: (call, pass) => {
      return call.verb === verb && isAboutPlaceholder(call) && left-- > 0 ? fail(call, pass) : pass();
    },
  };
}

const answer = ({ verb, key }: SeenCall, code: number, reason: string, message: string): ApiError =>
  new ApiError({ method: verb.toUpperCase(), path: key, host: 'local' }, { code, reason, message });

const roll = (world: LiveWorld, image: string): Promise<unknown> =>
  world.patchSet('web', { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });

async function rolled(world: LiveWorld, image: string): Promise<void> {
  const isDone = (): boolean => {
    const { spec, status } = world.find('web-0') ?? {};
    return spec?.containers[0]?.image === image && status?.phase === 'Running';
  };
  await world.until(`${image} runs`, isDone);
}

/** The new pod is made at some moment in between. */
function cameBackInPlace(lines: readonly string[]): void {
  assert.deepEqual(
    lines.filter((line) => line !== '+web-0'),
    ['-web-0', '+[web-0]@a', '-[web-0]', 'web-0@a'],
  );
}

const placeholders = (world: LiveWorld): string[] =>
  world
    .pods()
    .filter(isPlaceholder)
    .map(({ metadata }) => metadata.name ?? '');

test('placeholder pod created from the moment that the old pod is gone until right before its successor is bound', LIMIT, async (t) => {
  const world = await fullNode(t);
  const lines = transcript(world, /^web/);
  await roll(world, 'v2');
  await rolled(world, 'v2');
  cameBackInPlace(lines);
  assert.equal(world.nodeOf('waits'), '');
  assert.deepEqual(world.dump('reservations'), []);
  await roll(world, 'v3');
  await rolled(world, 'v3');
  assert.deepEqual(placeholders(world), []);
  assert.equal(world.nodeOf('waits'), '');
});

test(
  'a successor is not bound before what stands for its room is gone: that failing, its binding fails, and is tried again',
  LIMIT,
  async (t) => {
    const world = await fullNode(
      t,
      failing('delete', 1, (call) => Promise.reject(answer(call, 500, 'InternalError', 'the test says so'))),
    );
    const lines = transcript(world, /^web/);
    await roll(world, 'v2');
    await world.refused('web-0', /SchedulerError: .*the test says so/);
    await rolled(world, 'v2');
    cameBackInPlace(lines);
    assert.equal(world.nodeOf('waits'), '');
    assert.deepEqual(world.dump('reservations'), []);
  },
);

test('where none may be made the room is kept all the same, and that is told once for each room', LIMIT, async (t) => {
  const quota = 'exceeded quota: pods, requested: pods=1';
  const world = await fullNode(
    t,
    failing('create', 99, (call) => Promise.reject(answer(call, 403, 'Forbidden', quota))),
  );
  const lines = transcript(world, /^web/);
  for (const image of ['v2', 'v3']) {
    await roll(world, image);
    await rolled(world, image);
    assert.equal(world.nodeOf('waits'), '');
  }
  assert.deepEqual(
    lines.filter((line) => line !== '+web-0'),
    ['-web-0', 'web-0@a', '-web-0', 'web-0@a'],
  );
  await world.until('it is told', () => world.told('web', 'ReservationNotMirrored') === 2);
  assert.ok(world.eventsOf('web').includes(`Warning ReservationNotMirrored Room of pod default/web-0 on node a is not shown to other schedulers: ${quota}`)); // prettier-ignore
  assert.equal(
    world.lines.filter((line) => line === 'warn: failed to create a placeholder pod, other schedulers do not see the reservation').length,
    1,
  );
});

const web = { namespace: 'default', name: 'web' };

/** web-0, by hand: nobody makes it anew when it goes. */
function member(world: LiveWorld): PodBuilder {
  const { uid = '' } = world.api.hooks.storage.get('apps/statefulsets', 'default/web')?.metadata ?? {};
  const one = pod('web-0').cpu('3').ownedBy('StatefulSet', 'web');
  one.build().metadata.ownerReferences?.forEach((owner) => Object.assign(owner, { uid }));
  return one;
}

/** A full node, from which web-0 went: a pod stands for its room, and others wait for it. */
async function standing(
  t: TestContext,
  { mirrorImage = 'pause:1', by }: { mirrorImage?: string; by?: Interceptor } = {},
): Promise<LiveWorld> {
  const reservation = { ...config.reservation, mirrorImage, reserveOn: 'recreate' as const };
  const world = await LiveWorld.start(t, ['a'], { endMs: 30, config: { ...config, reservation }, ...(by && { by }) });
  world.api.add(statefulSet('web', '3', { replicas: 1 }));
  world.add(member(world));
  await world.bound('web-0', 'a');
  world.add(pod('small').cpu('1'));
  await world.bound('small', 'a');
  await world.delete('web-0');
  await world.until('one stands for the room', () => placeholders(world).length === 1);
  world.add(pod('waits').cpu('1'));
  await world.refused('waits', /Insufficient cpu/);
  return world;
}

test('it goes when the room is given up, and before anybody else is bound there', LIMIT, async (t) => {
  const world = await standing(t);
  const lines = transcript(world, /./);
  await world.client.patch(statefulSets, web, { spec: { replicas: 0 } }, { type: 'merge' });
  await world.bound('waits', 'a');
  assert.deepEqual(lines, ['-[web-0]', 'waits@a']);
});

test('it makes way for a more important pod that takes its room', LIMIT, async (t) => {
  const world = await standing(t);
  const lines = transcript(world, /./);
  world.add(pod('important').cpu('2').priority(10));
  await world.bound('important', 'a');
  await world.bound('waits', 'a');
  assert.deepEqual(lines, ['+important', '-[web-0]', 'important@a', 'waits@a']);
});

test('what a process before this one left is removed, ended or not; what only looks like it counts, and stays', LIMIT, async (t) => {
  const world = await standing(t, { mirrorImage: 'hollow/failed' });
  await world.until('it has failed', () => world.pods().some((one) => isPlaceholder(one) && one.status?.phase === 'Failed'));
  await world.stopProcesses();
  const left = world.pods().find(isPlaceholder);
  assert.ok(left !== undefined);
  const { metadata, spec } = left;
  const forged = (name: string, more: object): void => {
    const { uid: _, resourceVersion: _version, creationTimestamp: _at, ...meta } = metadata;
    world.api.add({ ...left, apiVersion: 'v1', kind: 'Pod', status: {}, metadata: { ...meta, name, ...more }, spec: { ...spec, containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] } }); // prettier-ignore
  };
  forged('another', {});
  forged('nobodys', { ownerReferences: [] });
  await world.startScheduler();
  await world.until('both are gone', () => placeholders(world).join() === 'nobodys');
  world.add(pod('late').cpu('3'));
  await world.refused('late', /Insufficient cpu/);
  await world.delete('nobodys');
  await world.delete('small');
  await world.bound('late', 'a');
});

/** As another scheduler does it. */
const bindElsewhere = (world: LiveWorld, name: string): Promise<unknown> =>
  world.client.post(podKind, { namespace: 'default', name }, 'binding', {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { namespace: 'default', name },
    target: { apiVersion: 'v1', kind: 'Node', name: 'a' },
  });

test('a pod of another scheduler that comes after it does not take the room: the kubelet refuses that one', LIMIT, async (t) => {
  const world = await standing(t);
  const lines = transcript(world, /^(web|foreign)/);
  world.add(pod('foreign').image('hollow/failed:OutOfcpu').cpu('3').spec({ schedulerName: 'another' }));
  await bindElsewhere(world, 'foreign');
  await world.until('it is refused', () => world.find('foreign')?.status?.phase === 'Failed');
  world.add(member(world));
  await world.bound('web-0', 'a');
  assert.deepEqual(lines, ['+foreign', 'foreign@a', '+web-0', '-[web-0]', 'web-0@a']);
  assert.equal(world.nodeOf('waits'), '');
});

test('a pod of another scheduler that came before it has the room: the kubelet refuses what should stand for it', LIMIT, async (t) => {
  const world = await standing(t, { mirrorImage: 'hollow/failed:OutOfcpu' });
  await world.until('it has failed', () => world.pods().some((one) => isPlaceholder(one) && one.status?.phase === 'Failed'));
  world.add(pod('foreign').cpu('3').spec({ schedulerName: 'another' }));
  await bindElsewhere(world, 'foreign');
  await world.until('the room is given up', () => placeholders(world).length === 0);
  assert.deepEqual(world.dump('reservations'), []);
});
