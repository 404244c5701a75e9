import type { AgentOptions, AgentWorld } from '../options.ts';

export interface ShutdownDeps {
  options: Pick<AgentOptions, 'restartSpread'>;
  world: Pick<AgentWorld, 'clock' | 'random' | 'log' | 'notify' | 'stop'>;
}

/**
 * The way out. The agent leaves by exit code 0 so that systemd starts it again on what is on disk then. Everyone else sees the
 * signal and ends.
 */
export class Shutdown {
  readonly #deps: ShutdownDeps;
  readonly #over = new AbortController();
  #leaving: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #why = 'asked to stop';

  constructor(deps: ShutdownDeps) {
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

  /**
   * Ends the agent. A new assignment (`spread`) may wait for a random part of --restart-spread, so that a fleet does not restart at once; what
   * goes back never waits, and ends a wait that is under way.
   */
  async leave(why: string, { spread = false }: { spread?: boolean } = {}): Promise<void> {
    const { options, world } = this.#deps;
    if (this.signal.aborted) return;
    // systemd is being told already: it is too late for another reason.
    if (this.#ending) return this.#ending;
    if (!spread || !this.#leaving) {
      this.#why = why;
      world.log.info('exiting to restart kubelet', { why });
    }
    if (!spread) return this.#end();
    this.#leaving ??= world.clock
      .sleep(options.restartSpread * world.random(), this.signal)
      .catch(() => {})
      .then(() => this.#end());
    return this.#leaving;
  }

  /** Resolves when the agent is to end. */
  left(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  #end(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    this.#ending ??= this.#deps.world.notify.stopping().then(() => this.#over.abort());
    return this.#ending;
  }
}
