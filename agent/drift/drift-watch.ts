import { ConfigzCheck, type ConfigzDeps, observeDrift } from './observe.ts';
import {
  type Drift,
  type DriftFacts,
  type DriftState,
  dueIn,
  findDrift,
  type Found,
  MAX_CORRECTIONS,
  nextDrift,
  type NextDrift,
  parseCorrections,
  printCorrections,
  recentCorrections,
  reportedDrift,
  resumeDrift,
} from './plan.ts';
import type { BootOutcome } from '../boot/execute.ts';
import { correctsDrift } from '../evaluate/node-inputs.ts';
import type { AgentContext, AgentOptions } from '../options.ts';
import { layout } from '../store/layout.ts';
import type { Millis } from '../../base/clock.ts';
import { Trigger } from '../../base/waiting.ts';

export interface DriftWatchDeps {
  options: ConfigzDeps['options'] & Pick<AgentOptions, 'kubeletExits' | 'policy'>;
  world: ConfigzDeps['world'];
  configState: Pick<AgentContext['configState'], 'active' | 'update'>;
  activeRecord: Pick<AgentContext['activeRecord'], 'drift' | 'notice'>;
  announcer: Pick<AgentContext['announcer'], 'announce'>;
  shutdown: Pick<AgentContext['shutdown'], 'leave'>;
  /** The result of boot. */
  outcome: Pick<BootOutcome, 'used' | 'localProblem' | 'drifted' | 'effective'>;
}

/** Longest time between two checks, in ms. A change of the effective file triggers one at once. */
const CHECK_MS: Millis = 60_000;
/** Time from the first check to the second, in ms: the second one sees changes that were made before the file watch began. */
const SECOND_CHECK_MS: Millis = 10_000;

/** Reports in log, event, status, metric and `dkc status` that this node runs something else than its agent wrote; corrects the file if the policy says so. */
export class DriftWatch {
  readonly #deps: DriftWatchDeps;
  readonly #due = new Trigger();
  readonly #isWrittenByAgent: boolean;
  readonly #configz: ConfigzCheck;
  #state: DriftState = {};

  constructor(deps: DriftWatchDeps) {
    this.#deps = deps;
    const { used, localProblem } = deps.outcome;
    // Without a usable local config boot keeps the existing file, which the agent may not have written.
    this.#configz = new ConfigzCheck(deps);
    this.#isWrittenByAgent = used !== 'local' || localProblem === undefined;
  }

  /** Takes over the drift that the previous agent reported, and sends an event for a file that boot overwrote. */
  async open(): Promise<void> {
    const { world, activeRecord, announcer, outcome, options } = this.#deps;
    const before = await activeRecord.drift();
    const over = before.filter(({ kind }) => kind === 'EffectiveFileChanged' && outcome.effective.usable);
    this.#state = resumeDrift(
      before.filter((drift) => !over.includes(drift)),
      world.clock.monotonic(),
    );
    const { drifted } = outcome;
    if (drifted) {
      const kept = drifted.keptAs === undefined ? '' : `; the changed file is kept as ${drifted.keptAs}`;
      const what = `${options.effectiveConfig} was ${drifted.was === 'missing' ? 'removed' : 'changed by another program or by hand'}`;
      const text = `EffectiveFileChanged: ${what}, and the agent has written its own again${kept}`;
      announcer.announce(text, 'KubeletConfigDrifted', over.length > 0 ? 'Normal' : 'Warning');
    } else for (const drift of over) this.#announceResolved(drift);
  }

  /** The effective file or the policy has changed. */
  notify(): void {
    this.#due.notify();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps.world;
    for (let periodMs = SECOND_CHECK_MS; !signal.aborted; periodMs = CHECK_MS) {
      try {
        await this.#check();
      } catch (error) {
        log.warn('failed to look for drift, retrying', { error });
      }
      const due = dueIn(this.#state, clock.monotonic()) ?? periodMs;
      await this.#due.waitOr(Math.min(due, periodMs), clock, signal);
    }
  }

  async #check(): Promise<void> {
    const { options, world, configState } = this.#deps;
    const { clock } = world;
    const wroteSha256 = configState.active.effectiveSha256;
    const facts = await observeDrift({ options, world, wroteSha256, isWrittenByAgent: this.#isWrittenByAgent });
    const fields = await this.#differingFields(facts);
    const found = findDrift(fields ? { ...facts, fields } : facts);
    const at = new Date(clock.now()).toISOString();
    const plan = (seen: Found): NextDrift => nextDrift(this.#state, seen, clock.monotonic(), at);
    const next = plan(found);
    const changed = next.state.EffectiveFileChanged;
    if (changed?.isReported !== true || !(await correctsDrift(options, world.disk))) return this.#take(next);
    if (await this.#correct()) return;
    const detail = `${changed.detail}; not corrected again, after ${MAX_CORRECTIONS} corrections within an hour`;
    this.#take(plan({ ...found, EffectiveFileChanged: detail }));
  }

  /** Asks /configz only while the kubelet runs on the current effective file. */
  async #differingFields({ effective, start = 'this' }: DriftFacts): Promise<readonly string[] | undefined> {
    if (effective === 'as-written' && start === 'this') return this.#configz.fields(this.#state.KubeletDiffers?.isReported === false);
    this.#configz.forget();
    return undefined;
  }

  #take({ state, began, ended }: NextDrift): void {
    const { world, configState, announcer } = this.#deps;
    this.#state = state;
    for (const { kind, detail } of began) {
      world.log.warn('the kubelet does not run the configuration that the agent wrote', { kind, detail });
      announcer.announce(`${kind}: ${detail}`, 'KubeletConfigDrifted');
    }
    for (const drift of ended) {
      world.log.info('drift resolved', { kind: drift.kind });
      this.#announceResolved(drift);
    }
    configState.update({ drift: reportedDrift(state) });
  }

  #announceResolved({ kind, detail }: Drift): void {
    this.#deps.announcer.announce(`${kind} resolved: ${detail}`, 'KubeletConfigDrifted', 'Normal');
  }

  /**
   * Restarts the agent, so that boot writes the file again. The kubelet restarts only if it was started on the changed file.
   * @returns false where there were {@link MAX_CORRECTIONS} within an hour, or the correction cannot be recorded: another program may keep writing that file
   */
  async #correct(): Promise<boolean> {
    const { options, world, shutdown } = this.#deps;
    const { disk, clock, log } = world;
    const path = layout(options.dynamicConfigDir).drift;
    const before = await disk.read(path).then(
      (bytes) => parseCorrections(new TextDecoder().decode(bytes)),
      () => [],
    );
    const recent = recentCorrections(before, clock.now());
    if (recent.length >= MAX_CORRECTIONS) return false;
    try {
      await disk.replace(path, new TextEncoder().encode(printCorrections([...recent, new Date(clock.now()).toISOString()])));
    } catch (error) {
      log.error('failed to record a correction of the effective file, not correcting it', { path, error });
      return false;
    }
    await shutdown.leave('the effective file was changed by another program or by hand, and the field policy says drift: correct');
    return true;
  }
}
