import { asOneError, messageOf, unreachable } from '../../base/errors.ts';
import { controllerRevisions, persistentVolumeClaims, pods, statefulSets } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { defaultLimits, slowStart } from '../../kube/client/limits.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { OwnWrites } from '../../kube/controller/own-writes.ts';
import { batchOf } from '../common/pods.ts';
import { deleteIfThere, executeAdoption, restoreLabels, setWriter, type SetWriter } from '../common/set-writer.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import { executeHistory, executeTruncation } from '../common/history/execute.ts';
import type { Executed } from '../common/reconcile.ts';
import type { SetMemory } from '../common/set-memory.ts';
import type { Caches, SetFacts } from './observe.ts';
import type { Plan } from './plan.ts';
import { deletesCurrentPod } from './status.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound, mayHaveTakenEffect, serverMessageOf } from '../../kube/client/errors.ts';
import { type Action, newPod } from './actions.ts';
import { POD_INDEX_LABEL, POD_NAME_LABEL } from './places.ts';
import type { Rules } from './rules.ts';
import type { Pod, Pvc } from '../common/types.ts';

export interface Executor {
  client: Client;
  caches: Caches;
  ownWrites: OwnWrites;
  memory: SetMemory;
  events: EventRecorder;
}

/** How far a plan was executed. */
export interface Progressed extends Executed {
  /** Number of pods of the current revision that were deleted to be updated. */
  removed: number;
}

/**
 * Adopts and releases revisions and pods, and executes the steps of the history.
 * @returns the facts with the history as the server has it now: the update revision has another name when its first name was taken
 * @throws the first failure
 */
export async function executeOwnership(by: Executor, facts: SetFacts, signal: AbortSignal): Promise<SetFacts> {
  const { rules, adoption } = facts;
  const owner = { ...writerOf(by, facts), owner: rules.set, ownerKind: statefulSets };
  await executeAdoption(owner, controllerRevisions, adoption.revisions, signal);
  await executeAdoption(owner, pods, adoption.pods, signal);
  const history = await executeHistory({ ...owner, ownerResource: statefulSets }, facts.history, signal);
  // As the server has it now: its number may be new, and its name too when the first one was taken.
  const currentRevision = facts.currentRevision === facts.history.current ? history.current : facts.currentRevision;
  return { ...facts, history: { ...facts.history, ...history }, currentRevision };
}

/** Executes a plan: pods and their claims, group by group; then old revisions, also when a group has failed. */
export async function execute(by: Executor, facts: SetFacts, { groups, truncate }: Plan, signal: AbortSignal): Promise<Progressed> {
  const failures: unknown[] = [];
  const writer = writerOf(by, facts);
  const removed = await executeGroups(by, writer, facts, groups, failures, signal);
  await executeTruncation(writer, truncate, signal).catch((error: unknown) => failures.push(error));
  return { failures, removed };
}

/** @returns number of pods of the current revision that were deleted to be updated */
async function executeGroups(
  by: Executor,
  writer: SetWriter,
  facts: SetFacts,
  groups: Plan['groups'],
  failures: unknown[],
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  let refused = false;
  for (const group of groups) {
    if (refused && !group.every(isScaleDown)) continue;
    const { failed, done } = await slowStart(group, (action) => act(by, writer, facts.rules, action, signal), {
      largest: batchOf(facts.rules.template, defaultLimits.writing),
      signal,
    });
    removed += done.filter(({ item }) => deletesCurrentPod(facts, item)).length;
    if (failed.length > 0 || signal.aborted) {
      const errors = failed.map(({ error }) => error);
      failures.push(asOneError(errors, () => `${errors.length} calls failed: ${messageOf(errors[0])}`));
      refused = failed.every(({ item, error }) => item.do === 'create' && wasNotCreated(error));
      if (!refused || signal.aborted) return removed;
    }
  }
  return removed;
}

/** What continues after the server rejected new pods: a quota may allow these only once other pods are deleted. */
function isScaleDown(action: Action): boolean {
  return action.do === 'pvc-owners' || (action.do === 'delete' && action.reason === 'scaled-down');
}

