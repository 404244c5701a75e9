import { messageOf } from '../../base/errors.ts';
import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import { controllerRevisions, daemonSets, pods } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { Expectations } from '../../kube/controller/expectations.ts';
import type { OwnWrites } from '../../kube/controller/own-writes.ts';
import { executeAdoption, setWriter, type SetWriter } from '../common/set-writer.ts';
import { executeHistory, executeTruncation } from '../common/history/execute.ts';
import { recordEvents } from '../common/events.ts';
import type { Executed } from '../common/reconcile.ts';
import type { Caches, SetFacts } from './observe.ts';
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
 * Adopts and releases pods and revisions, and does the steps of the history.
 * @returns the facts as they are: the plan that follows is for what these writes make true
 * @throws the first failure
 */
export async function executeOwnership(by: Executor, facts: SetFacts, signal: AbortSignal): Promise<SetFacts> {
  const { rules, adoption, history } = facts;
  const owner = { ...writerOf(by, rules), owner: rules.set, ownerKind: daemonSets };
  await executeAdoption(owner, pods, adoption.pods, signal);
  await prefixed('failed to construct revisions of DaemonSet: ', async () => {
    await executeAdoption(owner, controllerRevisions, adoption.revisions, signal);
    await executeHistory({ ...owner, ownerResource: daemonSets }, history, signal);
  });
  return facts;
}

/** Makes a plan true, in its order. Old revisions are deleted only when all pods could be made and deleted. */
export async function execute(by: Executor, rules: Rules, plan: Plan, signal: AbortSignal): Promise<Executed> {
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>): Promise<void> => work.catch((error: unknown) => void failures.push(error));
  recordEvents({ events: by.events, set: rules.set, resource: daemonSets }, plan.events);
  await attempt(executePods(by, rules, plan, signal));
  const truncate = async (): Promise<void> => executeTruncation(writerOf(by, rules), plan.truncate, signal);
  if (failures.length === 0) await attempt(prefixed('failed to clean up revisions of DaemonSet: ', truncate));
  return { failures };
}

function writerOf(by: Executor, { set }: Rules): SetWriter {
  return setWriter({ ...by, caches: Object.values(by.caches) }, set);
}

async function prefixed(prefix: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new Error(`${prefix}${messageOf(cause)}`, { cause });
  }
}

/** Of the status that is there: the count of collisions is written by history alone. */
export function keptStatus({ status }: Readonly<DaemonSet>): Pick<DaemonSetStatus, 'collisionCount'> {
  return status?.collisionCount === undefined ? {} : { collisionCount: status.collisionCount };
}
