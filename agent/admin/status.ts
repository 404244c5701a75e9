import { type ActiveView, type AdminFacts, isKnown, recorded, viewActive } from './facts.ts';
import { condemnationUnder } from './roles.ts';
import { samePayload, sameSource, sourceText, type MaybeSource, type Source } from '../checkpoint/source.ts';
import type { Drift, DriftKind } from '../drift/plan.ts';
import { isSyncError, statusErrors } from '../status/node-config-state.ts';
import type { Notice } from '../store/active-record.ts';
import type { RefusedRecord } from '../store/store.ts';
import type { CheckpointEntry, CondemnedRecord, Problem } from '../store/store.ts';
import type { Millis } from '../../base/clock.ts';

/** The node's status on the API server, shown beside the state on disk. */
export interface ApiView {
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
}

/** Whether agent and kubelet run; null where not checked, or unknown. `detail` is for people. */
export interface Vitals {
  agent: { alive: boolean | null; detail: string };
  kubelet: { healthy: boolean | null; detail: string };
}

/** `dkc status -o json`. */
export interface StatusView {
  /** One word; {@link agentStateOf} distinguishes more cases for people. */
  state: State;
  /** RFC 3339; null when no agent has recorded it. */
  since: string | null;
  /** What an admin may do next. */
  next: string;
  agent: { alive: boolean | null };
  kubelet: { healthy: boolean | null };
  /** The config that preflight rejects now; `at`, `error` and `more` are beyond the contract. */
  refused: Pick<RefusedRecord, 'source' | 'findings' | 'at' | 'error' | 'more'> | null;
  node: string;
  /** null: local, or unknown; `problems` has the damaged record then. */
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
  trial: { assignedAt: string; healthyMs: Millis; needMs: Millis } | null;
  condemned: readonly CondemnedRecord[];
  effective: { path: string; sha256: string };
  assignment: { carrier: 'node' | 'nodeconfig' | null; why: string };
  /** Beyond the contract: the fallback of last resort. */
  localConfig: AdminFacts['local'];
  /** Beyond the contract: everything that is damaged in the store. */
  problems: readonly Problem[];
  /** Beyond the contract: current problems of the agent. */
  notices: readonly Notice[];
  /** Beyond the contract: the drift; see {@link driftOf}. */
  drift: readonly ShownDrift[];
  /** Beyond the contract: only where the policy requires signatures. The signer of the active config; null for none of its keys, and for the local config. */
  signedBy?: string | null;
  /** Beyond the contract: only with a kubeconfig. A string: why the request to the API server failed. */
  api?: ApiView | string;
}

/** `since` is null where no agent was running when the drift began. */
export type ShownDrift = Omit<Drift, 'since'> & { since: string | null };

export interface StatusQuery {
  node: string;
  /** The kubelet's unit, for the commands in `next`: k3s has no unit `kubelet`. */
  kubeletUnit: string;
  /** Length of a trial (`--trial-duration`), used where the trial record has none: the flags of this command need not be those of the agent. */
  needMs: Millis;
  vitals: Vitals;
  signedBy?: string | null;
  api?: ApiView | string;
}

export function viewStatus(facts: AdminFacts, { node, kubeletUnit, needMs, vitals, signedBy, api }: StatusQuery): StatusView {
  const active = viewActive(facts);
  const { trial, effective, refused } = facts;
  const drift = driftOf(facts, vitals);
  return {
    state: states[agentStateOf(facts)],
    since: active.since ?? null,
    next: drift[0] && isAtRest(facts) ? driftSteps[drift[0].kind](kubeletUnit) : (stepWithoutAgent(facts, vitals) ?? nextStep(facts)),
    agent: { alive: vitals.agent.alive },
    kubelet: { healthy: vitals.kubelet.healthy },
    refused: refused
      ? { source: refused.source, findings: refused.findings, at: refused.at, error: refused.error, more: refused.more }
      : null,
    node,
    assigned: recorded(facts.assigned),
    active: active.source,
    lastKnownGood: recorded(facts.lastKnownGood),
    error: active.error,
    trial: trial ? { assignedAt: trial.assignedAt, healthyMs: trial.healthyMs, needMs: trial.needMs ?? needMs } : null,
    condemned: facts.condemned,
    effective: { path: effective.path, sha256: effective.sha256 },
    assignment: { carrier: active.carrier, why: active.why },
    localConfig: facts.local,
    problems: facts.problems.map(({ path, problem }) => ({ path, problem })),
    notices: active.notices,
    drift,
    ...(signedBy === undefined ? {} : { signedBy }),
    ...(api === undefined ? {} : { api }),
  };
}

