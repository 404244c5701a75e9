import { ProfileBusyError } from './profile.ts';
import type { Millis } from '../../base/clock.ts';
import type { Profiler } from './profile.ts';
import type { Answer } from './serve.ts';

/** Facts that a person looks at, as JSON can say them: keys and counts, never contents. */
export type Dump = () => unknown;

const MAX_PROFILE_S = 300;

/** `/debug/`: what there is; `/debug/pprof/profile` and `/debug/pprof/heap` with `?seconds=N`; `/debug/NAME` of a dump. */
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
