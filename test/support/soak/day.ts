import { createLocalApi } from '../../../apiserver/local-api.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { FakeClock } from '../fake-clock.ts';
import { SoakWorld } from './world.ts';
import { localClient } from '../embedded-api.ts';

const MINUTE = 60_000;

export interface Day {
  problems: string[];
  left: Record<string, number>;
  /** Bytes in use after a full collection, at the end of each hour; empty when `collect` is not given. */
  heap: number[];
  /** Who still waits for time to pass, after the world has stopped. */
  sleepers: number;
}

/**
 * So many hours in fake time: users change things every other minute, the server has a bad minute in ten, and the last half hour is calm.
 * @param collect - collects garbage, for a look at the memory
 */
export async function day(hours: number, seed: number, collect?: () => void): Promise<Day> {
  const random = seededRandom(seed);
  const clock = new FakeClock();
  const api = createLocalApi({ clock, random, log: silentLog, watchWindow: 500 });
  const client = () => localClient(api, { clock, random });
  const world = new SoakWorld({ clock, random, hooks: api.hooks, add: api.add, client });
  const heap: number[] = [];
  world.start();
  for (let minute = 0; minute < hours * 60; minute++) {
    if (minute % 10 === 3) await world.trouble();
    if (minute % 10 === 4) world.calm();
    if (random() < 0.5) world.churn();
    await clock.advance(MINUTE);
    if (minute % 60 !== 59) continue;
    // A real server forgets events after an hour; this one would keep them for ever.
    for (const { metadata } of api.hooks.storage.list('/events').objects)
      api.hooks.storage.remove('/events', `${metadata.namespace}/${metadata.name}`);
    collect?.();
    if (collect !== undefined) heap.push(process.memoryUsage().heapUsed);
  }
  world.calm();
  await clock.advance(30 * MINUTE);
  const [problems, left] = [world.problems(), world.left];
  const stopping = world.stop();
  await clock.advance(MINUTE);
  await stopping;
  api.stop();
  return { problems, left, heap, sleepers: clock.sleepers };
}