/** Whether the response proves that the pod was not created. When a claim could not be created, its error is the cause of the pod's error. */
function wasNotCreated(error: unknown): boolean {
  const { cause = error } = error instanceof Error && !(error instanceof ApiError) ? error : {};
  return cause instanceof ApiError && !mayHaveTakenEffect(cause);
}

/** Executes one action and records an event about it. @throws what failed */
async function act(by: Executor, writer: SetWriter, rules: Rules, action: Action, signal: AbortSignal): Promise<void> {
  switch (action.do) {
    case 'create':
      return create(by, writer, rules, action, signal);
    case 'delete':
      return remove(by, writer, rules, action.pod, signal);
    case 'storage': {
      const { name = '' } = action.pod.metadata;
      const { pvcs, terminating } = action;
      return verb(by, rules, 'update', name, () => createPvcs(by, writer, rules, { pod: name, pvcs, terminating }, signal), 'silent');
    }
    case 'pvc-owners':
      return action.eventsFor === 'nothing'
        ? updatePvcOwners(by, writer, rules, action, signal)
        : verb(by, rules, 'update', action.pod, () => updatePvcOwners(by, writer, rules, action, signal), successOf(action));
    case 'grow':
      return grow(by, writer, rules, action.pvc, signal);
    case 'repair':
      return repair(by, writer, rules, action.pod, signal);
    default:
      return unreachable(action);
  }
}

type Create = Extract<Action, { do: 'create' }>;

/** Creates all claims before the pod, which cannot start without them. */
async function create(by: Executor, writer: SetWriter, rules: Rules, action: Create, signal: AbortSignal): Promise<void> {
  const { slot, revision, template } = action;
  const { name, ordinal } = slot;
  await verb(by, rules, 'create', name, async () => {
    await createPvcs(by, writer, rules, { pod: name, ...action }, signal);
    const pod = newPod(rules, { name, ordinal, revision, template });
    const { namespace } = rules;
    try {
      const made = await writer.client.create<Pod>(pods, pod, { namespace, signal });
      writer.wrote(pods, made);
      await restoreLabels(writer, made, { ...rules.matchLabels, [HASH_LABEL]: revision }, signal);
    } catch (error) {
      // The response is lost. If the pod exists, the cache must show it before the next plan, which might otherwise scale down in the wrong order.
      if (mayHaveTakenEffect(error) && !signal.aborted) {
        const live = await writer.client.get<Pod>(pods, { name, namespace }, { signal }).catch(() => undefined);
        if (live !== undefined) writer.wrote(pods, live);
      }
      throw error;
    }
  });
}

