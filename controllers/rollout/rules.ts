import { goDuration } from '../../base/go-duration.ts';
import type { Millis } from '../../base/clock.ts';
import { resolveIntOrPercent } from '../../kube/api/quantity.ts';
import { qualifiedNameProblems } from '../../kube/api/names.ts';
import { labelSelectorOf, type LabelSelector, type LabelSelectorObject } from '../../kube/api/selector.ts';
import { defaultDrainPolicy, type DrainPods } from './drain/contract.ts';
import type { Gate } from './gates/contract.ts';
import { gateProblems } from './gates/problems.ts';
import type { Count, NodeConfigRollout } from './types.ts';
import { windowProblems, type Window } from './windows.ts';

/** One step, checked. */
export interface Step {
  nodes: Count;
  holdMs: Millis;
  approve: boolean;
  /** Not in spec: for nodes beyond the steps of spec. */
  isImplied?: true;
}

/** The spec of a rollout, validated and with defaults. */
export interface Rules {
  rollout: Readonly<NodeConfigRollout>;
  name: string;
  uid: string;
  generation: number;
  /** One sentence for each invalid field: with any, the rollout is not synced. */
  problems: readonly string[];
  selector: LabelSelector;
  configMap: { namespace: string; name: string; kubeletConfigKey: string };
  /** Those of spec, and one for the nodes beyond them; see {@link stepsFor}. */
  steps: readonly Step[];
  maxUnavailable: Count;
  spreadBy: string | undefined;
  failureBudget: Count;
  onFailure: 'Rollback' | 'Pause';
  nodeDeadlineMs: Millis;
  drain: 'Auto' | 'Never' | 'Always';
  drainTimeoutMs: Millis;
  drainPods: DrainPods;
  windows: readonly Window[];
  gates: readonly Gate[];
  skipInvalidNodes: boolean;
  paused: boolean;
  abortedRevision: string | undefined;
  signatureRequired: boolean;
  attempt: number;
  historyLimit: number;
}

export const MAX_STEPS = 32;
/** Longest hold, deadline and drain: a week. Anything longer is a typo. */
const MAX_MS: Millis = 7 * 24 * 3_600_000;
const DEFAULT_STEPS: readonly Step[] = [1, '10%', '50%', '100%'].map((nodes) => ({ nodes, holdMs: 0, approve: false }));

const REST: Step = { nodes: '100%', holdMs: 0, approve: false, isImplied: true };

/** Reads the spec of a rollout. Pure. */
export function rulesOf(rollout: Readonly<NodeConfigRollout>): Rules {
  const { metadata, spec = {} } = rollout;
  const problems: string[] = [];
  const duration = (path: string, text: string | undefined, byDefault: Millis): Millis => {
    if (text === undefined) return byDefault;
    const nanos = goDuration(text);
    const ms = nanos === undefined ? -1 : Number(nanos / 1_000_000n);
    if (ms >= 0 && ms <= MAX_MS) return ms;
    problems.push(`${path}: must be a duration of 0s to 168h, such as 10m`);
    return byDefault;
  };
  const count = (path: string, value: Count | undefined, byDefault: Count, least: 0 | 1 = 0): Count => {
    if (value === undefined) return byDefault;
    if (isCount(value, least)) return value;
    problems.push(`${path}: must be a number of nodes from ${least} on, or a percentage of ${least}% to 100%, such as 10%`);
    return byDefault;
  };
  const { configMap = {}, steps: given, spreadBy, windows = [], gates = [] } = spec;
  const { namespace = '', name = '', kubeletConfigKey = '' } = configMap;
  if (namespace === '' || name === '' || kubeletConfigKey === '')
    problems.push('spec.configMap: namespace, name and kubeletConfigKey must be set');
  if (given !== undefined && (given.length === 0 || given.length > MAX_STEPS))
    problems.push(`spec.steps: must have 1 to ${MAX_STEPS} items`);
  const steps = given?.slice(0, MAX_STEPS).map(({ nodes, hold, approve = false }, at): Step => ({
    nodes: count(`spec.steps[${at}].nodes`, nodes, '100%', 1),
    holdMs: duration(`spec.steps[${at}].hold`, hold, 0),
    approve,
  }));
  const selector = selectorOf(spec.nodeSelector, problems);
  if (spreadBy !== undefined) problems.push(...qualifiedNameProblems(spreadBy).map((problem) => `spec.spreadBy: ${problem}`));
  problems.push(...windowProblems(windows, 'spec.windows'), ...gateProblems(gates, 'spec.gates'));
  return {
    rollout,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    generation: metadata.generation ?? 0,
    problems,
    selector,
    configMap: { namespace, name, kubeletConfigKey },
    steps: steps === undefined || steps.length === 0 ? DEFAULT_STEPS : [...steps, REST],
    maxUnavailable: count('spec.maxUnavailable', spec.maxUnavailable, '10%'),
    spreadBy,
    failureBudget: count('spec.failureBudget', spec.failureBudget, 1),
    onFailure: spec.onFailure === 'Pause' ? 'Pause' : 'Rollback',
    nodeDeadlineMs: duration('spec.nodeDeadline', spec.nodeDeadline, 15 * 60_000),
    drain: spec.drain ?? 'Auto',
    drainTimeoutMs: duration('spec.drainTimeout', spec.drainTimeout, 10 * 60_000),
    drainPods: drainPodsOf(spec.drainPolicy, problems),
    windows,
    gates,
    skipInvalidNodes: spec.skipInvalidNodes === true,
    paused: spec.paused === true,
    abortedRevision: spec.abortedRevision === '' ? undefined : spec.abortedRevision,
    signatureRequired: spec.signature?.required === true,
    attempt: Math.max(1, spec.attempt ?? 1),
    historyLimit: Math.max(0, spec.revisionHistoryLimit ?? 10),
  };
}

