import { isJsonObject, type JsonObject } from '../../kube/api/json.ts';
import { memoize } from '../../kube/cache/contract.ts';
import type { Approval, Condition, NodeConfigRollout, NodeCounts, NodeFailure, Phase, RolloutStatus, Touch, Touches } from './types.ts';

/** A status whose members may be undefined. */
export type Carried = { [K in keyof RolloutStatus]: RolloutStatus[K] | undefined };

/**
 * The status of a rollout as the API server has it. Malformed parts count as absent, so that one object that another writer has damaged, or a definition that
 * somebody edited, stops neither its own rollout nor others. Pure, and computed once for each version of the rollout.
 */
export const readStatus = memoize(({ status }: Readonly<NodeConfigRollout>): RolloutStatus => {
  const raw: JsonObject = isJsonObject(status) ? status : {};
  return compact<Carried>({
    observedGeneration: wholeOf(raw['observedGeneration']),
    phase: phases.find((phase) => phase === raw['phase']),
    revision: textOf(raw['revision']),
    previousRevision: textOf(raw['previousRevision']),
    stopped: (['Failures', 'Aborted'] as const).find((one) => one === raw['stopped']),
    attempt: wholeOf(raw['attempt']),
    attemptAt: timeOf(raw['attemptAt']),
    complete: typeof raw['complete'] === 'boolean' ? raw['complete'] : undefined,
    step: wholeOf(raw['step']),
    stepSettledAt: timeOf(raw['stepSettledAt']),
    nodes: isJsonObject(raw['nodes']) ? countsIn(raw['nodes']) : undefined,
    nextWindow: timeOf(raw['nextWindow']),
    waitsFor: textOf(raw['waitsFor']),
    failures: listOf(raw['failures'], failureIn),
    approvals: listOf(raw['approvals'], approvalIn),
    touches: isJsonObject(raw['touches']) ? touchesIn(raw['touches']) : undefined,
    message: textOf(raw['message']),
    conditions: listOf(raw['conditions'], conditionIn),
  });
});

/** Without members that are undefined: the server has none of them either. */
export const compact = <T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

const phases: readonly Phase[] = ['Pending', 'Progressing', 'Holding', 'Paused', 'Complete', 'RollingBack', 'RolledBack', 'Failed'];

export const noNodes: NodeCounts = { selected: 0, updated: 0, settled: 0, inFlight: 0, failed: 0, refused: 0 };

const countsIn = (raw: JsonObject): NodeCounts =>
  Object.fromEntries(Object.keys(noNodes).map((state) => [state, wholeOf(raw[state]) ?? 0])) as unknown as NodeCounts;

/** A failure counts whenever it names its node: otherwise the node would be touched again. */
function failureIn({ node, error, at }: JsonObject): NodeFailure | undefined {
  const name = textOf(node);
  return name === undefined ? undefined : { node: name, error: textOf(error) ?? 'unknown', at: timeOf(at) ?? new Date(0).toISOString() };
}

/** An approval that is not complete is none. */
function approvalIn(raw: JsonObject): Approval | undefined {
  const [step, revision, by, at] = [wholeOf(raw['step']), textOf(raw['revision']), textOf(raw['by']), timeOf(raw['at'])];
  return step === undefined || revision === undefined || by === undefined || at === undefined ? undefined : { step, revision, by, at };
}

function touchesIn(raw: JsonObject): Touches {
  const [nodesVersion, nodeConfigsVersion] = [textOf(raw['nodesVersion']), textOf(raw['nodeConfigsVersion'])];
  return { nodes: listOf(raw['nodes'], touchIn) ?? [], ...compact({ nodesVersion, nodeConfigsVersion }) };
}

function touchIn(raw: JsonObject): Touch | undefined {
  const [node, revision, at] = [textOf(raw['node']), textOf(raw['revision']), timeOf(raw['at'])];
  return node === undefined || at === undefined ? undefined : { node, ...compact({ revision }), at };
}

/** Conditions of other writers are kept as they are. */
function conditionIn(raw: JsonObject): Condition | undefined {
  const isOne = typeof raw['type'] === 'string' && typeof raw['status'] === 'string' && timeOf(raw['lastTransitionTime']) !== undefined;
  return isOne ? (raw as unknown as Condition) : undefined;
}

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const wholeOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const timeOf = (value: unknown): string | undefined => (typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined);

/** The items that `read` accepts. */
const listOf = <T>(value: unknown, read: (item: JsonObject) => T | undefined): T[] | undefined =>
  Array.isArray(value) ? value.flatMap((item: unknown) => (isJsonObject(item) ? (read(item) ?? []) : [])) : undefined;
