import { type Clock, type Millis, rfc3339 } from '../../base/clock.ts';
import { nextTrial, openRecord, type ThisBoot, type Trial, type TrialLimits, trialOf, verdictOn } from './next.ts';
import { condemn } from './condemn.ts';
import { countsAgainst, type ExitsFile, exitText, type KubeletExit } from './exits.ts';
import { healthOf, type HealthProbe, type NodeHealth } from './health.ts';
import { type ContentRef, sameSource, type Source, sourceText } from '../checkpoint/source.ts';
import type { AgentOptions } from '../options.ts';
import type { Running } from '../host/unit.ts';
import type { NodeConfigState } from '../status/node-config-state.ts';
import { sameContent, storedContent } from '../checkpoint/payload.ts';
import type { JournalEvent, Store, TrialRecord } from '../store/store.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Trigger } from '../../base/waiting.ts';

export interface TrialDeps {
  options: Pick<AgentOptions, 'kubeletHealthz' | 'trialDuration' | 'unhealthyDeadline' | 'maxKubeletExits'>;
  store: Store;
  configState: NodeConfigState;
  exits: ExitsFile;
  clock: Clock;
  log: Log;
  boot: ThisBoot;
  probe: HealthProbe;
  /** Whether the kubelet's unit is active, on the file with this hash. */
  isRunning: (effectiveSha256: string) => Promise<Running>;
  /** Node health from the API server; `now()` is undefined while the API server is unreachable. */
  node?: Pick<NodeHealth, 'follow' | 'now'>;
  onHealthy: (seconds: number) => void;
  /** Reports what blocks the trial, such as a full disk; null once it continues. */
  onProblem?: (problem: string | null) => void;
  /** The slowest sync of the disk, for the evidence. */
  slowDisk?: { worst: () => string | undefined };
  exit: (why: string) => Promise<void>;
}

/** Longest time between two probes of the kubelet, in ms; short trials probe more often. */
const MAX_PERIOD_MS: Millis = 5000;
/** Most healthy or unhealthy time that is not on disk yet, in ms. A killed agent loses it, which only makes the trial longer. */
const MAX_UNSAVED_MS: Millis = 30_000;
const EVIDENCE_KEPT = 10;
const MIN_MOVE_MS: Millis = 30_000;

/**
 * Watches the kubelet under the active dynamic config. When the trial passes, the config becomes last known good; when it fails, the config is
 * condemned and the agent exits, so that boot falls back. Works without an API server.
 */
export class TrialWatch {
  readonly #deps: TrialDeps;
  readonly #due = new Trigger();
  readonly #periodMs: Millis;
  readonly #limits: TrialLimits;
  #record: TrialRecord | undefined;
  #trial: Trial = { healthyMs: 0, unhealthyMs: 0, exits: 0 };
  readonly #longestUnsavedMs: Millis;
  #saved = { healthyMs: 0, unhealthyMs: 0 };
  #evidence: readonly string[] = [];
  #lastHealth = 'not asked yet';
  #trusted: { source: Source; content: ContentRef | undefined } | undefined;

