import { inThisBoot, type ThisBoot } from './record.ts';
import { condemn, type CondemnDeps } from './condemn.ts';
import { exitsText } from './next.ts';
import { sourceText } from '../checkpoint/source.ts';
import type { AgentOptions } from '../options.ts';
import { sameContent } from '../store/content.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

export interface CountBootDeps extends CondemnDeps {
  options: Pick<AgentOptions, 'maxKubeletExits'>;
  cleanStop: CleanStop;
  bootId: string;
}

/**
 * Counts this boot of the machine against the config on trial, where it has to, before the config of this start is chosen: one that took the
 * machine down too often must not meet a kubelet again. Never throws.
 */
export async function countBoot(deps: CountBootDeps): Promise<ThisBoot> {
  const { store, cleanStop, bootId, options, clock, log } = deps;
  const boot: ThisBoot = { bootId, stoppedIn: await cleanStop.boot() };
  try {
    const found = await store.trial();
    const isCondemned = found && (await store.condemned()).some((record) => sameContent(record, found));
    const old = isCondemned ? undefined : found;
    const record = old && inThisBoot(old, boot);
    if (old && record && record !== old) {
      const isCounted = record.uncleanBoots !== old.uncleanBoots;
      const { source, kubeletConfigKey, contentSha256, uncleanBoots = 0, exits } = record;
      if (isCounted)
        log.warn('machine restarted without a clean shutdown during a trial, counting it as a kubelet exit', {
          source: sourceText(source),
          uncleanBoots,
        });
      const written = await store.setTrial(record).then(
        () => true,
        (error: unknown) => {
          log.error('the trial cannot be written', { error });
          return false;
        },
      );
      // A count that no later boot would find cannot reach its limit: one is enough then.
      const isTooMuch = uncleanBoots >= options.maxKubeletExits || !written;
      if (isCounted && isTooMuch) {
        const evidence = [`${new Date(clock.now()).toISOString()} boot ${bootId} started without a clean shutdown of boot ${old.bootId}`];
        const reason = `${exitsText({ exits, uncleanBoots })}${written ? '' : ', and the store takes no count'}`;
        await condemn(deps, { source, content: { kubeletConfigKey, contentSha256 }, reason, evidence });
      }
    }
  } catch (error) {
    log.error('this boot cannot be counted against the config on trial', { error });
  }
  if (boot.stoppedIn !== undefined) await cleanStop.clear();
  return boot;
}

/**
 * `D/clean-stop.json`: names the boot of the machine in which the agent was stopped while no kubelet ran. Only such a boot can have ended by a
 * shutdown; a panic, a power cut or a hang leaves no mark. A separate file, since removing one works on a full disk and rewriting one does not.
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

  /** The machine goes on: whatever ends it now is no part of that stop. */
  async clear(): Promise<void> {
    await this.#disk
      .remove(this.#path)
      .catch((error: unknown) => this.#log.error('failed to remove the clean-shutdown marker', { path: this.#path, error }));
  }
}

/** The file is some 100 bytes. */
const MAX_BYTES = 4096;
