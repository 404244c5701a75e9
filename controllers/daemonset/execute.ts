import { asOneError, messageOf } from '../../base/errors.ts';
import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import { controllerRevisions, daemonSets, pods } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { Expectations, Pass } from '../../kube/controller/expectations.ts';
import type { OwnWrites } from '../../kube/controller/own-writes.ts';
import { deleteByUid, deleteIfThere, executeAdoption, restoreLabels, setWriter, type SetWriter } from '../common/set-writer.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import { executeHistory, executeTruncation } from '../common/history/execute.ts';
import { recordEvents } from '../common/events.ts';
import type { Executed } from '../common/reconcile.ts';
import type { Caches, SetFacts } from './observe.ts';
import type { Plan } from './plan.ts';
import type { SetMemory } from '../common/set-memory.ts';
import { type Rules, selects } from './rules.ts';
import type { DaemonSet, Pod } from '../common/types.ts';
import type { Millis } from '../../base/clock.ts';
import { batchOf } from '../common/pods.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import { ApiError, isConflict, isNotFound, serverMessageOf } from '../../kube/client/errors.ts';
import { defaultLimits, slowStart } from '../../kube/client/limits.ts';
import { controllerOf, isControlledBy } from '../../kube/controller/owners.ts';
import { type Creation, type Deletion, newPod } from './actions.ts';
import { isTerminating, nameOf, targetNode } from './pods.ts';

export interface Executor {
  client: Client;
  caches: Caches;
  expectations: Expectations;
  ownWrites: OwnWrites;
  memory: SetMemory;
  events: EventRecorder;
}

/**
 * Adopts and releases pods and revisions, and executes the steps of the history.
 * @returns the same facts: they already describe the state after these writes
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

/** Executes a plan in order. Old revisions are deleted only when all pods could be created and deleted. */
export async function execute(by: Executor, rules: Rules, plan: Plan, signal: AbortSignal): Promise<Executed> {
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>): Promise<void> => work.catch((error: unknown) => void failures.push(error));
  recordEvents({ events: by.events, set: rules.set, resource: daemonSets }, plan.events);
  await attempt(executePods(by, rules, plan, signal));
  const truncate = async (): Promise<void> => executeTruncation(writerOf(by, rules), plan.truncate, signal);
  if (failures.length === 0) await attempt(prefixed('failed to clean up revisions of DaemonSet: ', truncate));
  return { failures };
}

/** Creates pods with slow start, then deletes pods all at once. @throws one error for all that failed */
async function executePods(by: Executor, rules: Rules, plan: Plan, signal: AbortSignal): Promise<void> {
  const { creations } = plan;
  // The event of a pod that was deleted or released during the ownership writes has passed: its deletion must not be expected.
  const deletions = plan.deletions.filter(({ pod }) => isStillControlled(by, rules, pod));
  if (creations.length === 0 && deletions.length === 0) return;
  const key = objectKey(rules.set);
  // The set was deleted during this reconcile: another set of its name would wait for these expectations, and no event would fulfill them.
  if (by.caches.sets.get(key)?.metadata.uid !== rules.set.metadata.uid) return;
  const uids = deletions.map(({ pod }) => pod.metadata.uid ?? '');
  const pass = by.expectations.expect(key, { creations: creations.length, deletions: uids });
  const errors = [...(await create(by, rules, creations, pass, signal)), ...(await remove(by, rules, deletions, pass, signal))];
  signal.throwIfAborted();
  if (errors.length > 0)
    throw asOneError(errors, () => `${errors.length} pods could not be created or deleted: ${serverMessageOf(errors[0])}`);
}

function isStillControlled({ caches }: Executor, { set }: Rules, pod: Readonly<Pod>): boolean {
  const now = caches.pods.get(objectKey(pod));
  return now !== undefined && now.metadata.uid === pod.metadata.uid && !isTerminating(now) && isControlledBy(now, set);
}

