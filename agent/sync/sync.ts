import type { Executor } from './execute.ts';
import { observe, type ConfigMapSeen, type ObserveDeps } from './observe.ts';
import { planSync, type Wanted } from './plan.ts';
import type { SpecSource } from '../checkpoint/source.ts';
import { isSyncError, statusErrors } from '../status/node-config-state.ts';
import type { Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { Trigger } from '../../base/waiting.ts';
import { configMaps, type KubeObject } from '../../kube/api/object.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import { watchObject, type WatchDeps } from '../../kube/client/watch-object.ts';

export interface SyncDeps extends ObserveDeps, WatchDeps {
  executor: Executor;
  /** Longest wait before a failed sync is retried when no event triggers it earlier, in ms. */
  intervalMs: Millis;
  onRun: (failed: boolean) => void;
  /** Reports the details of a failed sync that `status.config.error` leaves out; null: none. */
  onProblem: (problem: string | null) => void;
}

/**
 * Syncs whenever Node, ConfigMap or store changed, one sync at a time. Does nothing before both are listed for the first time: upstream
 * reports an error for a moment then.
 * Events trigger a sync; the interval only retries failed syncs and evaluates refused configs again.
 */
export class Sync {
  readonly #deps: SyncDeps;
  readonly #due = new Trigger();
  #wanted: Wanted | undefined;
  #seen: ConfigMapSeen | undefined;
  #watching: { spec: SpecSource; stop: AbortController } | undefined;
  #end: AbortSignal | undefined;
  /** One entry per `setWanted` that is not synced yet, and one for the first sync. */
  readonly #behind: PromiseWithResolvers<void>[] = [Promise.withResolvers()];

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the latest assignment has been synced. Until then the status has no error, or the error of the previous assignment.
   */
  async caughtUp(): Promise<void> {
    for (let last; (last = this.#behind.at(-1));) await last.promise;
  }

  /** A file that the plan depends on has changed. */
  notify(): void {
    this.#due.notify();
  }

  /** The carrier has read the assignment of this node. */
  setWanted(wanted: Wanted): void {
    this.#wanted = wanted;
    this.#behind.push(Promise.withResolvers());
    this.#watchConfigMap(wanted.at === 'source' ? wanted.spec : undefined);
    this.#due.notify();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#end = signal;
    signal.addEventListener('abort', () => this.#watching?.stop.abort(), { once: true });
    if (this.#wanted?.at === 'source') this.#watchConfigMap(this.#wanted.spec);
    const { clock, intervalMs } = this.#deps;
    for (let settled = true; !signal.aborted;) {
      if (settled) await this.#due.wait(signal);
      else await this.#due.waitOr(intervalMs, clock, signal);
      if (signal.aborted) return;
      const seen = this.#behind.length;
      settled = await this.#syncOnce();
      if (this.#isKnown()) for (const { resolve } of this.#behind.splice(0, seen)) resolve();
    }
  }

  /** @returns whether nothing is left to do until an event */
  async #syncOnce(): Promise<boolean> {
    const { configState, executor, log, onRun, onProblem } = this.#deps;
    const wanted = this.#wanted;
    if (!wanted || !this.#isKnown()) return true;
    try {
      const steps = planSync(await observe(wanted, this.#seen, this.#deps));
      const done = await executor.run(steps);
      onRun(false);
      const said = steps.findLast((step) => step.do === 'report');
      if (said !== undefined) onProblem(said.final !== true && isSyncError(said.error) ? said.detail : null);
      // A fix may happen on this node, where no API watch sees it: a file, swap, a policy. So a sync with an error is retried.
      return done && !steps.some((step) => step.do === 'report' && step.error !== null && step.final !== true);
    } catch (error) {
      log.error('sync failed, retrying', { error: describeError(error) });
      configState.update({ error: statusErrors.syncInternal });
      onProblem(describeError(error));
      onRun(true);
      return false;
    }
  }

  /** Whether the assignment is known and, if it names a ConfigMap, that ConfigMap was read, is absent or cannot be read. */
  #isKnown(): boolean {
    return this.#wanted !== undefined && (this.#wanted.at !== 'source' || this.#seen !== undefined);
  }

  #watchConfigMap(spec: SpecSource | undefined): void {
    const { spec: old } = this.#watching ?? {};
    if (!this.#end || (spec && old && spec.namespace === old.namespace && spec.name === old.name)) return;
    this.#watching?.stop.abort();
    this.#watching = undefined;
    this.#seen = undefined;
    if (!spec || this.#end.aborted) return;
    const stop = new AbortController();
    this.#watching = { spec, stop };
    const see = (seen: ConfigMapSeen): void => {
      if (stop.signal.aborted) return;
      this.#seen = seen;
      this.#due.notify();
    };
    const { log } = this.#deps;
    const configMap = `${spec.namespace}/${spec.name}`;
    let isEarly = false;
    const watched = watchObject<KubeObject>(
      this.#deps,
      configMaps,
      { namespace: spec.namespace, name: spec.name },
      {
        onSeen: ({ object }) => see(object ? { at: 'found', object } : { at: 'absent' }),
        onFailure: (error, failures) => {
          // The Node authorizer sees an assignment a moment after the node does: ignore the first 403.
          if (failures === 1) isEarly = this.#seen === undefined && isForbidden(error);
          if (failures === 1 && isEarly) return;
          log[failures === (isEarly ? 2 : 1) ? 'warn' : 'debug']('failed to watch ConfigMap, retrying', {
            configMap,
            failures,
            error,
          });
          // A ConfigMap that was read before stays valid while the watch fails.
          if (this.#seen === undefined || this.#seen.at === 'failed') see({ at: 'failed', problem: describeError(error) });
        },
      },
      stop.signal,
    );
    watched.catch((error: unknown) => log.error('the watch of the ConfigMap ended', { configMap, error }));
  }
}
