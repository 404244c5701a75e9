import type { BootOutcome } from '../boot/execute.ts';
import type { Health } from './node-config.ts';
import { type Drift, sameDrift } from '../drift/plan.ts';
import { type ContentRef, type MaybeSource, sameSource } from '../checkpoint/source.ts';

/** What this node reports: upstream's four members, and trial, health and drift. */
export interface ConfigStatus {
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
  /** The running trial; absent or null without one. `endsAt`: RFC 3339, UTC, when it ends if the kubelet stays healthy. */
  trial?: { endsAt: string } | null;
  /** Health at the last probe of the kubelet; absent before the first. */
  health?: Health;
  /** The reported drift; absent before the first check. */
  drift?: readonly Drift[];
}

/** Every string that can appear as `error`: upstream's, and `failedTrial` and `rolledBack`. Sanitized on purpose: details go to log and journal. */
export const statusErrors = {
  load: 'failed to load config, see Kubelet log for details',
  validate: 'failed to validate config, see Kubelet log for details',
  internal: 'internal failure, see Kubelet log for details',
  noSource: 'failed to sync: invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil',
  download: 'failed to sync: failed to download config, see Kubelet log for details',
  syncInternal: 'failed to sync: internal failure, see Kubelet log for details',
  failedTrial: 'failed trial, see dkc-agent log for details',
  rolledBack: 'rolled back by admin, see dkc-agent log for details',
} as const;

/** Whether the error comes from sync (download, source, assignment) rather than from the config that is used. */
export const isSyncError = (error: string | null): boolean => error?.startsWith('failed to sync') === true;

/** The config in the effective file. */
export interface ActiveConfig {
  used: BootOutcome['used'];
  source: MaybeSource;
  content?: ContentRef;
  effectiveSha256: string;
}

/**
 * The state of this node's config in memory. Sync, trial and drift update it; status, metrics and garbage collection listen. The next start reads
 * only the disk.
 */
export class NodeConfigState {
  readonly bootError: string | null;
  /** The assigned record as boot read it; `bootError` refers to it. */
  readonly bootAssigned: MaybeSource;
  /** The last-known-good record as boot left it. */
  readonly bootTrusted: MaybeSource;
  /** A missing signature was the only fault that boot found in the assigned config. */
  readonly bootUnsigned: boolean;
  /** Boot left the kubelet without a usable effective file. */
  readonly bootLacksFile: boolean;
  #picture: ConfigStatus;
  #shown: ConfigStatus;
  #holds = 0;
  #isAwaited = false;
  #active: ActiveConfig;
  readonly #listeners = new Set<() => void>();

  constructor(outcome: BootOutcome) {
    this.bootError = outcome.error;
    this.bootAssigned = outcome.assigned;
    this.bootTrusted = outcome.lastKnownGood;
    this.bootUnsigned = outcome.unsigned ?? false;
    this.bootLacksFile = !outcome.effective.usable;
    this.#active = {
      used: outcome.used,
      source: outcome.source,
      ...(outcome.content ? { content: outcome.content } : {}),
      effectiveSha256: outcome.effective.sha256,
    };
    this.#picture = { assigned: outcome.assigned, active: outcome.source, lastKnownGood: outcome.lastKnownGood, error: outcome.error };
    this.#shown = this.#picture;
  }

  get picture(): Readonly<ConfigStatus> {
    return this.#picture;
  }

  /** The picture for reports: without the changes of a sync that is not complete. */
  get shown(): Readonly<ConfigStatus> {
    return this.#shown;
  }

  get active(): Readonly<ActiveConfig> {
    return this.#active;
  }

  /** Sets the given members; calls the listeners if the shown picture changes. */
  update(change: Partial<Omit<ConfigStatus, 'active'>>): void {
    this.#set({ ...this.#picture, ...change });
  }

  /** The effective file stays, under another source. */
  adopt(source: MaybeSource, content?: ContentRef): void {
    const used = source === null ? 'local' : 'assigned';
    this.#active = { used, source, effectiveSha256: this.#active.effectiveSha256, ...(content ? { content } : {}) };
    this.#set({ ...this.#picture, active: source });
  }

  /**
   * Holds back changes from `shown`. @returns a function that shows all of them at once. It is not called before an exit that leaves the report to
   * the next start.
   */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      const isAwaited = this.#isAwaited && this.#holds === 0;
      if (isAwaited) this.#isAwaited = false;
      if (!this.#show() && isAwaited) this.#notify();
    };
  }

  /** Whether changes are held back, so that `shown` is outdated. */
  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Calls the listeners at the end of the current hold, even without a change. Without a hold nothing happens. */
  notifyAfterHold(): void {
    this.#isAwaited ||= this.#holds > 0;
  }

  /** Calls `listener` after every change of `shown`. @returns a function that removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(picture: ConfigStatus): void {
    this.#picture = picture;
    this.#show();
  }

  /** @returns whether the listeners were called */
  #show(): boolean {
    if (this.#holds > 0 || sameConfigStatus(this.#picture, this.#shown)) return false;
    this.#shown = this.#picture;
    this.#notify();
    return true;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export function sameConfigStatus(a: ConfigStatus, b: ConfigStatus): boolean {
  return (
    a.error === b.error &&
    a.trial?.endsAt === b.trial?.endsAt &&
    sameHealth(a.health, b.health) &&
    sameDrift(a.drift, b.drift) &&
    sameSource(a.assigned, b.assigned) &&
    sameSource(a.active, b.active) &&
    sameSource(a.lastKnownGood, b.lastKnownGood)
  );
}

function sameHealth(a: Health | undefined, b: Health | undefined): boolean {
  return a?.at === b?.at && (a?.at !== 'unhealthy' || b?.at !== 'unhealthy' || a.problem === b.problem);
}