async function create(by: Executor, rules: Rules, creations: readonly Creation[], pass: Pass, signal: AbortSignal): Promise<unknown[]> {
  const { client, events } = by;
  const { set } = rules;
  const { namespace = '' } = set.metadata;
  const result = await slowStart(
    creations,
    async (creation) => {
      const post = async (): Promise<Pod> => client.create<Pod>(pods, newPod(rules, creation), { namespace, signal });
      const pod = await pass.create(post, isOfTerminatingNamespace);
      events.event(set, 'Normal', 'SuccessfulCreate', `Created pod: ${nameOf(pod)}`, { resource: daemonSets });
      const rewritten = rewrittenAs(rules, pod, creation);
      if (rewritten !== undefined) await undo(by, rules, pod, rewritten, signal);
      await restoreLabels(writerOf(by, rules), pod, { [HASH_LABEL]: creation.hash }, signal);
    },
    { largest: Math.min(...creations.map(({ template }) => batchOf(template, defaultLimits.writing))), signal },
  );
  if (result.skipped.length > 0) pass.notCreated(result.skipped.length);
  const errors = result.failed.map(({ error }) => error).filter((error) => !isOfTerminatingNamespace(error));
  for (const error of errors) {
    if (error instanceof RewrittenError || signal.aborted) continue;
    events.event(set, 'Warning', 'FailedCreate', `Error creating: ${serverMessageOf(error)}`, { resource: daemonSets });
  }
  return errors;
}

/** A terminating namespace rejects new pods: that is no failure, and a retry before the expectations expire is useless. */
function isOfTerminatingNamespace(error: unknown): boolean {
  return error instanceof ApiError && (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}

/**
 * How admission rewrote a new pod; undefined when the pod is the set's, or an orphan that it can adopt, and for the requested node. Otherwise each reconcile
 * would find the node without a pod and create one more: the scheduler would place those for other nodes, and those with labels that the selector does not
 * match would be released and keep running.
 */
function rewrittenAs(rules: Rules, pod: Pod, { node }: Creation): { reason: string; how: string } | undefined {
  const owner = controllerOf(pod);
  if (owner !== undefined && owner.uid !== rules.set.metadata.uid)
    return { reason: 'OwnershipLost', how: `for this set, but the API server returned it as one of ${owner.kind} ${owner.name}` };
  if (!selects(rules)(pod))
    return { reason: 'OwnershipLost', how: 'for this set, but the API server returned it with labels that the selector does not match' };
  if (targetNode(pod) === node) return undefined;
  return { reason: 'PlacementLost', how: `for node ${node}, but the API server returned it for ${targetNode(pod) ?? 'no node'}` };
}

async function undo(
  by: Executor,
  rules: Rules,
  pod: Pod,
  { reason, how }: { reason: string; how: string },
  signal: AbortSignal,
): Promise<never> {
  const held = by.memory.hold(rules);
  const message = `Pod ${nameOf(pod)} was created ${how}: an admission webhook rewrites the pods of this set. The pod is deleted, and no more are created for ${seconds(held)}`;
  by.events.event(rules.set, 'Warning', reason, message, { resource: daemonSets });
  await deleteIfThere(by, pods, pod, signal);
  throw new RewrittenError(message);
}

/** The API server returned a new pod for another node, for no node, or not as the set's pod: admission rewrites the pods of this set. */
class RewrittenError extends Error {
  override name = 'RewrittenError';
}

const seconds = (ms: Millis): string => `${Math.ceil(ms / 1_000)} s`;

async function remove(by: Executor, rules: Rules, deletions: readonly Deletion[], pass: Pass, signal: AbortSignal): Promise<unknown[]> {
  const { client, events, memory } = by;
  const { set } = rules;
  const errors: unknown[] = [];
  const failed = new Set<string>();
  await Promise.all(
    deletions.map(async ({ pod, node, reason }) => {
      try {
        await deleteByUid(client, pods, pod, signal);
        // Several failed pods on one node count as one failure.
        if (reason === 'failed' && !failed.has(node)) memory.failed(rules, node);
        if (reason === 'failed') failed.add(node);
        events.event(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${nameOf(pod)}`, { resource: daemonSets });
      } catch (error) {
        pass.notDeleted(pod.metadata.uid ?? '');
        if (isNotFound(error)) return;
        // A conflict counts too: the server may give up retrying while the pod still exists, and then no event enqueues the set. Users need no event about it.
        errors.push(error);
        if (!signal.aborted && !isConflict(error))
          events.event(set, 'Warning', 'FailedDelete', `Error deleting: ${serverMessageOf(error)}`, { resource: daemonSets });
      }
    }),
  );
  return errors;
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

/** Keeps the server's collisionCount, which only the history code writes. */
export function keptStatus({ status }: Readonly<DaemonSet>): Pick<DaemonSetStatus, 'collisionCount'> {
  return status?.collisionCount === undefined ? {} : { collisionCount: status.collisionCount };
}
