import { countsAgainst, type ExitsFile, exitText } from './exits.ts';
import { healthOf, type HealthProbe } from './health.ts';
import { nextTrial, type Trial, type TrialLimits, verdictOn } from './next.ts';
import { sourceText } from '../checkpoint/source.ts';
import type { AgentContext, AgentOptions, AgentWorld } from '../options.ts';
import type { NodeConfigState } from '../status/node-config-state.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Trigger } from '../../base/waiting.ts';
import { canRestart, type KubeletStart, type Running, startOf } from '../host/unit.ts';

export interface KubeletWatchDeps {
  options: Pick<AgentOptions, 'kubeletHealthz' | 'trialDuration' | 'unhealthyDeadline' | 'maxKubeletExits'>;
  configState: Pick<NodeConfigState, 'active' | 'picture' | 'update'>;
  exits: Pick<ExitsFile, 'length' | 'since'>;
  clock: Clock;
  log: Log;
  probe: HealthProbe;
  /** Whether the kubelet's unit is active, on the file with this hash. */
  isRunning: (effectiveSha256: string) => Promise<Running>;
  /** Called when the kubelet becomes unhealthy, with the reason, and when it is healthy again (null). */
  onState: (problem: string | null) => void;
}

/** Longest time between two probes, in ms. Long, since every node is probed all the time. */
const MAX_PERIOD_MS: Millis = 30_000;
const EVIDENCE_KEPT = 10;
const fresh: Trial = { healthyMs: 0, unhealthyMs: 0, exits: 0 };

/** Watches the kubelet under a config that is not on trial (trusted or local): an unhealthy kubelet is reported, nothing is rolled back. */
export class KubeletWatch {
  readonly #deps: KubeletWatchDeps;
  readonly #due = new Trigger();
  readonly #periodMs: Millis;
  readonly #limits: TrialLimits;
  #state = fresh;
  #offset = 0;
  #evidence: string[] = [];
  /** Why the kubelet is unhealthy; undefined while it is healthy. */
  #problem: string | undefined;

  constructor(deps: KubeletWatchDeps) {
    this.#deps = deps;
    const { trialDuration, unhealthyDeadline, maxKubeletExits } = deps.options;
    this.#periodMs = Math.max(50, Math.min(MAX_PERIOD_MS, unhealthyDeadline / 4));
    const longestGapMs = 3 * this.#periodMs;
    this.#limits = { trialMs: trialDuration, unhealthyDeadlineMs: unhealthyDeadline, maxExits: maxKubeletExits, longestGapMs };
  }

  /** The exits file changed. */
  notify(): void {
    this.#due.notify();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { exits, clock, log, configState } = this.#deps;
    this.#offset = await exits.length();
    while (!signal.aborted) {
      try {
        if (configState.picture.trial) await this.#skip();
        else await this.#check(signal);
      } catch (error) {
        log.warn('failed to watch kubelet, retrying', { error: describeError(error) });
      }
      await this.#due.waitOr(this.#periodMs, clock, signal);
    }
  }

