import type { AgentOptions } from '../options.ts';
import type { NodeConfigState } from '../status/node-config-state.ts';
import { planPrune } from './prune.ts';
import type { Store } from './store.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Trigger } from '../../base/waiting.ts';

export interface CheckpointGCDeps {
  options: Pick<AgentOptions, 'effectiveConfig' | 'keepCheckpoints'>;
  disk: Pick<Disk, 'read'>;
  log: Log;
  store: Store;
  configState: NodeConfigState;
}

/** Removes unneeded checkpoints, which upstream never does: after the start, after each save, and when assigned, active or last-known-good changes. */
export class CheckpointGC {
  readonly #deps: CheckpointGCDeps;
  readonly #due = new Trigger();

  constructor(deps: CheckpointGCDeps) {
    this.#deps = deps;
    this.#due.notify();
    deps.configState.onChange(() => this.#due.notify());
  }

  /** A checkpoint was saved. */
  notify(): void {
    this.#due.notify();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#due.wait(signal);
      if (signal.aborted) return;
      await this.#collect().catch((error: unknown) => this.#deps.log.warn('old checkpoints cannot be removed', { error }));
    }
  }

  async #collect(): Promise<void> {
    const { options, disk, log, store, configState } = this.#deps;
    await store.locked(async () => {
      const assigned = await store.record('assigned');
      const trusted = await store.record('last-known-good');
      const effective = await disk.read(options.effectiveConfig).catch((error: unknown) => {
        // Unreadable is not empty: then it is unknown which checkpoints hold files that the kubelet opens.
        if (errorCode(error) !== 'ENOENT') throw error;
        return new Uint8Array();
      });
      const decisions = planPrune({
        entries: await store.list(),
        assignedKnown: assigned.at === 'known',
        assigned: assigned.at === 'known' ? assigned.source : null,
        lastKnownGood: trusted.at === 'known' ? trusted.source : null,
        active: configState.active.source,
        effectiveText: new TextDecoder().decode(effective),
        keep: options.keepCheckpoints,
      });
      for (const { entry, kept } of decisions) {
        if (kept !== undefined) continue;
        await store.removeCheckpoint(entry.ref);
        log.info('old checkpoint removed', { ...entry.ref });
      }
    });
  }
}
