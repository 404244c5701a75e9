import type { BootOutcome } from '../boot/plan.ts';
import type { Health } from './node-config.ts';
import { type Drift, sameDrift } from '../drift/plan.ts';
import { type ContentRef, type MaybeSource, sameSource } from '../checkpoint/source.ts';

/** What this node reports: upstream's four facts. */
export interface ConfigStatus {
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
  /** The running trial; absent or null without one. `endsAt`: RFC 3339, UTC, when it passes if all goes well from now on. */
  trial?: { endsAt: string } | null;
  /** What the last look at the kubelet found; absent before the first. */
  health?: Health;
  /** In what the node runs something else than its agent wrote; absent before the first look. */
  drift?: readonly Drift[];
}

/** Every string that can appear as `error` (spec 7.2, design 4). Sanitised on purpose: details go to log and journal. */
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

/** The assignment itself cannot be had or done. */
export const isSyncError = (error: string | null): boolean => error?.startsWith('failed to sync') === true;

/** The kubelet's file as the trial sees it. */
export interface ActiveConfig {
  used: BootOutcome['used'];
  source: MaybeSource;
  content?: ContentRef;
  effectiveSha256: string;
}

/**
 * The one place in memory that knows how this node stands. Sync and trial change it, status, metrics and trial listen. Disk is the
 * truth for the next start; this is only its shadow.
 */
export class NodeConfigState {
  readonly bootError: string | null;
  /** The assigned record as boot found it: the one that `bootError` speaks of. */
  readonly bootAssigned: MaybeSource;
  /** The last-known-good record as boot left it. */
  readonly bootTrusted: MaybeSource;
  /** A signature is all that boot missed in the assigned config. */
  readonly bootUnsigned: boolean;
  /** Boot left the kubelet without a file that it could start on. */
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

  /** The picture as others may see it: never the half of a change that is under way. */
  get shown(): Readonly<ConfigStatus> {
    return this.#shown;
  }

  get active(): Readonly<ActiveConfig> {
    return this.#active;
  }

  /** Changes what is given, tells the listeners when that makes a difference. */
  update(change: Partial<Omit<ConfigStatus, 'active'>>): void {
    this.#set({ ...this.#picture, ...change });
  }

  /** The kubelet's file stays; it is known under another name now. */
  adopt(source: MaybeSource, content?: ContentRef): void {
    const used = source === null ? 'local' : 'assigned';
    this.#active = { used, source, effectiveSha256: this.#active.effectiveSha256, ...(content ? { content } : {}) };
    this.#set({ ...this.#picture, active: source });
  }

  /**
   * From now on no change is shown. @returns a function that shows all of it at once; who leaves the node to the next
   * start never calls it
   */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      const isAwaited = this.#isAwaited && this.#holds === 0;
      if (isAwaited) this.#isAwaited = false;
      if (!this.#show() && isAwaited) this.#tell();
    };
  }

  /** Whether a change is under way, so that what is shown speaks of before it. Listeners are told when it is over, also where nothing has changed. */
  isHeld(): boolean {
    this.#isAwaited ||= this.#holds > 0;
    return this.#holds > 0;
  }

  /** Tells of every change of what is shown. @returns a function that ends it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(picture: ConfigStatus): void {
    this.#picture = picture;
    this.#show();
  }

  /** @returns whether listeners were told */
  #show(): boolean {
    if (this.#holds > 0 || sameConfigStatus(this.#picture, this.#shown)) return false;
    this.#shown = this.#picture;
    this.#tell();
    return true;
  }

  #tell(): void {
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
