import type { AgentOptions } from './options.ts';
import type { AgentWorld } from './world.ts';

export interface DepartureDeps {
  options: Pick<AgentOptions, 'restartSpread'>;
  world: Pick<AgentWorld, 'clock' | 'random' | 'log' | 'notify' | 'stop'>;
}

/**
 * The way out. The agent leaves by exit code 0 so that systemd starts it again on what is on disk then. The first reason counts; everyone
 * else sees the signal and ends.
 */
export class Departure {
  readonly #deps: DepartureDeps;
  readonly #over = new AbortController();
  #leaving: Promise<void> | undefined;
  #why = 'asked to stop';
  /** Sends what was seen as an event once there is an API server to take it. */
  #teller: ((message: string) => void) | undefined;

  constructor(deps: DepartureDeps) {
    this.#deps = deps;
    const { stop } = deps.world;
    if (stop.aborted) this.#over.abort();
    else stop.addEventListener('abort', () => this.#over.abort(), { once: true });
  }

  /** Aborted as soon as the agent is to end. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get why(): string {
    return this.#why;
  }

  /** Ends the agent; with --restart-spread only after a random part of it, so that a fleet does not restart at once. */
  leave(why: string): Promise<void> {
    this.#leaving ??= this.#leave(why);
    return this.#leaving;
  }

  /** Resolves when the agent is to end. */
  left(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  tell(message: string): void {
    this.#teller?.(message);
  }

  setTeller(teller: (message: string) => void): void {
    this.#teller = teller;
  }

  async #leave(why: string): Promise<void> {
    const { options, world } = this.#deps;
    this.#why = why;
    world.log.info('leaving, to start again', { why });
    const spread = options.restartSpread * world.random();
    if (spread > 0) await world.clock.sleep(spread, this.signal).catch(() => {});
    await world.notify.stopping();
    this.#over.abort();
  }
}