  constructor(deps: TrialDeps) {
    this.#deps = deps;
    const { trialDuration, unhealthyDeadline, maxKubeletExits } = deps.options;
    this.#periodMs = Math.max(50, Math.min(MAX_PERIOD_MS, trialDuration / 10, unhealthyDeadline / 10));
    this.#longestUnsavedMs = Math.min(MAX_UNSAVED_MS, trialDuration / 10, unhealthyDeadline / 4);
    this.#limits = {
      trialMs: trialDuration,
      unhealthyDeadlineMs: unhealthyDeadline,
      maxExits: maxKubeletExits,
      longestGapMs: 3 * this.#periodMs,
    };
  }

  /** Begins or continues the trial of the config in the effective file. Call before READY: the kubelet may start on that file right after. */
  async open(): Promise<void> {
    const { store, configState, clock, boot, log } = this.#deps;
    const { source, content } = configState.active;
    const old = await store.trial().catch((error: unknown) => {
      log.error('trial record cannot be read, continuing without it', { error });
      return undefined;
    });
    if (source === null || !content || configState.active.used !== 'assigned') {
      if (old && (await store.settleCondemned().catch(() => false)))
        await store.setTrial(undefined).catch((error: unknown) => log.error('trial record cannot be removed', { error }));
      return;
    }
    const exitsOffset = await this.#deps.exits.length();
    this.#record = openRecord(old, { source, content, now: new Date(clock.now()).toISOString(), boot, exitsOffset });
    this.#trial = trialOf(this.#record);
    this.#evidence = this.#record.evidence ?? [];
    this.#saved = this.#trial;
    if (await this.#isTrusted(content)) {
      if (old) await store.setTrial(undefined);
      return;
    }
    if (!old || !sameContent(old, content)) log.info('trial begins', { source: sourceText(source), needMs: this.#limits.trialMs });
    this.#showEnd();
    this.#deps.node?.follow(Date.parse(this.#record.assignedAt));
    await this.#save();
  }

  /** The exits file or the name of the source has changed. */
  notify(): void {
    this.#due.notify();
  }

  /** Runs until the signal aborts, or no config is on trial any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    let failure = '';
    while (!signal.aborted && this.#record) {
      const trusted = await this.#isTrusted(this.#record);
      if (trusted) {
        this.#deps.configState.update({ trial: null });
        this.#deps.node?.follow(undefined);
        // From now on KubeletWatch watches this config.
        await this.#due.wait(signal);
        continue;
      }
      try {
        await this.#check(signal);
      } catch (error) {
        const text = describeError(error);
        log[text === failure ? 'debug' : 'error']('trial failed to make progress, retrying', { error });
        failure = text;
        this.#deps.onProblem?.(text);
      }
      await this.#due.waitOr(this.#periodMs, clock, signal);
    }
    if (this.#record && !(await this.#isTrusted(this.#record)))
      await this.#save().catch((error: unknown) => log.error('trial cannot be saved', { error }));
  }

  async #check(signal: AbortSignal): Promise<void> {
    const record = this.#record;
    if (!record) return;
    const exits = await this.#newExits(record);
    for (const exit of exits) {
      this.#trial = nextTrial(this.#trial, { kind: 'exited', counts: countsAgainst(exit) }, this.#limits);
      if (countsAgainst(exit)) this.#evidence = [...this.#evidence, exitText(exit)].slice(-EVIDENCE_KEPT);
    }
    await this.#probe(signal);
    if (signal.aborted) return;
    const verdict = verdictOn(this.#trial, this.#limits);
    if (verdict.is === 'failed') return this.#condemn(verdict.reason);
    if (verdict.is === 'passed') return this.#promote();
    this.#showEnd();
    if (exits.length > 0 || this.#unsavedMs() >= this.#longestUnsavedMs) await this.#save();
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const { options, probe, configState, clock, isRunning, onHealthy } = this.#deps;
    const running = await isRunning(configState.active.effectiveSha256);
    const asked = options.kubeletHealthz === '' ? { healthy: true, detail: 'not asked' } : await probe(options.kubeletHealthz, signal);
    // A kubelet that never finishes its start is ended by systemd's timeout, an exit that does not count: it must count as unhealthy instead.
    const kubelet = running === 'starting' ? { healthy: false, detail: `systemd is still starting its unit (${asked.detail})` } : asked;
    const health = kubelet.healthy ? (this.#deps.node?.now() ?? kubelet) : kubelet;
    this.#lastHealth = health.detail;
    if (options.kubeletHealthz !== '') configState.update({ health: healthOf(health) });
    this.#trial = nextTrial(
      this.#trial,
      { kind: 'probed', at: clock.monotonic(), healthy: health.healthy, running: running !== false },
      this.#limits,
    );
    onHealthy(this.#trial.healthyMs / 1000);
  }

  async #newExits(record: TrialRecord): Promise<KubeletExit[]> {
    const { exits, offset } = await this.#deps.exits.since(record.exitsOffset);
    this.#record = { ...record, exitsOffset: offset };
    return exits.filter((exit) => exit.effectiveSha256 === this.#deps.configState.active.effectiveSha256);
  }

  async #isTrusted(content: ContentRef): Promise<boolean> {
    const { store, configState } = this.#deps;
    const trusted = configState.picture.lastKnownGood;
    if (trusted === null) return false;
    // Called at every probe, and a checkpoint may have thousands of files: read its content once per source.
    if (!this.#trusted || !sameSource(this.#trusted.source, trusted)) {
      this.#trusted = { source: trusted, content: await storedContent(store, trusted) };
    }
    return this.#trusted.content !== undefined && sameContent(this.#trusted.content, content);
  }

  async #promote(): Promise<void> {
    const { store, configState, log, onHealthy } = this.#deps;
    // The assigned source may have changed to another name with the same content: promote the new name.
    const { source } = configState.active;
    if (source === null || !this.#record) return;
    const record = this.#record;
    // An admin may have rolled the config back at this moment: condemned content must not become last known good.
    const trusted = await store.locked(async () => {
      if ((await store.condemned()).some((other) => sameContent(other, record))) return false;
      await store.setRecord('last-known-good', source);
      await store.setTrial(undefined);
      return true;
    });
    if (!trusted) return;
    this.#deps.onProblem?.(null);
    configState.update({ lastKnownGood: source, trial: null });
    await this.#journal('promoted', source, `healthy for ${Math.round(this.#trial.healthyMs / 1000)} s`);
    onHealthy(0);
    log.info('trial passed: this config is last known good', { source: sourceText(source) });
    this.#trial = { ...this.#trial, exits: 0, unhealthyMs: 0 };
  }

  async #condemn(reason: string): Promise<void> {
    const record = this.#record;
    if (!record) return;
    const { kubeletConfigKey, contentSha256 } = record;
    const slow = this.#deps.slowDisk?.worst();
    const isCondemned = await condemn(this.#deps, {
      source: this.#deps.configState.active.source ?? record.source,
      content: { kubeletConfigKey, contentSha256 },
      reason,
      evidence: [...this.#evidence, `last health: ${this.#lastHealth}`, ...(slow === undefined ? [] : [slow])],
    });
    if (!isCondemned) return;
    this.#record = undefined;
    await this.#deps.exit(`rolling back: ${reason}`);
  }

  /** Reports when the trial ends if the kubelet stays healthy. Small moves (30 s, 5 % of the trial) are not reported: each update writes the Node. */
  #showEnd(): void {
    const { configState, clock } = this.#deps;
    const end = clock.now() + Math.max(0, this.#limits.trialMs - this.#trial.healthyMs);
    const shown = configState.picture.trial ? Date.parse(configState.picture.trial.endsAt) : Number.NaN;
    if (Math.abs(end - shown) <= Math.max(MIN_MOVE_MS, this.#limits.trialMs / 20)) return;
    configState.update({ trial: { endsAt: rfc3339(end) } });
  }

  #unsavedMs(): Millis {
    const { healthyMs, unhealthyMs } = this.#trial;
    return Math.max(Math.abs(healthyMs - this.#saved.healthyMs), unhealthyMs - this.#saved.unhealthyMs);
  }

  async #save(): Promise<void> {
    if (!this.#record) return;
    const { healthyMs, unhealthyMs, exits } = this.#trial;
    const source: Source = this.#deps.configState.active.source ?? this.#record.source;
    const needMs = this.#limits.trialMs;
    const evidence = this.#evidence.length === 0 ? {} : { evidence: this.#evidence };
    const [healthy, unhealthy] = [Math.round(healthyMs), Math.round(unhealthyMs)];
    this.#record = { ...this.#record, source, needMs, healthyMs: healthy, unhealthyMs: unhealthy, exits, ...evidence };
    await this.#deps.store.setTrial(this.#record);
    this.#saved = { healthyMs, unhealthyMs };
    this.#deps.onProblem?.(null);
  }

  async #journal(event: JournalEvent, source: Source, detail: string): Promise<void> {
    const { store, clock } = this.#deps;
    await store.addToJournal({ at: new Date(clock.now()).toISOString(), event, source, detail });
  }
}
