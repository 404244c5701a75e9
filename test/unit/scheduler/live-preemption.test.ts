import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, pods as podKind } from '../../../kube/api/object.ts';
import { pod } from './builders.ts';
import { LiveWorld } from './live-world.ts';

const LIMIT = { timeout: 120_000 };

test('less important pods make room: told, marked, gone, and the room is for whom they went', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, ['a', 'b'], { endMs: 100 });
  world.add(
    pod('low-a').cpu('3').selects({ 'kubernetes.io/hostname': 'a' }),
    pod('low-b').cpu('4').priority(5).selects({ 'kubernetes.io/hostname': 'b' }),
  );
  await world.bound('low-a');
  await world.bound('low-b');
  const [seen, seenHigh] = [history(world, 'low-a'), history(world, 'high')];
  world.add(pod('high').cpu('2').priority(10));
  await world.until('it is nominated', () => seenHigh().some(({ status }) => status?.nominatedNodeName === 'a'));
  // As important as the victim was, and quicker than the one for whom it went: the node is promised.
  world.add(pod('thief').cpu('3'));
  await world.bound('high', 'a');
  await world.refused('thief', /Insufficient cpu/);
  const condition = seen().find(({ status }) => status?.conditions?.some(({ type }) => type === 'DisruptionTarget'))?.status?.conditions;
  const { reason, message, status } = condition?.find(({ type }) => type === 'DisruptionTarget') ?? {};
  assert.deepEqual(
    { reason, message, status },
    { reason: 'PreemptionByScheduler', message: 'default-scheduler: preempting to accommodate a higher priority pod', status: 'True' },
  );
  const uid = world.find('high')?.metadata.uid;
  await world.until('it is told', () => world.eventsOf('low-a').some((event) => event.includes('Preempted')));
  assert.ok(world.eventsOf('low-a').includes(`Normal Preempted Preempted by pod ${uid} on node a`));
  assert.equal(world.nodeOf('low-b'), 'b');
  assert.deepEqual(world.dump('nominations'), []);
});

test('a nominated pod that finds room elsewhere leaves the node it was promised to the others', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, ['a'], { endMs: 3_600_000 });
  world.add(pod('low').cpu('4'));
  await world.bound('low', 'a');
  world.add(pod('high').cpu('2').priority(10));
  await world.until('it is nominated', () => world.find('high')?.status?.nominatedNodeName === 'a');
  await world.addNodes('b');
  await world.bound('high', 'b');
  world.add(pod('next').cpu('4').priority(5));
  await world.refused('next');
  await world.client.delete(podKind, { name: 'low', namespace: 'default' }, { body: { gracePeriodSeconds: 0 } });
  await world.bound('next', 'a');
});

test('as long as nobody hears that victims go, nobody else has to', LIMIT, async (t) => {
  const heard = Promise.withResolvers<void>();
  const deleted: string[] = [];
  const world = await LiveWorld.start(t, ['a', 'b', 'c'], {
    endMs: 20,
    by: {
      call({ verb, resource, key }, pass) {
        if (verb === 'delete' && resource === 'pods') deleted.push(key);
        return pass();
      },
      async *watch({ resource }, pass) {
        for await (const event of pass()) {
          if (resource === 'pods' && event.object.metadata.name?.startsWith('low') === true && deleted.length > 0) await heard.promise;
          yield event;
        }
      },
    },
  });
  for (const name of ['low-0', 'low-1', 'low-2']) world.add(pod(name).cpu('4'));
  for (const name of ['low-0', 'low-1', 'low-2']) await world.bound(name);
  world.add(pod('high').cpu('4').priority(10));
  type Shown = { pods: { name: string; attempts: number; pool: string; held: boolean }[] };
  const shown = (): Shown['pods'][number] | undefined => (world.dump('scheduler-queue') as Shown).pods.find(({ name }) => name === 'high');
  await world.until('it was tried again', () => {
    const { attempts = 0, pool = '', held = true } = shown() ?? {};
    return attempts >= 2 && pool === 'unschedulable' && !held;
  });
  assert.equal(deleted.length, 1);
  heard.resolve();
  await world.bound('high');
  assert.equal(deleted.length, 1);
});

/** What a pod looked like, each time it changed. */
function history(world: LiveWorld, name: string): () => Seen[] {
  const seen: Seen[] = [];
  world.api.hooks.storage.onChange((kind, { object }) => {
    if (kind === '/pods' && object.metadata.name === name) seen.push(object);
  });
  return () => seen;
}

type Seen = KubeObject & {
  status?: { nominatedNodeName?: string; conditions?: { type: string; status: string; reason?: string; message?: string }[] };
};
