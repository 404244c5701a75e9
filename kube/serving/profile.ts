import type { Clock, Millis } from '../../base/clock.ts';

/** A profile is being taken; two at once would measure each other. */
export class ProfileBusyError extends Error {
  override name = 'ProfileBusyError';
  constructor() {
    super('another profile is being taken; try again later');
  }
}

type Post = (method: string, params?: object) => Promise<unknown>;

/** Takes profiles of this process, one at a time. The inspector comes with the first one, and opens no port. */
export class Profiler {
  readonly #clock: Pick<Clock, 'sleep'>;
  #isBusy = false;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Where the processor's time goes for `ms`: a `.cpuprofile`. @throws {ProfileBusyError}; the signal's reason */
  cpu(ms: Millis, signal: AbortSignal): Promise<string> {
    return this.#take(async (post) => {
      await post('Profiler.enable');
      await post('Profiler.start');
      await this.#clock.sleep(ms, signal);
      return post('Profiler.stop');
    });
  }

  /**
   * Where memory that is taken in `ms`, and not given back by then, goes: a `.heapprofile`. No snapshot of the whole heap: that stands a large
   * process still for longer than a lease lasts.
   * @throws {ProfileBusyError}; the signal's reason
   */
  heap(ms: Millis, signal: AbortSignal): Promise<string> {
    return this.#take(async (post) => {
      await post('HeapProfiler.startSampling', { samplingInterval: 32_768 });
      await this.#clock.sleep(ms, signal);
      return post('HeapProfiler.stopSampling');
    });
  }

  async #take(profile: (post: Post) => Promise<unknown>): Promise<string> {
    if (this.#isBusy) throw new ProfileBusyError();
    this.#isBusy = true;
    try {
      const { Session } = await import('node:inspector/promises');
      const session = new Session();
      session.connect();
      try {
        const taken = await profile((method, params) => session.post(method, params));
        return JSON.stringify((taken as { profile: unknown }).profile);
      } finally {
        session.disconnect(); // and whatever ran in it ends
      }
    } finally {
      this.#isBusy = false;
    }
  }
}