function drainPodsOf(given: Partial<DrainPods> = {}, problems: string[]): DrainPods {
  const { unmanagedPods, emptyDir } = { ...defaultDrainPolicy, ...given };
  for (const [field, value] of Object.entries({ unmanagedPods, emptyDir }))
    if (value !== 'Evict' && value !== 'Block') problems.push(`spec.drainPolicy.${field}: must be Evict or Block`);
  return { unmanagedPods, emptyDir };
}

function isCount(value: unknown, least: 0 | 1): value is Count {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= least;
  const percent = typeof value === 'string' && value.endsWith('%') ? (resolveIntOrPercent(value, 100, { round: 'up' }) ?? -1) : -1;
  return percent >= least && percent <= 100;
}

/** Absent selects nothing, as the schema requires it; `{}` selects every node. */
function selectorOf(raw: unknown, problems: string[]): LabelSelector {
  const nobody: LabelSelector = [{ key: 'dkc.dev/nobody', operator: 'exists' }, { key: 'dkc.dev/nobody', operator: 'absent' }]; // prettier-ignore
  if (raw === undefined) {
    problems.push('spec.nodeSelector: must be set; {} selects every node');
    return nobody;
  }
  try {
    return labelSelectorOf(raw as LabelSelectorObject);
  } catch (error) {
    problems.push(`spec.nodeSelector: ${error instanceof Error ? error.message : String(error)}`);
    return nobody;
  }
}

/** Nodes that have the configuration at the end of a step: never more than there are, and at least one. */
export const targetOf = (step: Pick<Step, 'nodes'>, selected: number): number =>
  Math.min(selected, Math.max(1, resolveIntOrPercent(step.nodes, selected, { round: 'up' }) ?? selected));

/** The steps that lead to all nodes: those of spec, and one more if none of them reaches every node, after hold and approval of the last one. */
export function stepsFor({ steps }: Pick<Rules, 'steps'>, selected: number): readonly Step[] {
  const inSpec = steps.filter(({ isImplied }) => isImplied !== true);
  return inSpec.some((step) => targetOf(step, selected) >= selected) ? inSpec : steps;
}

/** How many nodes may be unavailable: at least one, or the rollout would never progress. */
export const maxUnavailableOf = ({ maxUnavailable }: Pick<Rules, 'maxUnavailable'>, selected: number): number =>
  Math.max(1, resolveIntOrPercent(maxUnavailable, selected, { round: 'down' }) ?? 1);

/** How many failed nodes stop a rollout of which `updated` nodes were touched: at least one. */
export const failureBudgetOf = ({ failureBudget }: Pick<Rules, 'failureBudget'>, updated: number): number =>
  Math.max(1, resolveIntOrPercent(failureBudget, updated, { round: 'down' }) ?? 1);
