import type { LocalApi } from '../../apiserver/local-api.ts';
import type { Clock } from '../../base/clock.ts';
import { seededRandom } from '../../base/random.ts';
import type { Client } from '../../kube/client/client.ts';
import { createClient } from '../../kube/client/http-client.ts';
import type { ProcessOptions, Setup } from '../../kube/process/contract.ts';
import { runProcess } from '../../kube/process/process.ts';
import { recordedLog } from './recorded-log.ts';

export interface LocalOptions {
  name: string;
  setup: Setup;
  clock: Clock;
  seed?: number;
  /** @default nobody is asked */
  leaderElect?: ProcessOptions['leaderElect'];
  identity?: string;
  wrap?: ((client: Client) => Client) | undefined;
  /** @default one of its own */
  log?: ReturnType<typeof recordedLog>;
  onStop?: () => void;
}

export interface LocalProcess {
  /** It works. False while it still fills its caches, or does not lead. */
  readonly ready: boolean;
  /** Resolves once it works, or has ended; rejects with what it ended by. */
  readonly working: Promise<void>;
  readonly ended: Promise<number>;
  /** Resolves with the exit code once it has ended; where time is not real, some has to pass for that. */
  stop(): Promise<number>;
  readonly lines: string[];
  /** Warnings and errors of its log, each with its facts. */
  readonly failures: () => string[];
}

export function startLocally(api: LocalApi, options: LocalOptions): LocalProcess {
  const { name, setup, clock, seed = 2, leaderElect = false, identity, wrap, log: recorded = recordedLog(), onStop } = options;
  const { log, lines, fields } = recorded;
  const end = new AbortController();
  const working = Promise.withResolvers<void>();
  working.promise.catch(() => {}); // not everybody waits for it
  let ready = false;
  const onReady = (): void => {
    ready = true;
    working.resolve();
  };
  const access = { server: 'http://local', origin: 'test', token: api.token };
  const ended = runProcess(
    { name, access, leaderElect, metricsAddress: '', setup, onReady },
    {
      clock,
      random: seededRandom(seed),
      log,
      signal: end.signal,
      ...(identity === undefined ? {} : { identity: () => identity }),
      createClient: (source, given) => {
        const client = createClient(source, { ...given, dial: api.dial });
        return wrap?.(client) ?? client;
      },
    },
  );
  ended.then(() => working.resolve(), working.reject);
  return {
    get ready() {
      return ready;
    },
    working: working.promise,
    ended,
    stop: () => {
      end.abort(new Error('SIGTERM'));
      onStop?.();
      return ended;
    },
    lines,
    failures: () => lines.flatMap((line, at) => (/^(warn|error)/.test(line) ? [`${line} ${JSON.stringify(fields[at])}`] : [])),
  };
}
