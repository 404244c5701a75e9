import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/**
 * `D/clean-stop.json`: names the boot of the machine in which the agent was stopped while no kubelet ran. Only such a boot can have ended by a
 * shutdown; a panic, a power cut or a hang leaves no mark. A file of its own, since removing one works on a full disk and rewriting one does not.
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

  /** Boot id of the last clean stop; undefined where there is none, or none that can be read. */
  async boot(): Promise<string | undefined> {
    try {
      const { bootId } = JSON.parse(new TextDecoder().decode(await this.#disk.read(this.#path, MAX_BYTES))) as { bootId?: unknown };
      return typeof bootId === 'string' && bootId !== '' ? bootId : undefined;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.#log.warn('the mark of a clean stop cannot be read', { path: this.#path, error });
      return undefined;
    }
  }

  /** @param at - RFC 3339, UTC; for people */
  async note(bootId: string, at: string): Promise<void> {
    await this.#disk
      .replace(this.#path, new TextEncoder().encode(`${JSON.stringify({ bootId, at })}\n`))
      .catch((error: unknown) =>
        this.#log.warn('the clean stop cannot be noted: the next boot counts as an exit of the kubelet', { path: this.#path, error }),
      );
  }

  /** The machine goes on: whatever ends it now is no part of that stop. */
  async clear(): Promise<void> {
    await this.#disk
      .remove(this.#path)
      .catch((error: unknown) => this.#log.error('the mark of a clean stop cannot be removed', { path: this.#path, error }));
  }
}

/** The file is some 100 bytes. */
const MAX_BYTES = 4096;
