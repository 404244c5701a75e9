import { messageOf, unreachable } from '../../../base/errors.ts';
import { controllerRevisions, type KubeObject, pods, type Resource } from '../../../kube/api/object.ts';
import type { Client, ObjectRef } from '../../../kube/client/client.ts';
import { isConflict, isNotFound } from '../../../kube/client/errors.ts';
import { isControlledBy } from '../../../kube/controller/owners.ts';
import { slowStart } from '../../../kube/client/limits.ts';
import { deleteIfThere } from '../set-writer.ts';
import { HASH_LABEL, type History, type HistoryPlan, type HistoryStep, type Revision } from './contract.ts';
import { createRevision } from './create.ts';
import { carriedBy } from './plan.ts';

export interface HistoryWriter {
  client: Pick<Client, 'get' | 'create' | 'replace' | 'patch' | 'delete'>;
  /** As in the facts that the plan was made from. */
  owner: Readonly<KubeObject>;
  ownerResource: Resource;
  /** Called with each written object, as the server has it now, and with a revision that was taken because it existed already. */
  wrote?: (resource: Resource, object: KubeObject) => void;
  /** Called with each object that the server deleted or no longer had. */
  deleted?: (resource: Resource, object: Readonly<KubeObject>) => void;
}

/** Max concurrent patches. */
const AT_ONCE = 16;

/**
 * Executes the steps of the plan in order and stops at the first failure.
 * @returns the history as the server has it now
 * @throws what failed, with the object's name and the cause: the caller must not plan further. When the name of a new revision is taken and collisions
 * are written, the owner's count has been raised, so that the next try makes another name
 */
export async function executeHistory(by: HistoryWriter, plan: HistoryPlan, signal: AbortSignal): Promise<History> {
  const written = new Map<Readonly<Revision>, Revision>();
  let { collisionCount } = plan;
  const asNow = (revision: Readonly<Revision>): Readonly<Revision> => written.get(revision) ?? revision;
  const relabels = plan.steps.filter((step) => step.do === 'relabel');
  for (const step of plan.steps) {
    switch (step.do) {
      case 'label':
      case 'renumber':
        written.set(step.revision, await update(by, step, asNow(step.revision), plan, signal));
        break;
      case 'create': {
        const create = async (): Promise<void> => {
          const created = await createRevision(by, step.revision, plan, signal);
          written.set(step.revision, created.revision);
          collisionCount = created.collisionCount;
        };
        await named('create', controllerRevisions, step.revision, create, signal);
        break;
      }
      case 'relabel':
        if (step === relabels[0]) await relabelAll(by, relabels, signal);
        break;
      case 'delete':
        await remove(by, step.revision, signal);
        break;
      default:
        unreachable(step);
    }
  }
  const current = asNow(plan.current);
  return { hash: carriedBy(current, plan.rules), current, old: plan.old.map(asNow), collisionCount };
}

/**
 * Deletes old revisions in order and stops at the first failure. A revision that is not found counts as deleted.
 * @throws what failed, with the object's name and the cause
 */
export async function executeTruncation(
  by: Pick<HistoryWriter, 'client' | 'deleted'>,
  revisions: readonly Readonly<Revision>[],
  signal: AbortSignal,
): Promise<void> {
  for (const revision of revisions) await remove(by, revision, signal);
}

type Update = Extract<HistoryStep, { do: 'label' | 'renumber' }>;

/** @returns the revision as it is now */
async function update(
  by: HistoryWriter,
  step: Update,
  revision: Readonly<Revision>,
  { rules }: Pick<HistoryPlan, 'rules'>,
  signal: AbortSignal,
): Promise<Revision> {
  const write = async (onto: Readonly<Revision>): Promise<Revision> => {
    const change = changeOf(step, onto, rules.hashLabel);
    if (change === undefined) return onto;
    // A merge patch leaves the stored bytes of `data` as they are; a PUT that encodes them differently counts as a change of data.
    const { uid, resourceVersion } = onto.metadata;
    const patch = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    const answer = await by.client.patch<Revision>(controllerRevisions, refOf(onto), patch, { type: 'merge', signal });
    by.wrote?.(controllerRevisions, answer);
    return answer;
  };
  const twice = async (): Promise<Revision> => {
    try {
      return await write(revision);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // The cache is stale, for example because of our own adoption of the revision.
      const live = await by.client.get<Revision>(controllerRevisions, refOf(revision), { signal });
      if (live.metadata.uid !== revision.metadata.uid || !isControlledBy(live, by.owner))
        throw new Error('another object has its name, or another owner controls it', { cause: error });
      return write(live);
    }
  };
  return named(step.do, controllerRevisions, revision, twice, signal);
}

interface RevisionChange {
  revision?: number;
  metadata?: { labels: Record<string, string> };
}

/** undefined when the revision has the change already. */
function changeOf(step: Update, onto: Readonly<Revision>, hashLabel: string): RevisionChange | undefined {
  if (step.do === 'renumber') return onto.revision >= step.to ? undefined : { revision: step.to };
  return (onto.metadata.labels?.[hashLabel] ?? '') === '' ? { metadata: { labels: { [hashLabel]: step.hash } } } : undefined;
}

async function relabelAll(
  by: HistoryWriter,
  relabels: readonly Extract<HistoryStep, { do: 'relabel' }>[],
  signal: AbortSignal,
): Promise<void> {
  const { failed } = await slowStart(relabels, ({ pod, hash }) => relabel(by, pod, hash, signal), { largest: AT_ONCE, signal });
  signal.throwIfAborted();
  // The other failures of the batch most likely have the same cause, and are retried with this one.
  if (failed[0] !== undefined) throw failed[0].error;
}

function relabel({ client, wrote }: HistoryWriter, pod: Readonly<KubeObject>, hash: string, signal: AbortSignal): Promise<void> {
  // The UID keeps the patch from a newer pod of that name, which may be of any revision.
  const patch = { metadata: { labels: { [HASH_LABEL]: hash }, uid: pod.metadata.uid } };
  const write = async (): Promise<void> => {
    try {
      const answer = await client.patch(pods, refOf(pod), patch, { type: 'merge', signal });
      wrote?.(pods, answer);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  return named('relabel', pods, pod, write, signal);
}

function remove(writer: Pick<HistoryWriter, 'client' | 'deleted'>, revision: Readonly<Revision>, signal: AbortSignal): Promise<void> {
  return named('delete', controllerRevisions, revision, () => deleteIfThere(writer, controllerRevisions, revision, signal), signal);
}

/** Adds the action and the object to an error. When the signal aborts, its reason is thrown instead, as everywhere. */
async function named<R>(
  action: string,
  { kind }: Resource,
  { metadata: { name = '', namespace = '' } }: Readonly<KubeObject>,
  call: () => Promise<R>,
  signal: AbortSignal,
): Promise<R> {
  try {
    return await call();
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`Cannot ${action} ${kind} ${namespace}/${name}: ${messageOf(cause)}`, { cause });
  }
}

function refOf({ metadata: { name = '', namespace } }: Readonly<KubeObject>): ObjectRef {
  return namespace === undefined ? { name } : { name, namespace };
}
