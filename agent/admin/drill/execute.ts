import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  checkBoot,
  describePeek,
  drillCondemnation,
  type DrillReport,
  type DrillStep,
  type Harm,
  hasSwitched,
  isHealthyOn,
  type LivePlan,
  localConfigStep,
  type Peek,
  type Place,
  planDrill,
  report,
  type Scenario,
} from './plan.ts';
import { type AdminFacts, recorded } from '../facts.ts';
import type { Boot } from '../../boot/execute.ts';
import type { BootDeps } from '../../boot/observe.ts';
import type { Store } from '../../store/store.ts';
import { layout, type Layout } from '../../store/layout.ts';
import { ActionError, describeError } from '../../../base/errors.ts';
import { type MaybeSource, type Source, sourceText } from '../../checkpoint/source.ts';
import type { Disk } from '../../../base/disk.ts';
import { executeRetry } from '../rollback/execute.ts';
import type { Clock, Millis } from '../../../base/clock.ts';

export interface DrillDeps extends Omit<BootDeps, 'store'> {
  facts: AdminFacts;
  boot: Boot;
  /** A store on another root. */
  storeAt(root: string): Store;
  /** Path of an empty directory for the copies; the caller removes it. Absolute. */
  scratch: string;
  signal?: AbortSignal;
}

/** Rehearses every fallback on copies of the store. The real store is only read. */
export async function drill(deps: DrillDeps): Promise<DrillReport> {
  const steps: DrillStep[] = [];
  let problem: string | undefined;
  for (const [index, scenario] of planDrill(deps.facts).entries()) {
    deps.signal?.throwIfAborted();
    const { localProblem, ...step } = await simulate(scenario, join(deps.scratch, String(index)), deps);
    problem ??= localProblem;
    steps.push(step);
  }
  return report(problem === undefined ? steps : [...steps, localConfigStep(problem)]);
}

const MAX_TRIES = 3;

/**
 * A drill on a store that may change during the drill: a trial that ends while the store is copied changes the expected fallback. If a step failed and
 * the records have changed since, the whole drill is repeated, {@link MAX_TRIES} times at most.
 * @param observe - reads the current facts
 * @param rehearseAll - runs a drill with the expectations from these facts
 */
export async function steadyDrill(
  observe: () => Promise<AdminFacts>,
  rehearseAll: (facts: AdminFacts, attempt: number) => Promise<DrillReport>,
): Promise<DrillReport> {
  let facts = await observe();
  for (let attempt = 1; ; attempt++) {
    const seen = await rehearseAll(facts, attempt);
    if (seen.passed || attempt === MAX_TRIES) return seen;
    const before = facts;
    facts = await observe();
    if (sameRecords(before, facts)) return seen;
  }
}

const sameRecords = (a: AdminFacts, b: AdminFacts): boolean =>
  isDeepStrictEqual([a.assigned, a.lastKnownGood, a.condemned], [b.assigned, b.lastKnownGood, b.condemned]);

async function simulate(scenario: Scenario, root: string, deps: DrillDeps): Promise<DrillStep & { localProblem?: string }> {
  const { facts, disk, clock, options } = deps;
  const [assigned, trusted] = [recorded(facts.assigned), recorded(facts.lastKnownGood)];
  const effectiveConfig = layout(root).effective;
  try {
    await copyStore(disk, options.dynamicConfigDir, root, [assigned, trusted]);
    await copyFile(disk, options.effectiveConfig, effectiveConfig);
    await breakCopy(disk, root, scenario.harm, assigned, trusted);
    const store = deps.storeAt(root);
    if (scenario.harm === 'condemn-assigned' && assigned) {
      const record = drillCondemnation(assigned, facts, new Date(clock.now()).toISOString());
      if (record) await store.setCondemned([...facts.condemned, record]);
    }
    const began = clock.monotonic();
    // A path in the copy, so that the drill does not use the node's own files in /run.
    const kubeletExits = join(root, 'run', 'kubelet-exits');
    const outcome = await deps.boot({ ...deps, store, options: { ...options, dynamicConfigDir: root, effectiveConfig, kubeletExits } });
    const step = checkBoot(scenario, { used: outcome.used, usable: outcome.effective.usable }, Math.round(clock.monotonic() - began));
    return outcome.localProblem === undefined ? step : { ...step, localProblem: outcome.localProblem };
  } catch (error) {
    // Boot itself never throws: copying failed, and a step that could not be rehearsed has not passed.
    return { step: scenario.step, expected: scenario.expected, seen: describeError(error), ms: 0, passed: false };
  }
}

/**
 * Copies what boot reads of a store from `from` to `to`: records, condemnations, and the checkpoints that the two records name.
 * Only reads `from`. The local config is not copied: boot reads the original, since its relative paths refer to its own directory.
 */
async function copyStore(disk: Disk, from: string, to: string, needed: readonly MaybeSource[]): Promise<void> {
  const [old, copy] = [layout(from), layout(to)];
  await disk.makeDir(copy.metaDir, 0o700);
  await disk.makeDir(copy.checkpoints, 0o700);
  await copyFiles(disk, old.metaDir, copy.metaDir);
  for (const source of needed) {
    if (source === null || !(await disk.stat(old.checkpoint(source)))) continue;
    await disk.makeDir(copy.checkpoint(source), 0o700);
    await copyFiles(disk, old.checkpoint(source), copy.checkpoint(source));
  }
}