/** The drift that the agent reported last; while no agent runs, with the state of the effective file on disk. */
export function driftOf(facts: AdminFacts, { agent }: Vitals): ShownDrift[] {
  const { drift, from } = viewActive(facts);
  if (agent.alive !== false) return [...drift];
  const { path, sha256 } = facts.effective;
  const detail = sha256 === '' ? `${path} was removed` : `${path} was changed by another program or by hand`;
  const known = drift.find(({ kind }) => kind === 'EffectiveFileChanged');
  const file: ShownDrift[] = from === 'changed' ? [{ kind: 'EffectiveFileChanged', detail, since: known?.since ?? null }] : [];
  return [...file, ...drift.filter((one) => one !== known)];
}

/** The next step where the node waits for the agent and the agent does not run. */
function stepWithoutAgent(facts: AdminFacts, { agent }: Vitals): string | undefined {
  const waits = agent.alive === false ? waitsForAgent[agentStateOf(facts)] : undefined;
  if (waits === undefined || isStoreInaccessible(facts)) return undefined;
  return `The agent is not running, so ${waits}. Start it: systemctl start dkc-agent; if it is masked, before that: systemctl unmask dkc-agent`;
}

const waitsForAgent: Readonly<Partial<Record<AgentState, string>>> = {
  trial: 'the trial does not end, and a config that fails is not rolled back',
  running: 'no trial begins, and a config that fails is not rolled back',
  pending: 'nothing is applied',
  unknown: 'the assignment is not restored',
};

/** Whether the node needs no step, apart from drift. */
function isAtRest(facts: AdminFacts): boolean {
  const state = agentStateOf(facts);
  return viewActive(facts).error === null && ['local', 'trusted', 'trial', 'running'].includes(state);
}

const driftSteps: Readonly<Record<DriftKind, (unit: string) => string>> = {
  EffectiveFileChanged: () =>
    'The effective file is not what the agent wrote. To have it written again, with the changed file kept beside it: systemctl restart dkc-agent. ' +
    'To have the agent do that each time, set drift: correct in /etc/dkc/policy.yaml',
  NotUsed: (unit) =>
    `The kubelet is not started on the effective file. Install the drop-in 20-dkc.conf again, or find the drop-in that overrides it: systemctl cat ${unit}; ` +
    `then: systemctl daemon-reload && systemctl restart ${unit}`,
  KubeletDiffers: (unit) =>
    `The kubelet runs another configuration than the effective file. See why: journalctl -u dkc-agent; then: systemctl restart ${unit}`,
};

/**
 * What is wrong with this node, for the exit code of `dkc status`: a fallback, a refusal, damage, an inaccessible store, a missing or broken
 * local config. undefined where there is none of these.
 */
export function faultOf(facts: AdminFacts): string | undefined {
  const state = agentStateOf(facts);
  const refused = facts.refused ? `${sourceText(facts.refused.source)} is refused` : undefined;
  const damage = facts.problems.some(({ isInaccessible }) => isInaccessible !== true) ? 'the store is damaged' : undefined;
  const inaccessible = isStoreInaccessible(facts) ? 'the agent may not read or change all of its store' : undefined;
  const faults = [stateFaults[state], refused, localFaultOf(facts), damage, inaccessible].filter((fault) => fault !== undefined);
  return faults.length > 0 ? faults.join('; ') : undefined;
}

function localFaultOf(facts: AdminFacts): string | undefined {
  const { local } = facts;
  if (local.at !== 'present') return `the local config ${local.path} is ${local.at}`;
  const isUseless = viewActive(facts).notices.some(({ about }) => about === 'local-config');
  return isUseless ? 'the local config cannot be used' : undefined;
}

const stateFaults: Readonly<Partial<Record<AgentState, string>>> = {
  condemned: 'this node fell back: the assigned config is condemned',
  'fallen-back': 'this node fell back: the assigned config cannot be used',
  barred: 'the config that the API server assigns is condemned on this node',
  refused: 'the config that the API server assigns is refused on this node',
  unknown: 'the assigned config is unknown',
};

