import type { AgentOptions, AgentWorld } from '../options.ts';
import { aborted } from '../../base/waiting.ts';

export interface ShutdownDeps {
  options: Pick<AgentOptions, 'restartSpread'>;
  world: Pick<AgentWorld, 'clock' | 'random' | 'log' | 'notify' | 'stop'>;
}

/**
 * Ends the agent. It exits with code 0 so that systemd starts it again and boot uses what is on disk by then. Every loop ends when `signal` aborts.
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
   * Ends the agent. For a new assignment (`spread`) it first waits a random part of --restart-spread, so that a fleet does not restart at once.
   * A rollback never waits, and cuts such a wait short.
   */
  async leave(why: string, { spread = false }: { spread?: boolean } = {}): Promise<void> {
    const { options, world } = this.#deps;
    if (this.signal.aborted) return;
    // STOPPING is being sent already: too late for another reason.
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
    return aborted(this.signal);
  }

  #end(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    this.#ending ??= this.#deps.world.notify.stopping().then(() => this.#over.abort());
    return this.#ending;
  }
}