export async function copyFile(disk: Disk, from: string, to: string): Promise<void> {
  if ((await disk.stat(from))?.kind !== 'file') return;
  await disk.makeDir(dirname(to), 0o700);
  await disk.replace(to, await disk.read(from));
}

async function copyFiles(disk: Disk, from: string, to: string): Promise<void> {
  for (const name of await disk.list(from)) {
    if ((await disk.stat(join(from, name)))?.kind === 'file') await disk.replace(join(to, name), await disk.read(join(from, name)));
  }
}

const garbage = new TextEncoder().encode('{ a crash left this');

/** Damages a copy as `harm` says. Condemnations are written by the caller, through the store. */
async function breakCopy(disk: Disk, root: string, harm: Harm, assigned: MaybeSource, trusted: MaybeSource): Promise<void> {
  const paths = layout(root);
  if (harm === 'damage-record') await disk.replace(paths.meta('assigned'), garbage);
  if ((harm === 'damage-assigned' || harm === 'damage-both') && assigned) await tear(disk, paths, assigned);
  if (harm === 'damage-both' && trusted) await tear(disk, paths, trusted);
}

/** Overwrites the config's file with bytes that match no manifest and do not decode. Where the file is missing, removes the whole checkpoint. */
async function tear(disk: Disk, paths: Layout, source: Source): Promise<void> {
  const path = paths.file(source, source.kubeletConfigKey);
  if (await disk.stat(path)) await disk.replace(path, garbage);
  else await disk.remove(paths.checkpoint(source));
}

export interface LiveDeps {
  store: Store;
  clock: Clock;
  signal: AbortSignal;
  peek(): Promise<Peek>;
  /** Prints what the drill is waiting for. */
  printProgress(text: string): void;
  /** Longest wait for each switch and for health after it, in ms. */
  timeoutMs: Millis;
}

// Polled, since other processes write these files; the files are small, and a drill is rare.
const POLL_MS: Millis = 250;

// SIGINT or SIGHUP goes to the whole process group, so it may also kill the program that is taking the lock.
const CLEAR_TRIES = 3;

/**
 * Makes this node fall back and return. The condemnation is cleared in every case before the promise settles.
 * @throws ActionError when the signal aborts, or the store cannot be written
 */
export async function liveDrill(plan: Extract<LivePlan, { at: 'planned' }>, deps: LiveDeps): Promise<DrillReport> {
  const { store } = deps;
  const steps: DrillStep[] = [];
  try {
    await store.locked(async () => {
      await store.setCondemned([...(await store.condemned()), plan.record]);
      await store.addToJournal(plan.journal);
    });
    steps.push(...(await arrive('fall back', plan.there, deps)));
  } finally {
    await clearCondemnation(plan, deps);
  }
  steps.push(...(await arrive('return', plan.back, deps)));
  return report(steps);
}

async function clearCondemnation(plan: Extract<LivePlan, { at: 'planned' }>, deps: LiveDeps): Promise<void> {
  const { store, clock } = deps;
  const at = new Date(clock.now()).toISOString();
  const line = { at, event: 'retried', source: plan.back.source, detail: 'live drill: condemnation cleared' } as const;
  for (let tries = 1; ; tries++)
    try {
      await store.locked(() => executeRetry(store, [plan.record], [line]));
      break;
    } catch (cause) {
      if (tries === CLEAR_TRIES)
        throw new ActionError('clear', `the condemnation of ${sourceText(plan.back.source)}`, { hint: 'run dkc retry now', cause });
      await clock.sleep(POLL_MS); // without the signal: an interrupted command must still clear the condemnation
    }
  deps.printProgress('the condemnation is cleared'); // last: the terminal may be gone, and writing to it may fail
}

async function arrive(step: string, place: Place, deps: LiveDeps): Promise<DrillStep[]> {
  deps.printProgress(`${step}: waiting for the node to use ${place.used} (${sourceText(place.source)})`);
  const switched = await until(`${step}: agent uses ${place.used}`, place.used, (peek) => hasSwitched(peek, place), deps);
  if (!switched.passed) return [switched];
  return [
    switched,
    await until(`${step}: kubelet healthy on it`, place.used, (peek) => hasSwitched(peek, place) && isHealthyOn(peek), deps),
  ];
}

async function until(step: string, expected: string, there: (peek: Peek) => boolean, deps: LiveDeps): Promise<DrillStep> {
  const { clock, signal, timeoutMs } = deps;
  const began = clock.monotonic();
  for (;;) {
    if (signal.aborted) throw interrupted(step, signal);
    const peek = await deps.peek();
    const ms = Math.round(clock.monotonic() - began);
    if (there(peek)) return { step, expected, seen: expected, ms, passed: true };
    if (ms >= timeoutMs) return { step, expected, seen: `${describePeek(peek)} after ${Math.round(ms / 1000)} s`, ms, passed: false };
    await clock.sleep(POLL_MS, signal).catch(() => undefined); // an abort is handled above
  }
}

function interrupted(step: string, signal: AbortSignal): ActionError {
  return new ActionError('finish', `the drill at "${step}"`, {
    hint: 'it was interrupted; its condemnation is cleared, and the agent returns to the assigned config',
    cause: signal.reason,
  });
}
