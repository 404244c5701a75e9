import { dirname } from 'node:path';
import { type BootPlan, planBoot } from './plan.ts';
import { type BootDeps, observe, type Observed } from './observe.ts';
import { VolatileFile } from './volatile-file.ts';
import { TRUSTED_ALREADY } from '../events/event.ts';
import { type ContentRef, type MaybeSource, sourceText } from '../checkpoint/source.ts';
import { decode, renderYaml } from '../config/config.ts';
import { minimalConfig } from '../evaluate/local.ts';
import { parseActiveRecord, printActiveRecord } from '../store/active-record.ts';
import { driftedName, layout } from '../store/layout.ts';
import { errorCode } from '../../base/errors.ts';
import { statusErrors } from '../status/node-config-state.ts';
import { sha256 } from '../checkpoint/payload.ts';
import { usingText } from '../store/records.ts';
import type { JournalEvent } from '../store/store.ts';

/** Uses no network. */
export type Boot = (deps: BootDeps) => Promise<BootOutcome>;

/** Which config boot chose, and why. `dkc agent run --once` prints it; `dkc drill` rehearses it. */
export interface BootOutcome {
  used: 'assigned' | 'last-known-good' | 'local';
  /** The source in use; null for local. */
  source: MaybeSource;
  /** Its content; absent for local. */
  content?: ContentRef;
  assigned: MaybeSource;
  /** False where the record is missing or damaged: then `assigned` is null because it is unknown. */
  assignedKnown: boolean;
  lastKnownGood: MaybeSource;
  /** One of `statusErrors`; null when there is no error. */
  error: string | null;
  /** What is wrong with the local config, for people; absent when it is usable. */
  localProblem?: string;
  /** A missing signature is the only fault of the assigned config. */
  unsigned?: true;
  effective: {
    path: string;
    /** Of the file on disk now; empty when there is no file and none could be written. */
    sha256: string;
    /** Whether this boot wrote it. */
    changed: boolean;
    /** Whether a kubelet can start on the file: it exists and decodes. */
    usable: boolean;
  };
  /** Set where boot overwrote or restored a file that an agent had not written or not removed; absent otherwise. */
  drifted?: OverwrittenDrift;
}

/** `keptAs`: path of the copy of the changed file; absent where the file was missing or the copy failed. */
export interface OverwrittenDrift {
  was: 'changed' | 'missing';
  keptAs?: string;
}

/**
 * Chooses this node's config from disk alone and writes it to the effective file. Succeeds in any state of the store: uses the assigned config,
 * else last-known-good, else the local config, else the existing effective file.
 * @see docs/state-machines.md, "Boot"
 */
export const boot: Boot = async (deps) => {
  let held = false;
  try {
    // One lock for the whole boot: taking the lock starts a process, and the agent restarts at every change of its config.
    return await deps.store.locked(() => {
      held = true;
      return choose(deps);
    });
  } catch (error) {
    if (held) throw error;
    deps.log.error('failed to lock store, booting without the lock', { error });
    return choose(deps);
  }
};

const choose: Boot = async (deps) => {
  const { store, log } = deps;
  await store.initialize().catch((error: unknown) => log.error('failed to prepare store, reading it as it is', { error }));
  const swept = await store.sweep().catch((error: unknown) => {
    log.error('failed to remove leftovers of an interrupted write', { error });
    return [];
  });
  if (swept.length > 0) log.info('removed leftovers of an interrupted write', { paths: swept });
  const observed = await observe(deps);
  return execute(planBoot(observed.facts), observed, deps);
};

