import { asOneError, messageOf } from '../../base/errors.ts';
import { controllerRevisions, pods, statefulSets } from '../../kube/api/resources.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { OwnWrites } from '../../kube/controller/own-writes.ts';
import { slowStart } from '../../kube/controller/slow-start.ts';
import { batchOf } from '../common/pod-from-template.ts';
import { decideFor } from '../common/events.ts';
import type { History } from '../common/history/contract.ts';
import { executeAdoption, setWriter, type SetWriter, writeStatus } from '../common/set-writer.ts';
import { executeHistory, executeTruncation } from '../common/history/execute.ts';
import { conditionsOnto } from '../common/progress.ts';
import type { WakeUp } from '../common/reconcile.ts';
import type { SetMemory } from '../common/set-memory.ts';
import type { Caches } from './caches.ts';
import { act } from './execute-actions.ts';
import type { SetFacts } from './facts.ts';
import { finalStatus, plan, type Plan } from './plan.ts';
import { makesRoom } from './status.ts';
import type { StatefulSet } from './types.ts';

/** Calls of one group under way at once: batches grow to it from one. */
const LARGEST_BATCH = 500;

export interface Executor {
  client: Client;
  caches: Caches;
  ownWrites: OwnWrites;
  memory: SetMemory;
  events: EventRecorder;
}

/**
 * Makes the plan of the facts true: adoption and history first, and when one of these fails nothing else is done; then pods and what belongs to them, group
 * by group; old revisions; the status last, also when something before it has failed.
 * @returns when to look again without an event, and what people should know of claims
 * @throws the first failure: the key comes back
 */
export async function execute(by: Executor, facts: SetFacts, signal: AbortSignal): Promise<Pick<Plan, 'wakeUps' | 'refused'>> {
  const { rules, adoption } = facts;
  const { set } = rules;
  const writer = setWriter({ ...by, caches: Object.values(by.caches) }, set);
  const claimer = { ...writer, owner: set, ownerKind: statefulSets };
  const leaving = set.metadata.deletionTimestamp !== undefined;
  await executeAdoption(claimer, controllerRevisions, adoption.revisions, signal);
  await executeAdoption(claimer, pods, adoption.pods, signal);
  // A name that was taken is found out here alone: then everything is decided again with the one that is.
  const history: History = leaving
    ? facts.history
    : await executeHistory({ ...writer, owner: set, ownerResource: statefulSets }, facts.history, signal);
  const known = { ...facts, ...withHistory(facts, history) };
  const todo = decideFor({ events: by.events, set, resource: statefulSets }, () => plan(known));
  const failures: unknown[] = [];
  const removed = await executeGroups(by, writer, known, todo, failures, signal);
  const attempt = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => failures.push(error));
  await attempt(executeTruncation(writer, todo.truncate, signal));
  const held = await executeStatus(by, known, todo, removed, attempt, signal);
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return { wakeUps: held === undefined ? todo.wakeUps : [...todo.wakeUps, held], refused: todo.refused };
}

function withHistory(facts: SetFacts, history: History): Pick<SetFacts, 'history' | 'currentRevision'> {
  const before = facts.history.current;
  // As the server has it now: its number may be new, its name is the same unless it was taken.
  const currentRevision = facts.currentRevision === before ? history.current : facts.currentRevision;
  return { history: { ...facts.history, ...history }, currentRevision };
}

/** @returns pods of the current revision that were deleted to make room */
async function executeGroups(
  by: Executor,
  writer: SetWriter,
  facts: SetFacts,
  { groups }: Plan,
  failures: unknown[],
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const group of groups) {
    const { failed, done } = await slowStart(group, (action) => act(by, writer, facts.rules, action, signal), {
      largest: batchOf(facts.rules.template, LARGEST_BATCH),
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

async function executeStatus(
  { client, caches, ownWrites, memory }: Executor,
  facts: SetFacts,
  todo: Plan,
  removed: number,
  attempt: (work: Promise<unknown>) => Promise<unknown>,
  signal: AbortSignal,
): Promise<WakeUp | undefined> {
  const { set } = facts.rules;
  const { uid = '' } = set.metadata;
  const { status, change } = finalStatus(facts, todo, removed);
  if (change === 'nothing') return undefined;
  const held = change === 'numbers' ? memory.of({ set }).statusHeldMs : 0;
  if (held > 0) return { requeueAfter: held, why: 'the status was written a moment ago' };
  const wrote = (written: StatefulSet): void => {
    ownWrites.wrote(objectKey(set), caches.sets, written);
    memory.statusWritten({ set });
  };
  // Conditions that are not there any more are taken away.
  const over = (onto: Readonly<StatefulSet>): object => ({
    ...status,
    conditions: conditionsOnto(onto.status?.conditions, status.conditions),
  });
  const write = async (): Promise<void> => {
    // Once the cache knows it too, nobody would forget it any more.
    if (
      !(await writeStatus({ client, resource: statefulSets, set, change: over, wrote }, signal)) &&
      caches.sets.get(objectKey(set))?.metadata.uid === uid
    )
      memory.notFound({ set });
  };
  await attempt(write());
  return undefined;
}
