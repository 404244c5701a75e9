import { dirname } from 'node:path';
import type { BootDeps } from './boot.ts';
import type { Observed } from './observe.ts';
import type { BootOutcome } from './outcome.ts';
import type { BootPlan } from './plan.ts';
import { sourceText } from '../checkpoint/source.ts';
import { decode, renderYaml } from '../config/config.ts';
import { minimalConfig } from '../judge/local.ts';
import { statusErrors } from '../status/errors.ts';
import { sha256 } from '../store/content.ts';
import type { JournalEvent } from '../store/store.ts';

/** Does what was planned, the effective file first. No failure stops the node: each is logged, and the outcome tells what really lies there. */
export async function execute(plan: BootPlan, observed: Observed, deps: BootDeps): Promise<BootOutcome> {
  const effective = await writeEffective(plan, observed, deps);
  await afterwards(plan, observed, deps);
  const outcome: BootOutcome = {
    used: plan.used,
    source: plan.source,
    ...(plan.content ? { content: plan.content } : {}),
    assigned: observed.assigned,
    assignedKnown: observed.assignedKnown,
    lastKnownGood: plan.promote ?? observed.lastKnownGood,
    error: effective.failed ? statusErrors.internal : plan.error,
    effective: { path: deps.options.effectiveConfig, sha256: effective.sha256, changed: effective.changed, usable: effective.usable },
  };
  return effective.failed ? whatIsThere(outcome, observed) : outcome;
}

interface Effective {
  sha256: string;
  changed: boolean;
  usable: boolean;
  failed: boolean;
}

async function writeEffective(plan: BootPlan, { current }: Observed, { options, disk, log, kubelet }: BootDeps): Promise<Effective> {
  const wanted = bytesOf(plan, current);
  const sha = wanted === undefined ? '' : sha256(wanted);
  const usable = (bytes: Uint8Array | undefined): boolean => bytes !== undefined && decode(bytes, kubelet.version).ok;
  if (wanted === undefined || (current !== undefined && sha256(current) === sha))
    return { sha256: sha, changed: false, usable: usable(wanted), failed: false };
  try {
    await disk.makeDir(dirname(options.effectiveConfig), 0o700);
    await disk.replace(options.effectiveConfig, wanted, 0o600);
    return { sha256: sha, changed: true, usable: usable(wanted), failed: false };
  } catch (error) {
    log.error('effective file cannot be written: the one that is there stays', { path: options.effectiveConfig, error });
    return { sha256: current === undefined ? '' : sha256(current), changed: false, usable: usable(current), failed: true };
  }
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

/** The plan could not be carried out: say which of the candidates the old file is, so that status tells what the kubelet really reads. */
function whatIsThere(outcome: BootOutcome, { facts, current, assigned, lastKnownGood }: Observed): BootOutcome {
  const { content: _planned, ...rest } = outcome;
  const is = (bytes: Uint8Array): boolean => current !== undefined && sha256(bytes) === sha256(current);
  if (facts.assigned.at === 'usable' && is(facts.assigned.effective)) {
    return { ...rest, used: 'assigned', source: assigned, content: facts.assigned.content };
  }
  if (facts.lastKnownGood.at === 'usable' && is(facts.lastKnownGood.effective)) {
    return { ...rest, used: 'last-known-good', source: lastKnownGood, content: facts.lastKnownGood.content };
  }
  return { ...rest, used: 'local', source: null };
}

async function afterwards(plan: BootPlan, { damaged }: Observed, { store, clock, log }: BootDeps): Promise<void> {
  const attempt = async (what: string, change: () => Promise<void>): Promise<void> => {
    await change().catch((error: unknown) => log.error(`${what} failed; the node goes on without it`, { error }));
  };
  const journal = (event: JournalEvent, source: BootOutcome['source'], detail: string): Promise<void> =>
    attempt('journal entry', () => store.addToJournal({ at: new Date(clock.now()).toISOString(), event, source, detail }));

  for (const { path, problem } of damaged) {
    log.error('damaged record is set aside', { path, problem });
    await attempt('setting the damaged record aside', () => store.setAside(path));
    await journal('damaged', null, `${path}: ${problem}`);
  }
  const { promote } = plan;
  if (promote) {
    await attempt('promotion of trusted content', () => store.setRecord('last-known-good', promote));
    await journal('promoted', promote, 'its content was trusted already');
  }
  await journal('booted', plan.source, plan.error === null ? `using ${plan.used}` : `using ${plan.used}: ${plan.why}`);
  log.info('booted', { using: plan.used, source: sourceText(plan.source), why: plan.why });
}