  /** During a trial the exits are counted by TrialWatch: skip them here. */
  async #skip(): Promise<void> {
    this.#state = fresh;
    this.#offset = await this.#deps.exits.length();
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { options, configState, exits, clock, probe, isRunning } = this.#deps;
    const { effectiveSha256 } = configState.active;
    const read = await exits.since(this.#offset);
    this.#offset = read.offset;
    for (const exit of read.exits.filter((one) => one.effectiveSha256 === effectiveSha256 && countsAgainst(one))) {
      this.#state = nextTrial(this.#state, { kind: 'exited', counts: true }, this.#limits);
      this.#evidence = [...this.#evidence, exitText(exit)].slice(-EVIDENCE_KEPT);
    }
    const isProbed = options.kubeletHealthz !== '';
    const health = isProbed ? await probe(options.kubeletHealthz, signal) : { healthy: true, detail: 'not asked' };
    const { healthy } = health;
    if (signal.aborted) return;
    // Asking systemd starts a process: do it only for an unhealthy kubelet.
    const running = healthy || (await isRunning(effectiveSha256)) !== false;
    this.#state = nextTrial(this.#state, { kind: 'probed', at: clock.monotonic(), healthy, running }, this.#limits);
    this.#conclude();
    if (this.#problem !== undefined) configState.update({ health: { at: 'unhealthy', problem: this.#problem } });
    else if (isProbed) configState.update({ health: healthOf(health) });
  }

  #conclude(): void {
    const { configState, log, onState } = this.#deps;
    const verdict = verdictOn(this.#state, this.#limits);
    const { used, source } = configState.active;
    if (verdict.is === 'failed' && this.#problem === undefined) {
      const rest =
        used === 'local'
          ? 'the local config: there is no other config to fall back to'
          : 'a config that is last known good: it is not condemned, the cause is likely elsewhere';
      const problem = `${verdict.reason} under ${rest}`;
      this.#problem = problem;
      log.error(problem, { source: sourceText(source), evidence: this.#evidence });
      onState(problem);
    }
    // Reset the counts after a healthy time as long as a trial.
    if (this.#state.healthyMs < this.#limits.trialMs) return;
    this.#state = { ...fresh, ...(this.#state.probe ? { probe: this.#state.probe } : {}) };
    this.#evidence = [];
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    log.info('kubelet healthy again', { source: sourceText(source) });
    onState(null);
  }
}

/** Time between two checks, in ms. */
const CHECK_MS: Millis = 60_000;
/** How long a kubelet may run on another file than the effective file before that is reported, in ms. A restart takes seconds. */
const LATE_MS: Millis = 180_000;

interface HandOver {
  /** Since when the kubelet runs on another file, ms on the monotonic clock; absent: it runs on the effective file, or is down. */
  since?: Millis;
  problem: string | null;
}

/** The state after the check at `now`. A kubelet that is down is no problem: its next start reads the effective file. */
function nextHandOver(before: HandOver, start: KubeletStart, now: Millis, unit: string): HandOver {
  if (start === 'this' || start === 'down') return { problem: null };
  const since = before.since ?? now;
  return { since, problem: now - since < LATE_MS ? null : problemOf(start, unit) };
}

const problemOf = (start: 'another' | 'unknown', unit: string): string => {
  const what = {
    another: 'the kubelet has not been started on the effective file, so its trial cannot end',
    unknown: 'it is unknown which file the kubelet was started on, so its exits do not count in a trial',
  }[start];
  return `${what}: is the drop-in 20-dkc.conf loaded, and does it name the effective file? is /run full? See systemctl cat ${unit}, journalctl -u dkc-agent -u ${unit}`;
};

interface HandOverDeps {
  options: Pick<AgentOptions, 'kubeletExits' | 'kubeletUnit'>;
  world: Pick<AgentWorld, 'clock' | 'log' | 'exec'> & { disk: Pick<AgentWorld['disk'], 'read'> };
  configState: { readonly active: Pick<NodeConfigState['active'], 'effectiveSha256'> };
  activeRecord: Pick<AgentContext['activeRecord'], 'notice'>;
  shutdown: Pick<AgentContext['shutdown'], 'leave' | 'signal'>;
  announcer: Pick<AgentContext['announcer'], 'announce'>;
}

/**
 * Reports in log, event and `dkc status` that the kubelet does not use the effective file: until it does, a trial cannot end. Where systemd refused to
 * restart the unit and accepts restarts again, the agent exits, so that kubelet-sync requests the restart at the agent's next start.
 */
export async function watchHandOver({ options, world, configState, activeRecord, shutdown, announcer }: HandOverDeps): Promise<void> {
  if (options.kubeletUnit === '') return;
  const { clock, log } = world;
  const { signal } = shutdown;
  const startNow = (): Promise<KubeletStart> => startOf(configState.active.effectiveSha256, options, world);
  const refuses = async (start: KubeletStart, before: boolean): Promise<boolean> => {
    if (start === 'this' || start === 'down') return false;
    const can = await canRestart(options.kubeletUnit, world.exec);
    return can === undefined ? before : !can;
  };
  let state: HandOver = { problem: null };
  let isRefused = await refuses(await startNow(), false);
  for (;;) {
    await clock.sleep(CHECK_MS, signal).catch(() => {});
    if (signal.aborted) return;
    const before = state.problem;
    const start = await startNow();
    const wasRefused = isRefused;
    isRefused = await refuses(start, wasRefused);
    if (wasRefused && !isRefused && start !== 'this' && start !== 'down')
      return shutdown.leave(`${options.kubeletUnit} can be restarted again, and does not run the new configuration yet`);
    state = nextHandOver(state, start, clock.monotonic(), options.kubeletUnit);
    if (state.problem === before) continue;
    activeRecord.notice('hand-over', state.problem);
    if (state.problem === null) log.info('the kubelet runs on the effective file', { unit: options.kubeletUnit });
    else {
      log.error(state.problem, { unit: options.kubeletUnit });
      // `another` file is drift, which sends its own event.
      if (start === 'unknown') announcer.announce(state.problem);
    }
  }
}