/** Executes the plan, the effective file first. No failure stops the boot: each is logged, and the outcome describes the file that is on disk. */
async function execute(plan: BootPlan, observed: Observed, deps: BootDeps): Promise<BootOutcome> {
  const { there, drifted, ...effective } = await writeEffective(plan, observed, deps);
  const planned: BootOutcome = {
    used: plan.used,
    source: plan.source,
    ...(plan.content ? { content: plan.content } : {}),
    assigned: observed.assigned,
    assignedKnown: observed.assignedKnown,
    lastKnownGood: plan.promote ?? observed.lastKnownGood,
    error: effective.failed ? statusErrors.internal : plan.error,
    ...(observed.localProblem === null ? {} : { localProblem: observed.localProblem }),
    ...(plan.unsigned ? { unsigned: true } : {}),
    effective: { path: effective.path, sha256: effective.sha256, changed: effective.changed, usable: effective.usable },
    ...(drifted ? { drifted } : {}),
  };
  const outcome = effective.failed ? whatIsThere(planned, there, observed) : planned;
  await afterwards(plan, outcome, observed, deps);
  return outcome;
}

interface Effective {
  path: string;
  /** Content of the file on disk now. */
  there: Uint8Array | undefined;
  sha256: string;
  changed: boolean;
  usable: boolean;
  failed: boolean;
  drifted?: OverwrittenDrift;
}

async function writeEffective(plan: BootPlan, observed: Observed, deps: BootDeps): Promise<Effective> {
  const { options, disk, log, kubelet } = deps;
  const { current, onDisk, volatileFile } = observed;
  const wanted = bytesOf(plan, current);
  const path = options.effectiveConfig;
  const sha = wanted === undefined ? '' : sha256(wanted);
  const is = (bytes: Uint8Array | undefined): boolean => bytes !== undefined && sha256(bytes) === sha;
  const usable = (bytes: Uint8Array | undefined): boolean => bytes !== undefined && decode(bytes, kubelet.version).ok;
  const done = (at: string): Effective => ({
    path: at,
    there: wanted,
    sha256: sha,
    changed: !is(current),
    usable: usable(wanted),
    failed: false,
  });
  if (wanted === undefined) return { ...done(path), changed: false };
  let drifted: OverwrittenDrift | undefined;
  try {
    if (!is(onDisk)) {
      // Before active.json is updated: its old hash is what tells a foreign file from one that an agent wrote.
      drifted = await keepDrifted(observed, deps);
      await announce(plan, sha, deps);
      await disk.makeDir(dirname(path), 0o700);
      await disk.replace(path, wanted, 0o600);
    }
    if (volatileFile) await new VolatileFile(options, disk).remove();
    return drifted ? { ...done(path), drifted } : done(path);
  } catch (error) {
    const instead = await writeVolatile(wanted, observed, deps, error);
    if (instead !== undefined) return done(instead);
    log.error('failed to write effective file, keeping the previous one', { path, error });
    // A write can fail after its rename: then the kubelet reads the new bytes.
    const there = volatileFile ?? (await disk.read(path).catch(() => current));
    const now = there === undefined ? '' : sha256(there);
    return { path, there, sha256: now, changed: there !== undefined && now === sha, usable: usable(there), failed: true };
  }
}

/** Keeps a copy of a foreign effective file before it is overwritten. undefined where an agent wrote the file, or the writer is unknown. */
async function keepDrifted(
  { onDisk, volatileFile, written }: Observed,
  { options, disk, log }: BootDeps,
): Promise<OverwrittenDrift | undefined> {
  const path = options.effectiveConfig;
  if (written.length === 0 || volatileFile !== undefined) return undefined;
  if (onDisk === undefined) {
    log.warn('effective file was removed by another program or by hand, writing it again', { path });
    return { was: 'missing' };
  }
  if (written.includes(sha256(onDisk))) return undefined;
  const keptAs = driftedName(path);
  try {
    await disk.replace(keptAs, onDisk, 0o600);
    log.warn('effective file was changed by another program or by hand, writing it again', { path, keptAs });
    return { was: 'changed', keptAs };
  } catch (error) {
    log.warn('effective file was changed by another program or by hand, writing it again; failed to keep it', { path, keptAs, error });
    return { was: 'changed' };
  }
}

