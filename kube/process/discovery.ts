import { backoff } from '../../base/waiting.ts';
import { describeError } from '../../base/errors.ts';
import type { Client } from '../client/client.ts';
import type { Check } from '../serving/checks.ts';
import type { ProcessOptions, Setup, World } from './contract.ts';

const RETRY = { base: 500, cap: 15_000 };
/** Texts that differ by a number each time must not fill the log. */
const MAX_TEXTS = 5;

/** What a process has to ask its server before it knows which caches to fill. It asks until it is answered: a server may come later than its clients. */
export class Discovery {
  readonly #setup: ProcessOptions['setup'];
  readonly #world: Pick<World, 'clock' | 'random' | 'log'>;
  readonly #told = new Set<string>();
  #isOver: boolean;
  #failure: string | undefined;

  constructor(setup: ProcessOptions['setup'], world: Pick<World, 'clock' | 'random' | 'log'>) {
    this.#setup = setup;
    this.#world = world;
    this.#isOver = typeof setup === 'function';
  }

  /** Fails until the server has answered. undefined: there is nothing to ask. */
  get check(): Check | undefined {
    if (typeof this.#setup === 'function') return undefined;
    return {
      name: 'discovery',
      problem: () => this.#waitsFor(),
      detail: () => this.#waitsFor() ?? 'API discovery succeeded',
    };
  }

  /** Whether caches are chosen, or can be at once. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * What chooses caches, once the server has said what it serves. Says why it waits when that is news, not at each try.
   * @returns undefined: the signal aborted before
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
    if (this.#told.has(error) || this.#told.size === MAX_TEXTS) log.debug('API discovery is still failing, retrying', { error, failures });
    else log.warn('API discovery has not succeeded yet', { error });
    if (this.#told.size < MAX_TEXTS) this.#told.add(error);
  }

  #waitsFor(): string | undefined {
    if (this.#isOver) return undefined;
    return `API discovery has not succeeded yet: ${this.#failure ?? 'the request is in progress'}`;
  }
}
