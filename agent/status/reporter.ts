import type { Choice } from './choose-carrier.ts';
import { type ConfigStatus, type NodeConfigState, sameConfigStatus } from './node-config-state.ts';
import { backoff, Trigger } from '../../base/waiting.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Wanted } from '../sync/plan.ts';
import { describeError } from '../../base/errors.ts';
import { isConflict } from '../../kube/client/errors.ts';

const limits = { base: 500, cap: 30_000 };
/** Longest wait for sync to complete before a report, in ms. */
const MAX_SILENCE_MS = 2000;
/** Consecutive failures after which `dkc status` shows the problem: some ten seconds, so that a short outage is not shown. */
const NOTICE_AFTER_FAILURES = 5;
/** Pause after a patch with the same content as the previous one, in ms. */
const CONFLICT_BACKOFF_MS = 1000;

export interface ReporterDeps {
  carrier: Carrier;
  configState: NodeConfigState;
  clock: Clock;
  random: Random;
  log: Log;
  onKept: (kept: boolean) => void;
  /** Called with the error after several consecutive failures to write the status, and with null once the status is written. */
  onProblem: (problem: string | null) => void;
}

/** Writes the picture whenever it changed or the watch delivered the carrier's object, and retries until it is written. */
export class Reporter {
  readonly #deps: ReporterDeps;
  readonly #due = new Trigger();
  /** A report was sent before the picture was complete; the next one follows when it is. */
  #isAwaited = false;

  constructor(deps: ReporterDeps) {
    this.#deps = deps;
    deps.configState.onChange(() => this.#due.notify());
  }

  /** The watch delivered the carrier's object. */
  notify(): void {
    this.#due.notify();
  }

  /**
   * Runs until the signal aborts.
   * @param complete - resolves when the picture is complete (sync has run). Otherwise the first report of every start would lack a rejected config, and the
   *   report on a Node that was created again would say that the config is absent. The wait is 2 s at most: a ConfigMap that cannot be read must not
   *   block the status
   */
  async run(signal: AbortSignal, complete: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { carrier, configState, clock, random, log, onKept, onProblem } = this.#deps;
    let reported: ConfigStatus | undefined;
    for (let failures = 0; !signal.aborted;) {
      if (failures === 0) await this.#due.wait(signal);
      const isComplete = await this.#untilComplete(complete, signal);
      if (signal.aborted) return;
      this.#due.reset();
      try {
        const { shown: picture, isHeld } = configState;
        // A report during a hold is about the previous assignment: another one follows.
        if (isComplete && isHeld) configState.notifyAfterHold();
        const { sent, noted, kept } = await carrier.report(picture, signal, { isComplete: isComplete && !isHeld });
        if (sent || !kept) onKept(kept);
        // The same patch again: another client writes these fields too. Without a pause both would write in a tight loop.
        const isWritten = sent || noted === true;
        if (isWritten && reported && sameConfigStatus(reported, picture)) await clock.sleep(CONFLICT_BACKOFF_MS, signal).catch(() => {});
        if (isWritten) reported = picture;
        if (sent && !kept) {
          log.warn(
            'the API server accepted the status but dropped its fields: its DynamicKubeletConfig gate is off, or it is 1.26 or newer',
            {
              carrier: carrier.name,
            },
          );
        }
        if (failures >= NOTICE_AFTER_FAILURES) onProblem(null);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        const wait = backoff(failures, limits, random);
        // Reported once: a webhook may reject with a different message each time, and each notice is a disk write.
        if (failures === NOTICE_AFTER_FAILURES) onProblem(describeError(error));
        // After a conflict the watch delivers the newer object: that is usual beside other writers.
        const level = failures === 1 && !isConflict(error) ? 'warn' : 'debug';
        log[level]('failed to write status, retrying', { carrier: carrier.name, failures, error });
        // A change of the picture or a watch event triggers the retry earlier.
        await this.#due.waitOr(wait, clock, signal);
      }
    }
  }

  /** @returns false when the wait timed out; another report follows when the picture is complete */
  async #untilComplete(complete: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
    const done = new AbortController();
    const limit = this.#deps.clock.sleep(MAX_SILENCE_MS, AbortSignal.any([signal, done.signal])).then(
      () => false,
      () => false,
    );
    const isComplete = await Promise.race([complete().then(() => true), limit]).catch(() => true);
    done.abort();
    if (!isComplete && !this.#isAwaited) {
      this.#isAwaited = true;
      const report = (): void => {
        this.#isAwaited = false;
        this.#due.notify();
      };
      void complete().then(report, report);
    }
    return isComplete;
  }
}

export interface CarrierHandlers {
  /** Called after the first complete list and at every change of the assignment. Never called before the server has answered. */
  onWanted(wanted: Wanted): void;
  /** Called for every list and watch event of the object, so that the reported status is compared with the current one. */
  onSeen(): void;
  /** Called when the watch of the object fails. */
  onFailure?(text: string): void;
  /** Called when the object that assigns, or the reason, changes. */
  onChosen?(choice: Choice): void;
  /** Called with the kubelet's version from the Node's nodeInfo. */
  onKubeletVersion?(text: string): void;
}

/** `kept: false`: the server answered 200 and dropped the fields, as without the gate or from 1.26 on. `noted`: the annotation was written, and no field. */
export type Reported = { sent: boolean; noted?: boolean; kept: boolean };

/** The object that assigns a node's config and gets its status: upstream's Node fields, or a NodeConfig. */
export interface Carrier {
  readonly name: 'node' | 'nodeconfig' | 'auto';
  /** Watches until the signal aborts; retries after every failure. */
  watch(handlers: CarrierHandlers, signal: AbortSignal): Promise<void>;
  /**
   * Writes the picture where it differs from the last seen status.
   * @param of - `isComplete: false`: the current assignment is not synced yet, or the agent is about to exit for it: the picture refers to the previous one
   * @throws ApiError, TransportError
   */
  report(picture: ConfigStatus, signal: AbortSignal, of: { isComplete: boolean }): Promise<Reported>;
}

const members = { Node: 'node', NodeConfig: 'nodeConfig' } as const;

/**
 * Logs failures of a carrier's watch: the first in a row as a warning, the others at level debug, so that a long outage is one line of the log.
 * @param handlers - `onFailure` is called with the text of each failure
 */
export function failedWatch(
  log: Log,
  kind: keyof typeof members,
  name: string,
  handlers: { onFailure?(text: string): void },
): (error: unknown, failures: number) => void {
  return (error, failures) => {
    log[failures === 1 ? 'warn' : 'debug'](`failed to watch ${kind}, retrying`, { [members[kind]]: name, failures, error });
    handlers.onFailure?.(describeError(error));
  };
}
