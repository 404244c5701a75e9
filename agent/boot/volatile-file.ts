import { basename, dirname, join } from 'node:path';
import type { AgentOptions, AgentWorld } from '../options.ts';
import type { Store } from '../store/store.ts';
import type { Disk, Synced } from '../../base/disk.ts';
import type { Millis } from '../../base/clock.ts';
import { tempPrefix } from '../../base/durable-disk.ts';

/**
 * The kubelet's configuration while the disk of the effective file is not writable: `/run/dkc/kubelet.yaml`, in memory. The kubelet's drop-in reads
 * `/run/dkc/kubelet.env` last, which then names that file. A reboot removes both.
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

  /** The file that the kubelet reads instead of the effective file; undefined where it reads the effective file. */
  async read(): Promise<Uint8Array | undefined> {
    const isUsed = await this.#disk.stat(this.#env).catch(() => undefined);
    return isUsed && (await this.#disk.read(this.config).catch(() => undefined));
  }

  async place(bytes: Uint8Array): Promise<void> {
    await this.#disk.makeDir(dirname(this.config), 0o700);
    await this.#disk.replace(this.config, bytes, 0o600);
    // Last, since kubelet.env makes the kubelet read the file.
    await this.#disk.replace(this.#env, new TextEncoder().encode(`KUBELET_CONFIG_ARGS=--config=${this.config}\n`), 0o600);
  }

  async remove(): Promise<void> {
    await this.#disk.remove(this.#env);
    await this.#disk.remove(this.config);
  }
}

const PERIOD_MS: Millis = 30_000;

interface WriteBackDeps {
  options: Pick<AgentOptions, 'effectiveConfig' | 'kubeletExits' | 'kubeletUnit'>;
  world: Pick<AgentWorld, 'clock' | 'disk' | 'log'>;
  store: Pick<Store, 'settleCondemned'>;
  shutdown: { readonly signal: AbortSignal };
}

/**
 * Writes the condemnations and the kubelet's file that are kept in memory back to the disk as soon as it is writable again. Ends when both are on
 * disk, or with the shutdown.
 */
export async function writeBackToDisk({ options, world, store, shutdown }: WriteBackDeps): Promise<void> {
  const { clock, disk, log } = world;
  const { signal } = shutdown;
  const volatileFile = new VolatileFile(options, disk);
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const isSettled = await store.settleCondemned();
      const bytes = options.kubeletUnit === '' ? undefined : await volatileFile.read();
      if (bytes) {
        // The same bytes, so kubelet-sync restarts nothing.
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

/** A sync is slow from this duration on, in ms; a healthy disk needs a few ms. */
const SLOW_MS: Millis = 1000;
/** Time between two checks, in ms. */
const CHECK_MS: Millis = 10_000;
/** After this long without a slow sync the disk counts as healthy again, in ms. */
const WELL_AFTER_MS: Millis = 60_000;

/** Reports in log and `dkc status` that a sync of the disk takes seconds: no write fails, but the agent's work takes minutes. */
export class SlowDisk {
  readonly #world: Pick<AgentWorld, 'clock' | 'log' | 'syncs'>;
  /** The slowest sync since the agent started, the newest slow sync, and the sync that was reported last. */
  #worst: Synced | undefined;
  #newest: Synced | undefined;
  #reported: Synced | undefined;
  #slowAt: Millis = 0;

  constructor(world: Pick<AgentWorld, 'clock' | 'log' | 'syncs'>) {
    this.#world = world;
  }

  /** Logs that READY is sent before the start is done, and the newest slow sync as the likely cause. */
  reportLateStart(): void {
    const { path, ms } = this.#newestSlowSync() ?? {};
    const disk = path === undefined ? {} : { path, syncMs: Math.round(ms ?? 0) };
    this.#world.log.error('start takes long, the kubelet goes on with the effective file that is there', disk);
  }

  /** The slowest sync since the agent started, for people; undefined where no sync was slow. */
  worst(): string | undefined {
    this.#newestSlowSync();
    return this.#worst && `the disk took ${slowText(this.#worst)}`;
  }

  /** Runs until the signal aborts. */
  async run(to: { notice(about: 'disk', text: string | null): void }, signal: AbortSignal): Promise<void> {
    const { clock, log, syncs } = this.#world;
    if (!syncs) return;
    while (!signal.aborted) {
      const slow = this.#newestSlowSync();
      if (slow && slow.ms > 2 * (this.#reported?.ms ?? 0)) {
        this.#reported = slow;
        log.warn('disk is slow', { path: slow.path, syncMs: Math.round(slow.ms) });
        const remedy = 'see what keeps it busy with iostat -x 1, and whether it fails with dmesg';
        to.notice(
          'disk',
          `the disk is slow: it takes ${slowText(slow)}, and whatever the agent records takes a multiple of that; ${remedy}`,
        );
      } else if (this.#reported && clock.monotonic() - this.#slowAt >= WELL_AFTER_MS) {
        this.#reported = undefined;
        this.#newest = undefined;
        log.info('disk is no longer slow');
        to.notice('disk', null);
      }
      await clock.sleep(CHECK_MS, signal).catch(() => {});
    }
  }

  /** @returns the newest slow sync; undefined before the first, and after the disk was reported healthy again */
  #newestSlowSync(): Synced | undefined {
    const { syncs, clock } = this.#world;
    const longest = syncs?.take();
    if (!longest || longest.ms < SLOW_MS) return this.#newest;
    this.#slowAt = clock.monotonic();
    this.#newest = longest;
    if (longest.ms > (this.#worst?.ms ?? 0)) this.#worst = longest;
    return longest;
  }
}

/** Names the directory in place of a temporary file. */
const slowText = ({ path, ms }: Synced): string =>
  `${(ms / 1000).toFixed(1)} s to write ${basename(path).startsWith(tempPrefix) ? dirname(path) : path}`;