export type AgentState =
  | 'local' // nothing assigned
  | 'trusted' // the assigned config is active and last known good
  | 'trial' // the assigned config is active and on trial
  | 'running' // the assigned config is active, without a trial
  | 'refused' // the previous config is active, since preflight rejects the one that the API assigns
  | 'barred' // another config is active, since the one that the API assigns is condemned here
  | 'not-synced' // the previous config is active, since the assignment is unknown or its ConfigMap cannot be read
  | 'troubled' // a config is active, and the agent has an internal failure
  | 'condemned' // fell back, since the assigned config is condemned
  | 'fallen-back' // fell back for another reason
  | 'pending' // the records name another config than the agent has applied yet
  | 'unknown'; // the assigned record is missing or damaged

/** The words of `dkc nodes`, where it has one. */
export type State = 'local' | 'trusted' | 'trial' | 'running' | 'refused' | 'condemned' | 'fell-back' | 'pending' | 'error' | 'unknown';

const states: Readonly<Record<AgentState, State>> = {
  local: 'local',
  trusted: 'trusted',
  trial: 'trial',
  running: 'running',
  refused: 'refused',
  barred: 'condemned',
  'not-synced': 'error',
  troubled: 'error',
  condemned: 'condemned',
  'fallen-back': 'fell-back',
  pending: 'pending',
  unknown: 'unknown',
};

/** The agent may not access all of its store: its records may be outdated. */
export const isStoreInaccessible = ({ problems }: Pick<AdminFacts, 'problems'>): boolean =>
  problems.some(({ isInaccessible }) => isInaccessible === true);

/** The state of this node; {@link nextStep} has the step for an admin. */
export function agentStateOf(facts: AdminFacts): AgentState {
  if (isStoreInaccessible(facts)) return 'troubled';
  if (!isKnown(facts.assigned)) return 'unknown';
  const assigned = recorded(facts.assigned);
  const active = viewActive(facts);
  if (isCondemned(facts)) return active.used === 'assigned' && sameSource(active.source, assigned) ? 'pending' : 'condemned';
  if (!sameSource(active.source, assigned)) return stateBesideAssigned(active, facts);
  // A config beyond a limit is refused with the error of a failed download.
  if (active.error !== null) return facts.refused?.error === active.error ? 'refused' : kindOf(active.error);
  if (assigned === null) return 'local';
  const trusted = recorded(facts.lastKnownGood);
  if (trusted && sameSource(trusted, assigned)) return 'trusted';
  return facts.trial && samePayload(facts.trial.source, assigned) ? 'trial' : 'running';
}

/** The state of a node whose active config is not the assigned one. Without an error the agent has not applied it yet. */
function stateBesideAssigned(active: ActiveView, facts: AdminFacts): AgentState {
  if (active.error === null) return 'pending';
  const assigned = recorded(facts.assigned);
  // The condemnation was cleared from the store: the agent is about to apply that.
  if (isVerdict(active.error) && assigned && entryOf(assigned, facts)?.manifest) return 'pending';
  if (assigned !== null && active.used !== 'assigned') return 'fallen-back';
  return kindOf(active.error) === 'troubled' ? 'troubled' : 'pending';
}

const isVerdict = (error: string): boolean => error === statusErrors.failedTrial || error === statusErrors.rolledBack;

/** What an error means for a node whose active config is the assigned one. */
function kindOf(error: string): 'refused' | 'barred' | 'not-synced' | 'troubled' {
  if (isVerdict(error)) return 'barred';
  if (error === statusErrors.load || error === statusErrors.validate) return 'refused';
  return isSyncError(error) ? 'not-synced' : 'troubled';
}

const entryOf = (source: Source, facts: AdminFacts): CheckpointEntry | undefined =>
  facts.entries.find((one) => samePayload(one.ref, source));

function isCondemned(facts: AdminFacts): boolean {
  const assigned = recorded(facts.assigned);
  const entry = assigned ? entryOf(assigned, facts) : undefined;
  return entry !== undefined && condemnationUnder(entry, assigned?.kubeletConfigKey ?? '', facts.condemned) !== undefined;
}

/** What to do next; the last line of `dkc status`. An error decides where there is one, since it is what blocks the node. */
export function nextStep(facts: AdminFacts): string {
  const state = agentStateOf(facts);
  const { error } = viewActive(facts);
  if (isStoreInaccessible(facts)) return stepWhereInaccessible;
  if (state === 'trusted' || state === 'local') return stepBeside(facts) ?? steps[state];
  if (state === 'condemned' || state === 'pending' || state === 'barred' || error === null) return steps[state];
  if (state === 'unknown' && error === statusErrors.internal) return steps.unknown;
  if (state === 'fallen-back' && error === statusErrors.load) return stepAfterDamage;
  if (facts.refused && (error === statusErrors.validate || error === statusErrors.load)) return stepAfterRefusal;
  if (facts.refused?.error === error) return stepBeyondLimit;
  return stepsByError[error] ?? steps[kindOf(error)];
}

