import type { Choice } from './choose-carrier.ts';
import { type ConfigStatus, type NodeConfigState, sameConfigStatus } from './node-config-state.ts';
import { backoff, Trigger } from '../../base/waiting.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Wanted } from '../sync/plan.ts';
import { describeError } from '../../base/errors.ts';

const limits = { base: 500, cap: 30_000 };
/** Longest wait for sync to look at what is wanted, in ms. */
const MAX_SILENCE_MS = 2000;
/** Pause after a patch that says what the one before it said, in ms. */
const CONFLICT_BACKOFF_MS = 1000;

export interface ReporterDeps {
  carrier: Carrier;
  configState: NodeConfigState;
  clock: Clock;
  random: Random;
  log: Log;
  onKept: (kept: boolean) => void;
}

/** Writes the picture whenever it changed or the carrier's object was seen, and tries again until it is written (design Q6). */
export class Reporter {
  readonly #deps: ReporterDeps;
  readonly #due = new Trigger();
  /** There was a report before the picture was complete. */
  #isAwaited = false;

  constructor(deps: ReporterDeps) {
    this.#deps = deps;
    deps.configState.onChange(() => this.#due.notify());
  }

  /** The carrier's object was seen. */
  notify(): void {
    this.#due.notify();
  }

  /**
   * Until the signal aborts.
   * @param complete - resolves when the picture is: what a sync run has refused would else be missing from the first report of every start,
   *   and the report on a Node that was created again would say that the config is absent. Waited for 2 s at most, since a ConfigMap that nobody serves must not
   *   keep a node silent
   */
  async run(signal: AbortSignal, complete: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { carrier, configState, clock, random, log, onKept } = this.#deps;
    let told: ConfigStatus | undefined;
    for (let failures = 0; !signal.aborted;) {
      if (failures === 0) await this.#due.wait(signal);
      const isComplete = await this.#untilComplete(complete, signal);
      if (signal.aborted) return;
      this.#due.reset();
      try {
        const { shown: picture } = configState;
        const { sent, kept } = await carrier.report(picture, signal, { isComplete: isComplete && !configState.isHeld() });
        if (sent || !kept) onKept(kept);
        // The same once more: someone else writes these fields too. Answering at once would go on for ever.
        if (sent && told && sameConfigStatus(told, picture)) await clock.sleep(CONFLICT_BACKOFF_MS, signal).catch(() => {});
        if (sent) told = picture;
        if (sent && !kept) {
          log.warn(
            'the API server accepted the status but dropped its fields: its DynamicKubeletConfig gate is off, or it is 1.26 or newer',
            {
              carrier: carrier.name,
            },
          );
        }
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        const wait = backoff(failures, limits, random);
        log[failures === 1 ? 'warn' : 'debug']('failed to write status, retrying', { carrier: carrier.name, failures, error });
        // A change or a new look at the object is a better reason to try than the clock.
        await this.#due.waitOr(wait, clock, signal);
      }
    }
  }

  /** @returns false: it took too long; once it is, that is reported too */
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
  /** The first complete list and every change of what is wanted. Never called before the server has answered. */
  onWanted(wanted: Wanted): void;
  /** The object was seen, whatever changed in it: the moment to compare what is reported with how things are. */
  onSeen(): void;
  /** The object cannot be watched at the moment. */
  onTrouble?(text: string): void;
  /** Which object assigns, and why; whenever that changes. */
  onChosen?(choice: Choice): void;
  /** The kubelet's own version, as its Node says it. */
  onKubeletVersion?(text: string): void;
}

/** `kept: false`: the server answered 200 and dropped the fields (spec 13). */
export type Reported = { sent: boolean; kept: boolean };

/** How a node learns its assignment and reports: upstream's Node fields, or an object of our own. Everything else is the same. */
export interface Carrier {
  readonly name: 'node' | 'nodeconfig' | 'auto';
  /** Watches until the signal aborts. Survives every failure of the server. */
  watch(handlers: CarrierHandlers, signal: AbortSignal): Promise<void>;
  /**
   * Writes the picture where it differs from what was last seen there.
   * @param of - `isComplete: false`: what is wanted has not been looked at, or the agent is about to exit for it, so that the picture speaks of what was wanted before
   * @throws ApiError, TransportError
   */
  report(picture: ConfigStatus, signal: AbortSignal, of: { isComplete: boolean }): Promise<Reported>;
}

const members = { Node: 'node', NodeConfig: 'nodeConfig' } as const;

/**
 * Reports failures of a carrier's watch: the first in a row as a warning, the others at level debug, so that a long outage is one line of the log.
 * @param handlers - `onTrouble` gets the text of each
 */
export function failedWatch(
  log: Log,
  kind: keyof typeof members,
  name: string,
  handlers: { onTrouble?(text: string): void },
): (error: unknown, failures: number) => void {
  return (error, failures) => {
    log[failures === 1 ? 'warn' : 'debug'](`failed to watch ${kind}, retrying`, { [members[kind]]: name, failures, error });
    handlers.onTrouble?.(describeError(error));
  };
}
