import { dirname, join } from 'node:path';
import type { AgentContext, AgentOptions } from '../options.ts';
import type { Disk } from '../../base/disk.ts';
import type { Millis } from '../../base/clock.ts';

/**
 * Where the kubelet finds its configuration when the disk of the effective file takes no writes: `/run/dkc/kubelet.yaml`, in memory. The kubelet's
 * drop-in reads `/run/dkc/kubelet.env` last, which then names that file. Both are gone after a boot of the machine.
 */
export class VolatileFile {
  readonly config: string;
  readonly #env: string;
  readonly #disk: Pick<Disk, 'read' | 'replace' | 'remove' | 'stat' | 'makeDir'>;

  constructor({ kubeletExits }: Pick<AgentOptions, 'kubeletExits'>, disk: Pick<Disk, 'read' | 'replace' | 'remove' | 'stat' | 'makeDir'>) {
    const dir = dirname(kubeletExits);
    this.config = join(dir, 'kubelet.yaml');
    this.#env = join(dir, 'kubelet.env');
    this.#disk = disk;
  }

  /** What the kubelet reads instead of the effective file; undefined where it reads that one. */
  async read(): Promise<Uint8Array | undefined> {
    const isUsed = await this.#disk.stat(this.#env).catch(() => undefined);
    return isUsed && (await this.#disk.read(this.config).catch(() => undefined));
  }

  async place(bytes: Uint8Array): Promise<void> {
    await this.#disk.makeDir(dirname(this.config), 0o700);
    await this.#disk.replace(this.config, bytes, 0o600);
    // Last, since it is what makes the file count.
    await this.#disk.replace(this.#env, new TextEncoder().encode(`KUBELET_CONFIG_ARGS=--config=${this.config}\n`), 0o600);
  }

  async remove(): Promise<void> {
    await this.#disk.remove(this.#env);
    await this.#disk.remove(this.config);
  }
}

const PERIOD_MS: Millis = 30_000;

/**
 * Takes what had to be kept in memory, since the disk took no writes, back to the disk as soon as it takes them: the condemnations, and the file that
 * the kubelet reads. Ends when nothing is left there, or with the shutdown.
 */
export async function writeBackToDisk({ options, world, store, shutdown }: AgentContext): Promise<void> {
  const { clock, disk, log } = world;
  const { signal } = shutdown;
  const volatileFile = new VolatileFile(options, disk);
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const isSettled = await store.settleCondemned();
      const bytes = options.kubeletUnit === '' ? undefined : await volatileFile.read();
      if (bytes) {
        // The same bytes: kubelet-sync compares, and restarts nothing.
        await disk.replace(options.effectiveConfig, bytes, 0o600);
        await volatileFile.remove();
      }
      if (isSettled) {
        if (failures > 0) log.info('disk is writable again, records written back');
        return;
      }
    } catch (error) {
      log[failures === 0 ? 'error' : 'debug']('disk is not writable, records are kept in /run', { failures, error });
    }
    await clock.sleep(PERIOD_MS, signal).catch(() => {});
  }
}
