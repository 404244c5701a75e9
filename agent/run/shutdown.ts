import { isKubeletDown } from '../host/unit.ts';
import type { AgentOptions, AgentWorld } from '../options.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
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

/**
 * Notes a clean stop if no kubelet runs while the agent is stopped. If the machine is shutting down, its next boot finds that.
 * @param id - kernel boot id; '' where it is unknown, then nothing is noted
 */
export async function noteStop(
  cleanStop: Pick<CleanStop, 'note'>,
  id: string,
  options: Pick<AgentOptions, 'kubeletHealthz' | 'kubeletUnit'>,
  world: Pick<AgentWorld, 'clock' | 'exec' | 'probe'>,
): Promise<void> {
  const { clock, probe } = world;
  const isSilent = async (): Promise<boolean> =>
    options.kubeletHealthz === '' || !(await probe(options.kubeletHealthz, new AbortController().signal)).healthy;
  if (id !== '' && (await isKubeletDown(options, world, isSilent))) await cleanStop.note(id, new Date(clock.now()).toISOString());
}

/** Longest clean-stop.json that is read, in bytes. It has some 100. */
const MAX_MARKER_BYTES = 4096;

/**
 * `D/clean-stop.json`: the boot id of the boot in which the agent was stopped while no kubelet ran. Only such a boot can have ended by a shutdown; a
 * panic, a power cut or a hang writes no such file. It is a separate file, since a full disk allows removing a file but not rewriting one.
 */
export class CleanStop {
  readonly #disk: Pick<Disk, 'read' | 'replace' | 'remove'>;
  readonly #path: string;
  readonly #log: Log;

  constructor(disk: Pick<Disk, 'read' | 'replace' | 'remove'>, path: string, log: Log) {
    this.#disk = disk;
    this.#path = path;
    this.#log = log;
  }

  /** Boot id of the last clean stop; undefined where the file is missing or unreadable. */
  async boot(): Promise<string | undefined> {
    try {
      const { bootId } = JSON.parse(new TextDecoder().decode(await this.#disk.read(this.#path, MAX_MARKER_BYTES))) as { bootId?: unknown };
      return typeof bootId === 'string' && bootId !== '' ? bootId : undefined;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.#log.warn('failed to read the clean-shutdown marker', { path: this.#path, error });
      return undefined;
    }
  }

  /** @param at - RFC 3339, UTC; for people */
  async note(bootId: string, at: string): Promise<void> {
    await this.#disk.replace(this.#path, new TextEncoder().encode(`${JSON.stringify({ bootId, at })}\n`)).catch((error: unknown) =>
      this.#log.warn('failed to write the clean-shutdown marker, the next boot will count as a kubelet exit', {
        path: this.#path,
        error,
      }),
    );
  }

  /** The machine runs: the clean stop belongs to an earlier boot and must not excuse the end of this one. */
  async clear(): Promise<void> {
    await this.#disk
      .remove(this.#path)
      .catch((error: unknown) => this.#log.error('failed to remove the clean-shutdown marker', { path: this.#path, error }));
  }
}
