import { parseFaults } from '../../../apiserver/faults/fault.ts';
import { seededRandom, type Random } from '../../../base/random.ts';
import { daemonSetController } from '../../../controllers/daemonset/controller.ts';
import { daemonSets, pods } from '../../../kube/api/object.ts';
import { startLocally } from '../local-process.ts';
import { recordedLog } from '../recorded-log.ts';
import { daemonSet } from '../simulated/sets.ts';
import { SimWorld } from '../simulated/sim-world.ts';

const MINUTE = 60_000;
const NAMES = ['web', 'logs', 'mesh', 'disk'];

export interface Day {
  problems: string[];
  /** Bytes in use after a full collection, at the end of each hour; empty when `collect` is not given. */
  heap: number[];
  /** Who still waits for time to pass, after the world has stopped. */
  sleepers: number;
}

/**
 * So many hours of a DaemonSet controller with a lease, in fake time: users change things every other minute, the server has a bad minute in ten, and the last
 * half hour is calm.
 * @param collect - collects garbage, for a look at the memory
 */
export async function day(hours: number, seed: number, collect?: () => void): Promise<Day> {
  const random = seededRandom(seed);
  const world = new SimWorld({ seed, api: { watchWindow: 500 } });
  const { hooks } = world.api;
  world.addNodes('a', 'b', 'c');
  const log = recordedLog();
  const leaderElect = { namespace: 'kube-system', name: 'dkc-controllers' };
  const process = startLocally(world.api, {
    name: 'dkc-controllers',
    setup: (r) => [daemonSetController(r)],
    clock: world.clock,
    leaderElect,
    log,
  });
  const calm = (): void => {
    hooks.setFaults([]);
    hooks.dropConnections();
  };
  const heap: number[] = [];
  for (let minute = 0; minute < hours * 60; minute++) {
    if (minute % 10 === 3) {
      hooks.setFaults(parseFaults(troubles.filter(() => random() < 0.25)));
      if (random() < 0.2) hooks.compact();
      if (random() < 0.3) hooks.dropConnections();
    }
    if (minute % 10 === 4) calm();
    if (random() < 0.5) await churn(world, random);
    await world.clock.advance(MINUTE);
    if (minute % 60 !== 59) continue;
    // A real server forgets events after an hour; this one would keep them for ever.
    for (const { metadata } of hooks.storage.list('/events').objects)
      hooks.storage.remove('/events', `${metadata.namespace}/${metadata.name}`);
    log.lines.length = 0;
    log.fields.length = 0;
    collect?.();
    if (collect !== undefined) heap.push(globalThis.process.memoryUsage().heapUsed);
  }
  calm();
  await world.clock.advance(30 * MINUTE);
  const problems = world.sets().flatMap(({ metadata, status }) => {
    const right =
      status?.observedGeneration === metadata.generation && status?.numberAvailable === 3 && status.updatedNumberScheduled === 3;
    return right ? [] : [`${metadata.name} says ${JSON.stringify(status)}`];
  });
  if (world.pods().length !== 3 * world.sets().length) problems.push(`there are ${world.pods().length} pods`);
  const stopping = process.stop();
  await world.clock.advance(MINUTE);
  await stopping;
  await world.stop();
  return { problems, heap, sleepers: world.clock.sleepers };
}

/** What users do: new sets, other images, sets gone, pods deleted. */
async function churn(world: SimWorld, random: Random): Promise<void> {
  const { api, user } = world;
  const name = NAMES[Math.floor(random() * NAMES.length)] ?? '';
  const ref = { name, namespace: 'default' };
  const pod = world.pods()[0];
  const dice = random();
  if (world.set(name) === undefined) api.add(daemonSet(name));
  else if (dice < 0.1) await user.delete(daemonSets, ref);
  else if (dice < 0.6) await user.patch(daemonSets, ref, imageOf(`v${Math.floor(random() * 3)}`), { type: 'merge' });
  else if (pod?.metadata.name !== undefined) await user.delete(pods, { ...ref, name: pod.metadata.name });
}

const imageOf = (image: string): object => ({ spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });

const troubles: readonly Record<string, unknown>[] = [
  { verb: 'create', resource: 'pods', status: 500, probability: 0.3 },
  { verb: 'create', resource: 'pods', status: 'half', probability: 0.2 },
  { verb: 'delete', resource: 'pods', status: 429, probability: 0.3 },
  { verb: 'create', resource: 'events', status: 503, probability: 0.5 },
  { verb: 'update', resource: 'daemonsets/status', status: 409, probability: 0.3 },
  { verb: 'watch', resource: 'pods', status: 'half', probability: 0.5 },
  { verb: 'watch', resource: 'pods', status: 'early-gone', probability: 0.1 },
  { verb: 'watch', resource: 'pods', status: 'lag', ms: 800, probability: 0.2 },
  { verb: 'list', resource: 'pods', status: 'truncate', probability: 0.3 },
  // One failed renewal in a row is no reason to give up a lease.
  { verb: 'update', resource: 'leases', status: 500, count: 1 },
];
