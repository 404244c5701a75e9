import { daemonSetController } from '../../../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../../../controllers/statefulset/controller.ts';
import type { Meters, Runnable, Runtime } from '../../../../kube/process/contract.ts';
import type { LeaseOptions } from '../../../../kube/process/leadership.ts';
import { defaultSchedulerConfig, type SchedulerConfig } from '../../../../scheduler/config/config.ts';
import type { SchedulerState } from '../../../../scheduler/core/state.ts';
import type { Reservations } from '../../../../scheduler/reservation/contract.ts';
import { schedulerRunnable, servedKinds, type ServedKinds } from '../../../../scheduler/scheduler.ts';
import { intercepted, type Interceptor } from '../../../support/simulated/intercepted.ts';
import type { Pace } from '../../../support/simulated/sim-kubelets.ts';
import { type SimProcess, SimWorld } from '../../../support/simulated/sim-world.ts';
import { startLocally } from '../../../support/local-process.ts';

export interface SchedulerWorldOptions {
  seed?: number;
  pace: Pace;
  config?: Partial<SchedulerConfig>;
}

/** What the scheduler knows. */
export type Parts = SchedulerState & { readonly reservations: Reservations };

/** Schedulers in fake time, beside our StatefulSet controller; and that of DaemonSets, where room is kept for their pods. */
export class SchedulerWorld extends SimWorld {
  readonly #config: SchedulerConfig;
  readonly #schedulers: SimProcess[] = [];
  #controllers: SimProcess | undefined;
  readonly #served: ServedKinds;
  readonly #seed: number;
  /** What the scheduler that was started last knows. */
  parts: Parts | undefined;
  /** What a scheduler asked for and gave up takes effect all the same, later: then things may be that must not be otherwise. */
  isLate = false;
  /** What schedulers counted, as `scheduler_schedule_attempts_total batch error`. */
  readonly counted: Record<string, number> = {};

  private constructor({ seed = 1, pace, config = {} }: SchedulerWorldOptions, served: ServedKinds) {
    const daemonSets = config.reservation?.daemonSets === true;
    super({
      seed,
      pace: { ...pace, binds: false },
      setup: (runtime) => [statefulSetController(runtime), ...(daemonSets ? [daemonSetController(runtime)] : [])],
    });
    this.#config = { ...defaultSchedulerConfig, ...config };
    this.#served = served;
    this.#seed = seed;
  }

  /** With the StatefulSet controller at work. */
  static async make(options: SchedulerWorldOptions): Promise<SchedulerWorld> {
    const asked = new SimWorld();
    const served = await servedKinds(asked.user, new AbortController().signal);
    await asked.stop();
    const world = new SchedulerWorld(options, served);
    world.startControllers();
    return world;
  }

  startControllers(): void {
    this.#controllers = super.start();
  }

  /** Resolves once they have ended; time has to pass for that. */
  async stopControllers(): Promise<void> {
    await this.#controllers?.stop();
  }

  /** A scheduler. Begins at once; works once its caches are full, which may take time. */
  override start(by?: Interceptor, leaderElect: false | LeaseOptions = false, identity = 'one'): SimProcess {
    const process = startLocally(this.api, {
      name: 'dkc-scheduler',
      setup: (runtime) => this.#setup({ ...runtime, meters: this.#counting(runtime.meters) }),
      clock: this.clock,
      seed: this.#seed + 7,
      leaderElect,
      identity,
      wrap: by && ((client) => intercepted(client, by)),
    });
    this.#schedulers.push(process);
    return process;
  }

  #setup(runtime: Runtime): Runnable[] {
    return schedulerRunnable(runtime, this.#config, this.#served, ({ state, reservations }) => {
      this.parts = Object.assign(state, { reservations });
    });
  }

  #counting(meters: Meters): Meters {
    const counter: Meters['counter'] = (name, ...more) => {
      const count = meters.counter(name, ...more);
      return (labels = {}, by = 1) => {
        const key = [name, ...Object.values(labels)].join(' ');
        this.counted[key] = (this.counted[key] ?? 0) + by;
        count(labels, by);
      };
    };
    return { ...meters, counter };
  }

  override async stop(): Promise<void> {
    const stopping = Promise.all(this.#schedulers.map((process) => process.stop().catch(() => {})));
    await super.stop();
    await stopping;
  }
}