/** Writes the upcoming file to `next` of active.json, for readers that see the new file before the new record. Skipped where no record exists. */
async function announce(
  { used, source, error }: BootPlan,
  effectiveSha256: string,
  { options, disk, clock, log }: BootDeps,
): Promise<void> {
  const path = layout(options.dynamicConfigDir).active;
  try {
    const old = parseActiveRecord(new TextDecoder().decode(await disk.read(path)));
    const at = new Date(clock.now()).toISOString();
    if (!old.ok) return;
    const record = { ...old.record, next: { used, source, error, effectiveSha256, at } };
    await disk.replace(path, new TextEncoder().encode(printActiveRecord(record)));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') log.warn('active.json cannot be written', { error });
  }
}

/** Writes a replacement file to /run, in memory, so that a read-only disk cannot keep a node on a bad config. @returns its path, or undefined */
async function writeVolatile(
  wanted: Uint8Array,
  { volatileFile }: Observed,
  { options, disk, log }: BootDeps,
  cause: unknown,
): Promise<string | undefined> {
  if (options.kubeletUnit === '') return undefined;
  const place = new VolatileFile(options, disk);
  try {
    if (!volatileFile || sha256(volatileFile) !== sha256(wanted)) await place.place(wanted);
  } catch (error) {
    log.error('failed to write the replacement of the effective file', { path: place.config, error });
    return undefined;
  }
  log.error('failed to write effective file, the kubelet uses a replacement in /run until the disk is writable', {
    path: options.effectiveConfig,
    instead: place.config,
    error: cause,
  });
  return place.config;
}

function bytesOf({ effective }: BootPlan, current: Uint8Array | undefined): Uint8Array | undefined {
  switch (effective.do) {
    case 'write':
      return effective.bytes;
    case 'keep':
      return current;
    case 'write-minimal':
      return new TextEncoder().encode(renderYaml(minimalConfig));
  }
}

/** The effective file could not be written: find which candidate the existing file is, so that the status reports what the kubelet reads. */
function whatIsThere(outcome: BootOutcome, there: Uint8Array | undefined, { facts, assigned, lastKnownGood }: Observed): BootOutcome {
  const { content: _planned, ...rest } = outcome;
  const is = (bytes: Uint8Array): boolean => there !== undefined && sha256(bytes) === sha256(there);
  if (facts.assigned.at === 'usable' && is(facts.assigned.effective)) {
    return { ...rest, used: 'assigned', source: assigned, content: facts.assigned.content };
  }
  if (facts.lastKnownGood.at === 'usable' && is(facts.lastKnownGood.effective)) {
    return { ...rest, used: 'last-known-good', source: lastKnownGood, content: facts.lastKnownGood.content };
  }
  return { ...rest, used: 'local', source: null };
}

async function afterwards(
  plan: BootPlan,
  { used, source, error }: BootOutcome,
  { damaged, facts, localProblem }: Observed,
  { store, clock, log }: BootDeps,
): Promise<void> {
  const attempt = async (what: string, change: () => Promise<void>): Promise<void> => {
    await change().catch((error: unknown) => log.error(`${what} failed, continuing without it`, { error }));
  };
  const journal = (event: JournalEvent, source: BootOutcome['source'], detail: string): Promise<void> =>
    attempt('journal entry', () => store.addToJournal({ at: new Date(clock.now()).toISOString(), event, source, detail }));

  // A broken local config was logged when it was read.
  if (localProblem !== null && facts.local.at === 'missing') log.error(localProblem);
  for (const { path, problem, isUnread } of damaged) {
    if (isUnread) {
      log.error('record cannot be read', { path, problem });
      continue;
    }
    log.error('damaged record is set aside', { path, problem });
    await attempt('setting the damaged record aside', () => store.setAside(path));
    await journal('damaged', null, `${path}: ${problem}`);
  }
  const { promote } = plan;
  if (promote) {
    await attempt('promotion of trusted content', () => store.setRecord('last-known-good', promote));
    await journal('promoted', promote, TRUSTED_ALREADY);
  }
  const why = error === plan.error ? plan.why : 'the effective file cannot be written';
  await journal('booted', source, error === null ? usingText(used) : `${usingText(used)}: ${why}`);
  log.info('booted', { using: used, source: sourceText(source), why });
}
