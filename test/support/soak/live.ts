import { startApiServer } from '../../../apiserver/server.ts';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { SoakWorld } from './world.ts';

export interface Soaked {
  problems: string[];
  left: Record<string, number>;
  /** Bytes in use after a full collection, once a minute. */
  heap: number[];
  /** Sockets, timers and the like that are still there after the world has stopped, beyond those before it. */
  leaked: string[];
  changes: number;
}

const ROUND_MS = 15_000;
const BAD_MS = 4_000;
/** Only a failure takes as long. Less than the five minutes after which whoever waits for an event looks by itself: that would hide a lost one. */
const CALM_MS = 200_000;
const CLOSE_MS = 60_000;
/** Fewer are no soak: then it goes on. */
const MIN_CHANGES = 200;

/** The same as a day in fake time, in real time over real sockets: of every 15 seconds the server has 4 bad ones. Ends once all is right and at rest. */
export async function live(minutes: number, seed: number, collect: () => void): Promise<Soaked> {
  const before = process.getActiveResourcesInfo();
  const random = seededRandom(seed);
  const server = await startApiServer({ clock: realClock, random, log: silentLog, watchWindow: 500 });
  const { hooks, add, url, token, caPem } = server;
  const client = () => createClient({ server: url, origin: 'soak', token, ca: { data: caPem } }, { clock: realClock, random });
  const world = new SoakWorld({ clock: realClock, random, hooks, add, client, patientLease: true });
  const heap: number[] = [];
  let changes = 0;
  world.start();
  const from = performance.now();
  for (let round = 0; performance.now() - from < minutes * 60_000 || changes < MIN_CHANGES; round++) {
    const roundFrom = performance.now();
    await world.trouble();
    for (let bad = true; performance.now() - roundFrom < ROUND_MS; changes++) {
      world.churn();
      await realClock.sleep(random() * 100);
      if (bad && performance.now() - roundFrom > BAD_MS) {
        world.calm();
        bad = false;
      }
    }
    if (round % 4 !== 3) continue;
    for (const { metadata } of hooks.storage.list('/events').objects)
      hooks.storage.remove('/events', `${metadata.namespace}/${metadata.name}`);
    collect();
    heap.push(process.memoryUsage().heapUsed);
  }
  world.calm();
  await untilRight(world);
  const [problems, left] = [world.problems(), leftOf(world)];
  await world.stop();
  await server.stop();
  const leaked = await leftOpen(before);
  return { problems, left, heap, leaked, changes };
}

/** What is open now and was not before; a socket takes its time to close on a busy machine. */
async function leftOpen(before: readonly string[]): Promise<string[]> {
  const open = () => process.getActiveResourcesInfo().filter((what) => !before.includes(what));
  for (const from = performance.now(); performance.now() - from < CLOSE_MS && open().length > 0;) await realClock.sleep(50);
  return open();
}

async function untilRight(world: SoakWorld): Promise<void> {
  const isIdle = () => world.problems().length === 0 && Object.values(leftOf(world)).every((count) => count === 0);
  for (const from = performance.now(); performance.now() - from < CALM_MS && !isIdle();) await realClock.sleep(100);
}

/** Without the alarm clocks: who waited for an event and heard it is looked at once more after five minutes, which here nobody waits for. */
function leftOf(world: SoakWorld): Record<string, number> {
  const { delayed: _, ...left } = world.left;
  return left;
}
