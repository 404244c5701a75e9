import { goDuration } from '../../base/go-duration.ts';
import type { Millis } from '../../base/clock.ts';
import { fieldsOf, isJsonObject, type JsonObject } from '../../kube/api/json.ts';
import { resolveIntOrPercent } from '../../kube/api/quantity.ts';
import { qualifiedNameProblems } from '../../kube/api/names.ts';
import { labelSelectorOf, type LabelSelector, type LabelSelectorObject, SelectorError } from '../../kube/api/selector.ts';
import { defaultDrainPolicy, type DrainPods } from './drain/contract.ts';
import type { Gate } from './gates/contract.ts';
import { gateProblems } from './gates/problems.ts';
import { readStatus, textOf } from './read-status.ts';
import type { Count, NodeConfigRollout, RolloutStatus } from './types.ts';
import { windowProblems, type Window } from './windows.ts';

/** One step, checked. */
export interface Step {
  nodes: Count;
  holdMs: Millis;
  approve: boolean;
  /** Not in spec: for nodes beyond the steps of spec. */
  isImplied?: true;
}

/** The spec of a rollout, validated and with defaults, and its status as it can be read. */
export interface Rules {
  /** As the API server has it: spec and status may hold anything. */
  rollout: Readonly<NodeConfigRollout>;
  status: RolloutStatus;
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

/**
 * Reads a rollout. Pure. Nothing is taken for granted, since the definition on the server may be another: a malformed field of spec is a problem, whatever its
 * type, and a malformed part of the status counts as absent.
 */
export function rulesOf(rollout: Readonly<NodeConfigRollout>): Rules {
  const { metadata } = rollout;
  const spec = fieldsOf(rollout.spec);
  const problems: string[] = [];
  /** The value if it passes, else the default. */
  const read = <T>(path: string, value: unknown, byDefault: T, is: (value: unknown) => value is T, must: string): T => {
    if (value === undefined) return byDefault;
    if (is(value)) return value;
    problems.push(`${path}: must be ${must}`);
    return byDefault;
  };
  const flag = (path: string, value: unknown): boolean => read(path, value, false, isBoolean, 'true or false');
  const oneOf = <T extends string>(path: string, value: unknown, [byDefault, ...others]: readonly [T, ...T[]]): T =>
    read(path, value, byDefault, (one): one is T => [byDefault, ...others].some((known) => known === one), [byDefault, ...others].join(' or ')); // prettier-ignore
  const number = (path: string, value: unknown, byDefault: number, least: 0 | 1): number =>
    read(path, value, byDefault, (one): one is number => isNumber(one, least), `a number from ${least} on`);
  const object = (path: string, value: unknown): JsonObject => read(path, value, {}, isJsonObject, 'an object');
  const list = (path: string, value: unknown): readonly unknown[] => read<readonly unknown[]>(path, value, [], Array.isArray, 'a list');
  const duration = (path: string, value: unknown, byDefault: Millis): Millis => {
    if (value === undefined) return byDefault;
    const nanos = typeof value === 'string' ? goDuration(value) : undefined;
    const ms = nanos === undefined ? -1 : Number(nanos / 1_000_000n);
    if (ms >= 0 && ms <= MAX_MS) return ms;
    problems.push(`${path}: must be a duration of 0s to 168h, such as 10m`);
    return byDefault;
  };
  const count = (path: string, value: unknown, byDefault: Count, least: 0 | 1 = 0): Count =>
    read(path, value, byDefault, (one): one is Count => isCount(one, least), `a number of nodes from ${least} on, or a percentage of ${least}% to 100%, such as 10%`); // prettier-ignore
  const { namespace, name, kubeletConfigKey } = fieldsOf(spec['configMap']);
  const configMap = { namespace: textOf(namespace) ?? '', name: textOf(name) ?? '', kubeletConfigKey: textOf(kubeletConfigKey) ?? '' };
  if (Object.values(configMap).includes('')) problems.push('spec.configMap: namespace, name and kubeletConfigKey must be set');
  const given = spec['steps'] === undefined ? undefined : list('spec.steps', spec['steps']);
  if (given !== undefined && (given.length === 0 || given.length > MAX_STEPS))
    problems.push(`spec.steps: must have 1 to ${MAX_STEPS} items`);
  const steps = given?.slice(0, MAX_STEPS).map((step, at): Step => {
    const { nodes = null, hold, approve } = fieldsOf(step);
    return {
      nodes: count(`spec.steps[${at}].nodes`, nodes, '100%', 1),
      holdMs: duration(`spec.steps[${at}].hold`, hold, 0),
      approve: flag(`spec.steps[${at}].approve`, approve),
    };
  });
  const selector = selectorOf(spec['nodeSelector'], problems);
  const spreadBy = read('spec.spreadBy', spec['spreadBy'], undefined, isString, 'a string');
  if (spreadBy !== undefined) problems.push(...qualifiedNameProblems(spreadBy).map((problem) => `spec.spreadBy: ${problem}`));
  // Each is validated below: only those without problems are used.
  const windows = list('spec.windows', spec['windows']).map(fieldsOf) as Partial<Window>[] as Window[];
  const gates = list('spec.gates', spec['gates']);
  problems.push(...windowProblems(windows, 'spec.windows'), ...gateProblems(gates, 'spec.gates'));
  return {
    rollout,
    status: readStatus(rollout),
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    generation: metadata.generation ?? 0,
    problems,
    selector,
    configMap,
    steps: steps === undefined || steps.length === 0 ? DEFAULT_STEPS : [...steps, REST],
    maxUnavailable: count('spec.maxUnavailable', spec['maxUnavailable'], '10%'),
    spreadBy,
    failureBudget: count('spec.failureBudget', spec['failureBudget'], 1),
    onFailure: oneOf('spec.onFailure', spec['onFailure'], ['Rollback', 'Pause']),
    nodeDeadlineMs: duration('spec.nodeDeadline', spec['nodeDeadline'], 15 * 60_000),
    drain: oneOf('spec.drain', spec['drain'], ['Auto', 'Never', 'Always']),
    drainTimeoutMs: duration('spec.drainTimeout', spec['drainTimeout'], 10 * 60_000),
    drainPods: drainPodsOf(object('spec.drainPolicy', spec['drainPolicy']), problems),
    windows,
    gates: gates as readonly Gate[],
    skipInvalidNodes: flag('spec.skipInvalidNodes', spec['skipInvalidNodes']),
    paused: flag('spec.paused', spec['paused']),
    abortedRevision: read('spec.abortedRevision', spec['abortedRevision'], undefined, isString, 'a string') || undefined,
    signatureRequired: flag('spec.signature.required', object('spec.signature', spec['signature'])['required']),
    attempt: number('spec.attempt', spec['attempt'], 1, 1),
    historyLimit: number('spec.revisionHistoryLimit', spec['revisionHistoryLimit'], 10, 0),
  };
}

function drainPodsOf(given: Partial<DrainPods>, problems: string[]): DrainPods {
  const { unmanagedPods, emptyDir } = { ...defaultDrainPolicy, ...given };
  for (const [field, value] of Object.entries({ unmanagedPods, emptyDir }))
    if (value !== 'Evict' && value !== 'Block') problems.push(`spec.drainPolicy.${field}: must be Evict or Block`);
  return { unmanagedPods, emptyDir };
}

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isString = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown, least: number): value is number => Number.isSafeInteger(value) && Number(value) >= least;

function isCount(value: unknown, least: 0 | 1): value is Count {
  if (typeof value === 'number') return isNumber(value, least);
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
    if (!isLabelSelector(raw)) throw new SelectorError('must be a label selector');
    return labelSelectorOf(raw);
  } catch (error) {
    problems.push(`spec.nodeSelector: ${error instanceof Error ? error.message : String(error)}`);
    return nobody;
  }
}

function isLabelSelector(raw: unknown): raw is LabelSelectorObject {
  const { matchLabels = {}, matchExpressions = [] } = fieldsOf(raw);
  if (!isJsonObject(raw) || !isJsonObject(matchLabels) || !Array.isArray(matchExpressions)) return false;
  const isRequirement = ({ key, operator, values = [] }: JsonObject): boolean =>
    isString(key) && isString(operator) && Array.isArray(values) && values.every(isString);
  return Object.values(matchLabels).every(isString) && matchExpressions.map(fieldsOf).every(isRequirement);
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
