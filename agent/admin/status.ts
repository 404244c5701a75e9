import { viewActive, type ActiveView } from './active.ts';
import { isKnown, recorded, type AdminFacts } from './facts.ts';
import { condemnationUnder } from './roles.ts';
import { samePayload, sameSource, type MaybeSource } from '../checkpoint/source.ts';
import type { CondemnedRecord, Problem } from '../store/store.ts';
import type { Millis } from '../../base/clock.ts';

/** What the API server says about this node, shown beside what the disk says. */
export interface ApiView {
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
}

/** `dkc status -o json`. */
export interface StatusView {
  node: string;
  /** null: local, or not known; then `problems` says so. */
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
  trial: { assignedAt: string; healthyMs: Millis; needMs: Millis } | null;
  condemned: readonly CondemnedRecord[];
  effective: { path: string; sha256: string };
  assignment: { carrier: 'node' | 'nodeconfig' | null; why: string };
  /** Beyond the contract: whatever is damaged in the store. */
  problems: readonly Problem[];
  /** Beyond the contract: only with a kubeconfig. A string says why the API server could not be asked. */
  api?: ApiView | string;
}

export interface StatusQuery {
  node: string;
  /** Length of a whole trial (`--trial-duration`), where its record does not say: flags and settings of a shell need not be the agent's. */
  needMs: Millis;
  api?: ApiView | string;
}

export function viewStatus(facts: AdminFacts, { node, needMs, api }: StatusQuery): StatusView {
  const active = viewActive(facts);
  const { trial, effective } = facts;
  return {
    node,
    assigned: recorded(facts.assigned),
    active: active.source,
    lastKnownGood: recorded(facts.lastKnownGood),
    error: active.error,
    trial: trial ? { assignedAt: trial.assignedAt, healthyMs: trial.healthyMs, needMs: trial.needMs ?? needMs } : null,
    condemned: facts.condemned,
    effective: { path: effective.path, sha256: effective.sha256 },
    assignment: { carrier: active.carrier, why: active.why },
    problems: facts.problems,
    ...(api === undefined ? {} : { api }),
  };
}

export type Standing =
  | 'local' // nothing assigned
  | 'trusted' // assigned runs and is the last known good
  | 'trial' // assigned runs and is being proved
  | 'running' // assigned runs, nobody is proving it
  | 'condemned' // fell back since the assigned is condemned
  | 'fallen-back' // fell back for another reason
  | 'changing' // the disk names another config than the agent has taken over yet
  | 'unknown'; // what is assigned cannot be read

/** One word for where this node stands, and what an admin may do about it. */
export function standingOf(facts: AdminFacts): Standing {
  if (!isKnown(facts.assigned)) return 'unknown';
  const assigned = recorded(facts.assigned);
  const active = viewActive(facts);
  if (assigned === null) return active.source === null ? 'local' : 'changing';
  if (isCondemned(facts)) return active.used === 'assigned' && sameSource(active.source, assigned) ? 'changing' : 'condemned';
  if (!sameSource(active.source, assigned)) return fallenBack(active) ? 'fallen-back' : 'changing';
  const trusted = recorded(facts.lastKnownGood);
  if (trusted && sameSource(trusted, assigned)) return 'trusted';
  return facts.trial && samePayload(facts.trial.source, assigned) ? 'trial' : 'running';
}

/** The agent itself says that it could not use what is assigned; without that word it just has not come to it yet. */
const fallenBack = (active: ActiveView): boolean => active.used !== 'assigned' && active.error !== null;

function isCondemned(facts: AdminFacts): boolean {
  const assigned = recorded(facts.assigned);
  const entry = assigned && facts.entries.find((one) => samePayload(one.ref, assigned));
  return entry !== undefined && entry !== null && condemnationUnder(entry, assigned?.kubeletConfigKey ?? '', facts.condemned) !== undefined;
}

/** What to do next; the last line of `dkc status`. */
export const nextStep: Readonly<Record<Standing, string>> = {
  local: 'Nothing is assigned. Assign a config with: dkc assign',
  trusted: 'Nothing to do.',
  trial: 'Wait for the trial to end, or take it back now with: dkc rollback',
  running: 'Is the agent running? systemctl status dkc-agent. Take the config back with: dkc rollback',
  condemned: 'Assign a mended config, or try this one again with: dkc retry. What happened: dkc history',
  'fallen-back': 'The assigned config cannot be used here. Why: journalctl -u dkc-agent, dkc history, dkc checkpoints verify',
  changing: 'The agent takes over what is on disk in a moment, if it runs: systemctl status dkc-agent',
  unknown: 'The agent returns to what is assigned once it reaches the API server. Until then this node keeps running',
};
