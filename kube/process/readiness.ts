import { backoff } from '../../base/waiting.ts';
import { describeError } from '../../base/errors.ts';
import type { Millis } from '../../base/clock.ts';
import type { Client } from '../client/client.ts';
import type { Check } from '../serving/checks.ts';
import type { Informers, Waiting } from '../cache/informers.ts';
import type { ProcessOptions, Setup, World } from './contract.ts';
import type { Leadership } from './leadership.ts';

const RETRY = { base: 500, cap: 15_000 };
/** Texts that differ by a number each time must not fill the log. */
const MAX_TEXTS = 5;

/** API discovery: what a process has to learn from its server before it can choose its caches. Retries until the server answers, which may start later. */
export class Discovery {
  readonly #setup: ProcessOptions['setup'];
  readonly #world: Pick<World, 'clock' | 'random' | 'log'>;
  readonly #loggedErrors = new Set<string>();
  #isOver: boolean;
  #failure: string | undefined;

  constructor(setup: ProcessOptions['setup'], world: Pick<World, 'clock' | 'random' | 'log'>) {
    this.#setup = setup;
    this.#world = world;
    this.#isOver = typeof setup === 'function';
  }

  /** Fails until discovery has succeeded. undefined: nothing to discover. */
  get check(): Check | undefined {
    if (typeof this.#setup === 'function') return undefined;
    return {
      name: 'discovery',
      problem: () => this.#waitsFor(),
      detail: () => this.#waitsFor() ?? 'API discovery succeeded',
    };
  }

  /** Whether the caches are chosen, or can be chosen at once. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Returns the setup once discovery has succeeded. Logs each reason to wait once, not at each try. @returns undefined: the signal aborted before
   */
  async setup(client: Client, signal: AbortSignal): Promise<Setup | undefined> {
    const { clock, random, log } = this.#world;
    if (typeof this.#setup === 'function') return signal.aborted ? undefined : this.#setup;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const setup = await this.#setup.discover(client, signal);
        if (this.#failure !== undefined) log.info('API discovery succeeded', { failures: failures - 1 });
        this.#isOver = true;
        return setup;
      } catch (error) {
        if (signal.aborted) break;
        this.#met(describeError(error), failures);
        await clock.sleep(backoff(failures, RETRY, random), signal).catch(() => {});
      }
    }
    return undefined;
  }

  #met(error: string, failures: number): void {
    const { log } = this.#world;
    this.#failure = error;
    if (this.#loggedErrors.has(error) || this.#loggedErrors.size === MAX_TEXTS)
      log.debug('API discovery is still failing, retrying', { error, failures });
    else log.warn('API discovery has not succeeded yet', { error });
    if (this.#loggedErrors.size < MAX_TEXTS) this.#loggedErrors.add(error);
  }

  #waitsFor(): string | undefined {
    if (this.#isOver) return undefined;
    return `API discovery has not succeeded yet: ${this.#failure ?? 'the request is in progress'}`;
  }
}

/** How long a cache may fail before a restart is worth a try. */
const MAX_FAILING_MS: Millis = 5 * 60_000;

/**
 * The checks of `/healthz`: fails when a cache could not list or watch for 5 minutes without a break. A process that decides on such a stale state is better
 * restarted, since the cause may be in the process itself.
 */
export function healthChecks(informers: Pick<Informers, 'failing'>): Check[] {
  const stuck = (): string | undefined => {
    const caches = informers.failing.filter(({ problem }) => problem !== undefined && problem.forMs >= MAX_FAILING_MS);
    return caches.length === 0 ? undefined : `no successful list or watch for 5 minutes: ${named(caches)}`;
  };
  return [{ name: 'caches', problem: stuck, detail: () => stuck() ?? 'no cache has been failing for 5 minutes' }];
}

/**
 * The checks of `/readyz`. A standby is ready, as in Kubernetes' own components: its caches are synced and it takes over quickly, and a rollout that waits
 * for readiness would otherwise wait for the leader to exit. So the leader check shows the leader, and fails only where this process can never lead, since it
 * may not read or write the lease.
 */
export function readyChecks(
  informers: Pick<Informers, 'unsynced' | 'failing'>,
  leadership: Pick<Leadership, 'describe' | 'refusal'> | undefined,
  discovery: Pick<Discovery, 'check' | 'isOver'>,
): Check[] {
  const unfilled = (): string | undefined => (discovery.isOver ? waitsFor(informers) : 'not chosen yet: waiting for API discovery');
  const caches: Check = { name: 'caches', problem: unfilled, detail: () => unfilled() ?? 'all have synced' };
  const checks = discovery.check === undefined ? [caches] : [discovery.check, caches];
  return leadership === undefined
    ? checks
    : [...checks, { name: 'leader', problem: () => leadership.refusal, detail: () => leadership.describe() }];
}

/** Failing caches are named as well, even if synced: decisions on them are based on an old state. */
function waitsFor({ unsynced, failing }: Pick<Informers, 'unsynced' | 'failing'>): string | undefined {
  const aging = failing.filter(({ name }) => !unsynced.some((one) => one.name === name));
  const problems = [
    ...(unsynced.length === 0 ? [] : [`not synced: ${named(unsynced)}`]),
    ...(aging.length === 0 ? [] : [`synced, but failing since: ${named(aging)}`]),
  ];
  return problems.length === 0 ? undefined : problems.join('; ');
}

/** An unreachable server fails all caches alike: the text is shown once for all. */
function named(caches: readonly Waiting[]): string {
  const groups = Map.groupBy(caches, ({ problem }) => problem?.text.replace(/^Cannot [A-Z]+ \S+ /, ''));
  const texts = [...groups.values()].map(([first, ...alike]) => {
    const { name = '', problem } = first ?? {};
    const others = alike.length === 0 ? '' : `, and so ${alike.map((one) => one.name).join(', ')}`;
    return `${name} (${problem === undefined ? 'its first list is in progress' : problem.text})${others}`;
  });
  return texts.join('; ');
}
