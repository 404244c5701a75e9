import { asOneError, messageOf } from '../../base/errors.ts';
import { controllerRevisions, pods, statefulSets } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { defaultLimits, slowStart } from '../../kube/client/limits.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { OwnWrites } from '../../kube/controller/own-writes.ts';
import { batchOf } from '../common/pods.ts';
import { executeAdoption, setWriter, type SetWriter } from '../common/set-writer.ts';
import { executeHistory, executeTruncation } from '../common/history/execute.ts';
import type { Executed } from '../common/reconcile.ts';
import type { SetMemory } from '../common/set-memory.ts';
import type { Caches, SetFacts } from './observe.ts';
import { act } from './execute-actions.ts';
import type { Plan } from './plan.ts';
import { makesRoom } from './status.ts';

export interface Executor {
  client: Client;
  caches: Caches;
  ownWrites: OwnWrites;
  memory: SetMemory;
  events: EventRecorder;
}

/** How far a plan was executed. */
export interface Progressed extends Executed {
  /** Pods of the current revision that were deleted to make room for others. */
  removed: number;
}

/**
 * Adopts and releases revisions and pods, and does the steps of the history.
 * @returns the facts with the history as the server has it now: a name that was taken is found out here alone, and the update revision has another one then
 * @throws the first failure
 */
export async function executeOwnership(by: Executor, facts: SetFacts, signal: AbortSignal): Promise<SetFacts> {
  const { rules, adoption } = facts;
  const owner = { ...writerOf(by, facts), owner: rules.set, ownerKind: statefulSets };
  await executeAdoption(owner, controllerRevisions, adoption.revisions, signal);
  await executeAdoption(owner, pods, adoption.pods, signal);
  const history = await executeHistory({ ...owner, ownerResource: statefulSets }, facts.history, signal);
  // As the server has it now: its number may be new, its name is the same unless it was taken.
  const currentRevision = facts.currentRevision === facts.history.current ? history.current : facts.currentRevision;
  return { ...facts, history: { ...facts.history, ...history }, currentRevision };
}

/** Makes a plan true: pods and what belongs to them, group by group; then old revisions, also when a group has failed. */
export async function execute(by: Executor, facts: SetFacts, { groups, truncate }: Plan, signal: AbortSignal): Promise<Progressed> {
  const failures: unknown[] = [];
  const writer = writerOf(by, facts);
  const removed = await executeGroups(by, writer, facts, groups, failures, signal);
  await executeTruncation(writer, truncate, signal).catch((error: unknown) => failures.push(error));
  return { failures, removed };
}

function writerOf(by: Executor, { rules: { set } }: SetFacts): SetWriter {
  return setWriter({ ...by, caches: Object.values(by.caches) }, set);
}

/** @returns pods of the current revision that were deleted to make room */
async function executeGroups(
  by: Executor,
  writer: SetWriter,
  facts: SetFacts,
  groups: Plan['groups'],
  failures: unknown[],
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const group of groups) {
    const { failed, done } = await slowStart(group, (action) => act(by, writer, facts.rules, action, signal), {
      largest: batchOf(facts.rules.template, defaultLimits.writing),
      signal,
    });
    removed += done.filter(({ item }) => makesRoom(facts, item)).length;
    if (failed.length > 0 || signal.aborted) {
      const errors = failed.map(({ error }) => error);
      failures.push(asOneError(errors, () => `${errors.length} calls failed: ${messageOf(errors[0])}`));
      return removed;
    }
  }
  return removed;
}