/** The next step for a node whose config is as it should be: for the other faults of {@link faultOf}. */
function stepBeside(facts: AdminFacts): string | undefined {
  if (facts.problems.length > 0) return 'See what is damaged, and what to do about it: dkc checkpoints verify';
  return localFaultOf(facts) === undefined ? undefined : stepForLocal;
}

const stepWhereInaccessible =
  'The agent may not read or change all of its store, so it can neither use what is there nor record what it uses. ' +
  'Correct owner and mode as shown above, then: systemctl restart dkc-agent';

const stepForLocal =
  'The node has no last fallback. Put the local config back, or set localConfig in /etc/dkc/agent.yaml to the file that the kubelet had; ' +
  'test it with: dkc drill';

const assignCondemned = 'Its content is condemned on this node. Assign a fixed config, or try it again with: dkc retry';
const assignBarred =
  'The content that the API server assigns is condemned on this node. Assign a fixed config, or try it again with: dkc retry REF';

const steps: Readonly<Record<AgentState, string>> = {
  local: 'Nothing is assigned. Assign a config with: dkc assign',
  trusted: 'Nothing to do.',
  trial: 'Wait for the trial to end, or roll the config back now with: dkc rollback',
  running: 'Is the agent running? systemctl status dkc-agent. Roll the config back with: dkc rollback',
  refused: 'Fix the ConfigMap: dkc history and the event KubeletConfigRefused of the Node name the fields',
  barred: assignBarred,
  'not-synced': 'See why: journalctl -u dkc-agent',
  troubled: 'See why: journalctl -u dkc-agent. Check the store for corruption: dkc checkpoints verify',
  condemned: 'Assign a fixed config, or try this one again with: dkc retry. What happened: dkc history',
  'fallen-back': 'The assigned config cannot be used here. See why: journalctl -u dkc-agent, dkc history, dkc checkpoints verify',
  pending: 'Waiting for the agent to apply it. If this persists: systemctl status dkc-agent',
  unknown: 'The agent restores the assignment once it reaches the API server. Until then this node keeps running',
};

const stepAfterRefusal =
  'Fix the ConfigMap, or allow single fields with the annotation dkc.dev/allow on it; dkc validate shows the same findings beforehand';

const stepBeyondLimit =
  'The ConfigMap exceeds a limit of the agent; the findings above name the limit. Make the ConfigMap smaller, and assign it again';

const stepAfterDamage =
  'The checkpoint of the assigned config is missing, damaged, or not a kubelet configuration: dkc checkpoints verify, dkc history. ' +
  'The agent downloads it again once it reaches the API server';

const stepsByError: Readonly<Record<string, string>> = {
  [statusErrors.load]:
    'It is not a kubelet configuration, or the ConfigMap lacks the key: dkc history and the event KubeletConfigRefused of the Node say more. ' +
    'Fix it, test it with dkc validate, and assign it again',
  [statusErrors.validate]:
    'The config is refused on this node: dkc history and the event KubeletConfigRefused of the Node name the fields and rules. ' +
    'Fix it, or allow single fields with the annotation dkc.dev/allow, and assign it again',
  [statusErrors.internal]:
    'The agent failed, for example because of a full or read-only disk, a damaged record, or a flag of the kubelet. ' +
    'See why: journalctl -u dkc-agent -e; dkc checkpoints verify',
  [statusErrors.noSource]:
    'The Node names no ConfigMap in spec.configSource. Assign one with: dkc assign; or clear the assignment with: dkc unassign',
  [statusErrors.download]:
    'The ConfigMap cannot be read. Does it exist, may this node read it, and is it in the namespace that the agent reads ' +
    '(--configmap-namespace, dkc-system unless set)? The notice above names it and says why; the log has more: journalctl -u dkc-agent -e',
  [statusErrors.syncInternal]:
    'The assignment could not be applied, for example because of a full or read-only disk, or a name that is not allowed. See why: journalctl -u dkc-agent -e',
  [statusErrors.failedTrial]: assignCondemned,
  [statusErrors.rolledBack]: assignCondemned,
};
