import type { Clock, Millis } from '../../base/clock.ts';
import type { Answer } from './serve.ts';

/** Facts for people, as JSON: keys and counts, never contents of objects. */
export type Dump = () => unknown;

const MAX_PROFILE_S = 300;

/** `/debug/`: the list of endpoints; `/debug/pprof/profile` and `/debug/pprof/heap` with `?seconds=N`; `/debug/NAME` of a dump. */
export async function debugAnswer(
  path: string,
  query: URLSearchParams,
  { profiler, dumps, signal }: { profiler: Profiler; dumps: Readonly<Record<string, Dump>>; signal: AbortSignal },
): Promise<Answer> {
  switch (path) {
    case '/debug/':
      return json(['pprof/profile?seconds=30', 'pprof/heap?seconds=10', ...Object.keys(dumps)].map((name) => `/debug/${name}`));
    case '/debug/pprof/profile':
      return profile(query, 30, (ms) => profiler.cpu(ms, signal), 'cpuprofile');
    case '/debug/pprof/heap':
      return profile(query, 10, (ms) => profiler.heap(ms, signal), 'heapprofile');
    default: {
      const name = path.slice('/debug/'.length);
      const dump = Object.hasOwn(dumps, name) ? dumps[name] : undefined;
      return dump === undefined ? { status: 404, text: 'not found; /debug/ lists the endpoints\n' } : json(dump());
    }
  }
}

async function profile(query: URLSearchParams, normal: number, take: (ms: Millis) => Promise<string>, suffix: string): Promise<Answer> {
  const seconds = Number(query.get('seconds') ?? normal);
  if (!(seconds > 0 && seconds <= MAX_PROFILE_S))
    return { status: 400, text: `seconds must be more than 0, and at most ${MAX_PROFILE_S}\n` };
  try {
    const text = await take(seconds * 1_000);
    return { status: 200, type: 'application/json', text, headers: { 'content-disposition': `attachment; filename="dkc.${suffix}"` } };
  } catch (error) {
    if (error instanceof ProfileBusyError) return { status: 409, text: `${error.message}\n` };
    throw error;
  }
}

const json = (facts: unknown): Answer => ({ status: 200, type: 'application/json', text: `${JSON.stringify(facts, undefined, 1)}\n` });

/** Another profile is running; two at once would measure each other. */
class ProfileBusyError extends Error {
  override name = 'ProfileBusyError';
  constructor() {
    super('another profile is being taken; try again later');
  }
}

type Post = (method: string, params?: object) => Promise<unknown>;

/** Takes profiles of this process, one at a time. The inspector is loaded with the first profile, and opens no port. */
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
   * Where memory is allocated during `ms` and not freed by then: a `.heapprofile`. Not a snapshot of the whole heap: that stops a large process for longer
   * than a lease lasts.
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
        session.disconnect(); // also ends a profile that still runs
      }
    } finally {
      this.#isBusy = false;
    }
  }
}
