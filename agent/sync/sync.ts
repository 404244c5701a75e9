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
  /** The safety net: how long a failure may wait for its next try when no event comes, in ms. */
  intervalMs: Millis;
  onRun: (failed: boolean) => void;
  /** What of the assignment cannot be had or done, which the error leaves out; null: nothing. */
  onProblem: (problem: string | null) => void;
}

/**
 * Syncs whenever Node, ConfigMap or store changed, one sync at a time. Does nothing before the first complete list
 * of both (design Q10). Events drive it; the interval retries what failed, and evaluates again what was refused.
 */
export class Sync {
  readonly #deps: SyncDeps;
  readonly #due = new Trigger();
  #wanted: Wanted | undefined;
  #seen: ConfigMapSeen | undefined;
  #watching: { spec: SpecSource; stop: AbortController } | undefined;
  #end: AbortSignal | undefined;
  /** One for each change of what is wanted that is not synced yet, and one for the first sync. */
  readonly #behind: PromiseWithResolvers<void>[] = [Promise.withResolvers()];

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when what is wanted has been synced. Until then the status does not have its error, or has that of what was wanted before.
   */
  async caughtUp(): Promise<void> {
    for (let last; (last = this.#behind.at(-1));) await last.promise;
  }

  /** Something on disk changed that a plan depends on. */
  notify(): void {
    this.#due.notify();
  }

  /** The carrier has seen what this node should use. */
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
      settled = await this.#look();
      if (this.#isKnown()) for (const { resolve } of this.#behind.splice(0, seen)) resolve();
    }
  }

  /** @returns whether all is done until something changes */
  async #look(): Promise<boolean> {
    const { configState, executor, log, onRun, onProblem } = this.#deps;
    const wanted = this.#wanted;
    if (!wanted || !this.#isKnown()) return true;
    try {
      const steps = planSync(await observe(wanted, this.#seen, this.#deps));
      const done = await executor.run(steps);
      onRun(false);
      const said = steps.findLast((step) => step.do === 'report');
      if (said !== undefined) onProblem(said.final !== true && isSyncError(said.error) ? said.detail : null);
      // What is wrong may be fixed on this node, where no watch of the API sees it: a file, swap, a policy.
      return done && !steps.some((step) => step.do === 'report' && step.error !== null && step.final !== true);
    } catch (error) {
      log.error('sync failed, retrying', { error: describeError(error) });
      configState.update({ error: statusErrors.syncInternal });
      onProblem(describeError(error));
      onRun(true);
      return false;
    }
  }

  /** There is an answer to what is wanted, or why it cannot be had. */
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
          // The Node authorizer learns of an assignment a moment after the node does (spec 14): its first refusal says nothing yet.
          if (failures === 1) isEarly = this.#seen === undefined && isForbidden(error);
          if (failures === 1 && isEarly) return;
          log[failures === (isEarly ? 2 : 1) ? 'warn' : 'debug']('failed to watch ConfigMap, retrying', {
            configMap,
            failures,
            error,
          });
          // Once it was seen, what is known stays in force until the server says otherwise.
          if (this.#seen === undefined || this.#seen.at === 'failed') see({ at: 'failed', problem: describeError(error) });
        },
      },
      stop.signal,
    );
    watched.catch((error: unknown) => log.error('the watch of the ConfigMap ended', { configMap, error }));
  }
}
