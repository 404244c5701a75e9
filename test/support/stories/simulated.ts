import { createLocalApi } from '../../../apiserver/local-api.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import '../../../kube/client/list-stream.ts';
import type { Runnable, Runtime } from '../../../kube/process/contract.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import { schedulerRunnable, servedKinds } from '../../../scheduler/scheduler.ts';
import { FakeClock } from '../fake-clock.ts';
import { type LocalProcess, startLocally } from '../local-process.ts';
import { World, type WorldOptions } from './world.ts';
import { localClient } from '../embedded-api.ts';

// The client loads it with the first list, which takes turns of the loop that fake time knows nothing of.

/** A world in fake time, and the controllers that are at work in it. */
export interface Simulated extends AsyncDisposable {
  world: World;
  controllers: LocalProcess;
}

/**
 * The embedded API server in fake time, with our scheduler and the controllers of `setup`. Stories are played one after the other: whoever waits lets
 * time pass for all.
 */
export async function startSimulated(setup: (runtime: Runtime) => Runnable[], options: WorldOptions = {}): Promise<Simulated> {
  const clock = new FakeClock();
  const random = seededRandom(1);
  const api = createLocalApi({ clock, random, log: silentLog, version: 'v1.34.0', dynamicKubeletConfig: false });
  const client = localClient(api, { clock, random });
  const served = await servedKinds(client, new AbortController().signal);
  const scheduler = startLocally(api, {
    name: 'dkc-scheduler',
    setup: (runtime) => schedulerRunnable(runtime, defaultSchedulerConfig, served),
    clock,
  });
  const controllers = startLocally(api, { name: 'dkc-controllers', setup, clock });
  const stop = async (): Promise<void> => {
    const stopping = Promise.all([scheduler.stop(), controllers.stop()]);
    await clock.advance(30_000);
    await stopping;
    await client.close();
    api.stop();
  };
  const world = await World.start({ client, log: silentLog, clock, pass: (ms) => clock.advance(ms), stop }, options);
  for (let seconds = 0; !(scheduler.ready && controllers.ready); seconds++) {
    if (seconds > 60) throw new Error(`they do not begin to work: ${[...scheduler.failures(), ...controllers.failures()].join('\n')}`);
    await clock.advance(1_000);
  }
  return { world, controllers, [Symbol.asyncDispose]: () => world.stop() };
}