async function createPvcs(
  { events }: Executor,
  { client, wrote }: SetWriter,
  { set, namespace, name: of }: Rules,
  { pod, pvcs, terminating }: { pod: string; pvcs: readonly Pvc[]; terminating: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  if (terminating.length > 0) throw new Error(terminating.map((name) => `pvc ${name} is being deleted`).join('; '));
  for (const pvc of pvcs) {
    const { name = '' } = pvc.metadata;
    try {
      wrote(persistentVolumeClaims, await client.create<Pvc>(persistentVolumeClaims, pvc, { namespace, signal }));
      events.event(set, 'Normal', 'SuccessfulCreate', `create Claim ${name} Pod ${pod} in StatefulSet ${of} success`, about);
    } catch (cause) {
      signal.throwIfAborted();
      if (isAlreadyExists(cause)) throw cause;
      const message = `create Claim ${name} for Pod ${pod} in StatefulSet ${of} failed error: ${serverMessageOf(cause)}`;
      events.event(set, 'Warning', 'FailedCreate', message, about);
      throw new Error(`failed to create PVC ${name}: ${serverMessageOf(cause)}`, { cause });
    }
  }
}

async function remove(by: Executor, writer: SetWriter, rules: Rules, pod: Readonly<Pod>, signal: AbortSignal): Promise<void> {
  await verb(by, rules, 'delete', pod.metadata.name ?? '', () => deleteIfThere(writer, pods, pod, signal));
}

/** Corrects a pod with a patch and not with a PUT, because the cache has only part of the pod. */
async function repair(by: Executor, writer: SetWriter, rules: Rules, { metadata, spec }: Pod, signal: AbortSignal): Promise<void> {
  const { name = '', namespace = '', uid, labels } = metadata;
  await verb(by, rules, 'update', name, async () => {
    // The identity labels only: other writers may have changed other labels since.
    const own = { [POD_NAME_LABEL]: labels?.[POD_NAME_LABEL], [POD_INDEX_LABEL]: labels?.[POD_INDEX_LABEL] };
    const patch = { metadata: { uid, labels: own }, ...(spec?.volumes === undefined ? {} : { spec: { volumes: spec.volumes } }) };
    writer.wrote(pods, await writer.client.patch<Pod>(pods, { name, namespace }, patch, { type: 'strategic', signal }));
  });
}

type Owners = Extract<Action, { do: 'pvc-owners' }>;

/** Upstream also writes the unchanged pod, and records an event about that. */
function successOf({ eventsFor, write }: Owners): 'event' | 'silent' {
  return eventsFor === 'all' && write.length > 0 ? 'event' : 'silent';
}

async function updatePvcOwners(
  { events }: Executor,
  { client, wrote }: SetWriter,
  { set }: Rules,
  { write, conflicting }: Owners,
  signal: AbortSignal,
): Promise<void> {
  for (const name of conflicting) {
    const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
    events.event(set, 'Warning', 'ConflictingController', message, about);
  }
  for (const pvc of write) {
    try {
      wrote(persistentVolumeClaims, await client.replace<Pvc>(persistentVolumeClaims, pvc, { signal }));
    } catch (cause) {
      signal.throwIfAborted();
      if (isNotFound(cause)) continue;
      // No event: the key is retried with the claim that the cache has then.
      if (isConflict(cause)) throw cause;
      throw new Error(`could not update claim ${pvc.metadata.name ?? ''} for delete policy ownerRefs: ${serverMessageOf(cause)}`, {
        cause,
      });
    }
  }
}

async function grow(
  { events }: Executor,
  { client, wrote }: SetWriter,
  { set, name: of }: Rules,
  pvc: Pvc,
  signal: AbortSignal,
): Promise<void> {
  const { name = '' } = pvc.metadata;
  const size = pvc.spec?.resources?.requests?.['storage'] ?? '';
  try {
    wrote(persistentVolumeClaims, await client.replace<Pvc>(persistentVolumeClaims, pvc, { signal }));
    events.event(set, 'Normal', 'ClaimExpanded', `Claim ${name} of StatefulSet ${of} now requests ${size}`, about);
  } catch (error) {
    signal.throwIfAborted();
    if (!isConflict(error) && !isNotFound(error))
      events.event(
        set,
        'Warning',
        'FailedExpand',
        `Claim ${name} of StatefulSet ${of} cannot be expanded to ${size}: ${serverMessageOf(error)}`,
        about,
      );
    throw error;
  }
}

const about = { resource: statefulSets };
const reasons = { create: 'Create', delete: 'Delete', update: 'Update' } as const;

/** @param success - silent: no event when the work succeeds. @default event */
async function verb(
  { events }: Executor,
  { set, name: of }: Rules,
  what: keyof typeof reasons,
  pod: string,
  work: () => Promise<void>,
  success: 'event' | 'silent' = 'event',
): Promise<void> {
  try {
    await work();
  } catch (error) {
    // No event: the cache will soon show a pod that exists already, and a conflict is retried before a user would read the event.
    if (isAlreadyExists(error) || isConflict(error) || error instanceof DOMException) throw error;
    const message = `${what} Pod ${pod} in StatefulSet ${of} failed error: ${serverMessageOf(error)}`;
    events.event(set, 'Warning', `Failed${reasons[what]}`, message, about);
    throw error;
  }
  if (success === 'event')
    events.event(set, 'Normal', `Successful${reasons[what]}`, `${what} Pod ${pod} in StatefulSet ${of} successful`, about);
}

function writerOf(by: Executor, { rules: { set } }: SetFacts): SetWriter {
  return setWriter({ ...by, caches: Object.values(by.caches) }, set);
}
