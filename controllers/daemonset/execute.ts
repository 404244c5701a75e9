import { messageOf } from '../../base/errors.ts';
import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import { controllerRevisions, daemonSets, pods } from '../../kube/api/resources.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { Expectations } from '../../kube/controller/expectations.ts';
import type { OwnWrites } from '../../kube/controller/own-writes.ts';
import { executeAdoption, setWriter, writeStatus } from '../common/set-writer.ts';
import { executeHistory, executeTruncation } from '../common/history/execute.ts';
import type { HistoryPlan } from '../common/history/contract.ts';
import { recordEvents } from '../common/events.ts';
import { conditionsOnto } from '../common/progress.ts';
import type { Caches } from './caches.ts';
import { executePods } from './execute-actions.ts';
import type { Plan } from './plan.ts';
import type { SetMemory } from '../common/set-memory.ts';
import type { Rules } from './rules.ts';
import type { DaemonSet } from './types.ts';

export interface Executor {
  client: Client;
  caches: Caches;
  expectations: Expectations;
  ownWrites: OwnWrites;
  memory: SetMemory;
  events: EventRecorder;
}

/**
 * Makes a plan true, in its order. Claims and history come first, and when one of these fails nothing else is done, for what the set has is not known
 * then. A pod that cannot be made or removed keeps no status from being written, so that people see how things are.
 * @throws the first failure: the key comes back
 */
export async function execute(by: Executor, rules: Rules, plan: Plan, history: HistoryPlan, signal: AbortSignal): Promise<void> {
  const { set } = rules;
  const { adoption } = plan;
  const writer = setWriter({ ...by, caches: Object.values(by.caches) }, set);
  const claimer = { ...writer, owner: set, ownerKind: daemonSets };
  await executeAdoption(claimer, pods, adoption.pods, signal);
  await prefixed('failed to construct revisions of DaemonSet: ', async () => {
    await executeAdoption(claimer, controllerRevisions, adoption.revisions, signal);
    await executeHistory({ ...writer, owner: set, ownerResource: daemonSets }, history, signal);
  });
  recordEvents({ events: by.events, set, resource: daemonSets }, plan.events);
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>): Promise<void> => work.catch((error: unknown) => void failures.push(error));
  await attempt(executePods(by, rules, plan, signal));
  if (failures.length === 0)
    await attempt(prefixed('failed to clean up revisions of DaemonSet: ', () => executeTruncation(writer, plan.truncate, signal)));
  if (plan.status !== undefined) await attempt(countedStatus(by, rules, plan.status, signal));
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
}

async function prefixed(prefix: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new Error(`${prefix}${messageOf(cause)}`, { cause });
  }
}

async function countedStatus(by: Executor, rules: Rules, status: DaemonSetStatus, signal: AbortSignal): Promise<void> {
  const { client, caches, ownWrites, memory } = by;
  const { set } = rules;
  // Conditions that are not there any more are taken away.
  const change = (onto: Readonly<DaemonSet>): object => ({
    ...status,
    conditions: conditionsOnto(onto.status?.conditions, status.conditions),
    ...collisionsOf(onto),
  });
  const wrote = (written: DaemonSet): void => {
    ownWrites.wrote(objectKey(set), caches.sets, written);
    memory.statusWritten(rules);
  };
  const isThere = await writeStatus({ client, resource: daemonSets, set, change, wrote }, signal);
  // Once the cache knows it too, nobody would forget it any more.
  if (!isThere && caches.sets.get(objectKey(set))?.metadata.uid === set.metadata.uid) memory.notFound(rules);
}

/** Changed by history alone. */
function collisionsOf({ status }: Readonly<DaemonSet>): Pick<DaemonSetStatus, 'collisionCount'> {
  return status?.collisionCount === undefined ? {} : { collisionCount: status.collisionCount };
}
