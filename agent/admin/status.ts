import { viewActive, type ActiveView } from './active.ts';
import { isKnown, recorded, type AdminFacts } from './facts.ts';
import { condemnationUnder } from './roles.ts';
import { samePayload, sameSource, type MaybeSource, type Source } from '../checkpoint/source.ts';
import { statusErrors } from '../status/errors.ts';
import type { CheckpointEntry, CondemnedRecord, Problem } from '../store/store.ts';
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
  | 'refused' // what ran before runs on, since the config that the API wants is refused here
  | 'not-synced' // what ran before runs on, since nobody knows what the API wants, or it cannot be had
  | 'troubled' // something runs, and the agent failed at its own work
  | 'condemned' // fell back since the assigned is condemned
  | 'fallen-back' // fell back for another reason
  | 'changing' // the disk names another config than the agent has taken over yet
  | 'unknown'; // what is assigned cannot be read

/** One word for where this node stands; {@link nextStep} says what an admin may do about it. */
export function standingOf(facts: AdminFacts): Standing {
  if (!isKnown(facts.assigned)) return 'unknown';
  const assigned = recorded(facts.assigned);
  const active = viewActive(facts);
  if (isCondemned(facts)) return active.used === 'assigned' && sameSource(active.source, assigned) ? 'changing' : 'condemned';
  if (!sameSource(active.source, assigned)) return standingApart(active, facts);
  if (active.error !== null) return kindOf(active.error);
  if (assigned === null) return 'local';
  const trusted = recorded(facts.lastKnownGood);
  if (trusted && sameSource(trusted, assigned)) return 'trusted';
  return facts.trial && samePayload(facts.trial.source, assigned) ? 'trial' : 'running';
}

/** The agent itself says that it could not use what is assigned; without that word it just has not come to it yet. */
function standingApart(active: ActiveView, facts: AdminFacts): Standing {
  if (active.error === null) return 'changing';
  const assigned = recorded(facts.assigned);
  // A verdict that the store has no more was taken back: the agent is about to follow.
  if (isVerdict(active.error) && assigned && entryOf(assigned, facts)?.manifest) return 'changing';
  if (assigned !== null && active.used !== 'assigned') return 'fallen-back';
  return kindOf(active.error) === 'troubled' ? 'troubled' : 'changing';
}

const isVerdict = (error: string): boolean => error === statusErrors.failedTrial || error === statusErrors.rolledBack;

/** What an error means for a node that runs what it is assigned. */
function kindOf(error: string): 'refused' | 'not-synced' | 'troubled' {
  if (error === statusErrors.load || error === statusErrors.validate || isVerdict(error)) return 'refused';
  return error.startsWith('failed to sync') ? 'not-synced' : 'troubled';
}

const entryOf = (source: Source, facts: AdminFacts): CheckpointEntry | undefined =>
  facts.entries.find((one) => samePayload(one.ref, source));

function isCondemned(facts: AdminFacts): boolean {
  const assigned = recorded(facts.assigned);
  const entry = assigned ? entryOf(assigned, facts) : undefined;
  return entry !== undefined && condemnationUnder(entry, assigned?.kubeletConfigKey ?? '', facts.condemned) !== undefined;
}

/** What to do next; the last line of `dkc status`. It goes by the error where there is one, since that is what keeps the node where it is. */
export function nextStep(facts: AdminFacts): string {
  const standing = standingOf(facts);
  const { error } = viewActive(facts);
  if (standing === 'condemned' || standing === 'changing' || error === null) return steps[standing];
  if (standing === 'unknown' && error === statusErrors.internal) return steps.unknown;
  if (standing === 'fallen-back' && error === statusErrors.load) return stepAfterDamage;
  return stepsByError[error] ?? steps[kindOf(error)];
}

const steps: Readonly<Record<Standing, string>> = {
  local: 'Nothing is assigned. Assign a config with: dkc assign',
  trusted: 'Nothing to do.',
  trial: 'Wait for the trial to end, or take it back now with: dkc rollback',
  running: 'Is the agent running? systemctl status dkc-agent. Take the config back with: dkc rollback',
  refused: 'Mend what is assigned: dkc history and the event KubeletConfigRefused of the Node name the fields',
  'not-synced': 'Why: journalctl -u dkc-agent',
  troubled: 'Why: journalctl -u dkc-agent. Damage: dkc checkpoints verify',
  condemned: 'Assign a mended config, or try this one again with: dkc retry. What happened: dkc history',
  'fallen-back': 'The assigned config cannot be used here. Why: journalctl -u dkc-agent, dkc history, dkc checkpoints verify',
  changing: 'The agent takes over what is on disk in a moment, if it runs: systemctl status dkc-agent',
  unknown: 'The agent returns to what is assigned once it reaches the API server. Until then this node keeps running',
};

const stepAfterDamage =
  'The checkpoint of the assigned config is missing, damaged, or no kubelet configuration: dkc checkpoints verify, dkc history. ' +
  'The agent downloads it again once it reaches the API server';

const takenBack = 'Its content is condemned on this node. Assign a mended config, or try it again with: dkc retry';

const stepsByError: Readonly<Record<string, string>> = {
  [statusErrors.load]:
    'It is no kubelet configuration, or the ConfigMap lacks the key: dkc history and the event KubeletConfigRefused of the Node say more. ' +
    'Mend it, try it with dkc validate, and assign it again',
  [statusErrors.validate]:
    'The config is refused on this node: dkc history and the event KubeletConfigRefused of the Node name the fields and rules. ' +
    'Mend it, or allow single fields with the annotation dkc.dev/allow, and assign it again',
  [statusErrors.internal]:
    'The agent could not do its work: a full or read-only disk, a damaged record, a flag of the kubelet. ' +
    'Why: journalctl -u dkc-agent -e; dkc checkpoints verify',
  [statusErrors.noSource]: 'The Node names no ConfigMap in spec.configSource. Assign one with: dkc assign; or none with: dkc unassign',
  [statusErrors.download]:
    'The ConfigMap cannot be read. Does it exist, may this node read it, and is it in the namespace that the agent reads ' +
    '(--configmap-namespace, dkc-system unless set)? Which of these: journalctl -u dkc-agent -e',
  [statusErrors.syncInternal]:
    'What is assigned could not be taken over: a full or read-only disk, or names that are not allowed. Why: journalctl -u dkc-agent -e',
  [statusErrors.failedTrial]: takenBack,
  [statusErrors.rolledBack]: takenBack,
};
