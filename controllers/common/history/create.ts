import { inGoJson, isJsonObject } from '../../../kube/api/json.ts';
import { controllerRevisions, type KubeObject } from '../../../kube/api/object.ts';
import { isAlreadyExists } from '../../../kube/client/errors.ts';
import { controllerOf, isControlledBy } from '../../../kube/controller/owners.ts';
import type { HistoryPlan, Revision } from './contract.ts';
import type { HistoryWriter } from './execute.ts';
import { revisionName, sameData } from './revision.ts';

type Creator = Pick<HistoryWriter, 'client' | 'owner' | 'ownerResource' | 'wrote'>;

interface Created {
  revision: Revision;
  /** When collisions are returned, including those of this creation. */
  collisionCount: number | undefined;
}

/**
 * Creates the revision, or takes the existing one of that name when it is ours and has the same content: the response to an earlier try was lost, or the
 * cache does not have it yet. Any other object of that name is a collision: it is counted, so that the next name differs.
 *
 * ```text
 *  POST       live revision         collisions written                 collisions returned
 *  201                              created                            created
 *  409 exists ours, same content    that one                           that one
 *  409 exists orphan, same content  that one                           that one: it will be adopted, and pods may carry its name already
 *  409 exists another               the owner's count + 1 is written;  count + 1, POST under the next name, until one is free,
 *                                   throws the 409                     the signal aborts, or the server rejects it
 * ```
 *
 * Throws, and writes no count, when the owner's count is not the one that the name was made with: a stale name is no collision.
 * @param plan - its count is what the revision's name was made with
 * @throws so that the key is retried
 */
export async function createRevision(
  by: Creator,
  revision: Revision,
  { collisionCount, rules }: Pick<HistoryPlan, 'collisionCount' | 'rules'>,
  signal: AbortSignal,
): Promise<Created> {
  const write = rules.collisions === 'written';
  let count = collisionCount;
  for (let next = revision; ;) {
    try {
      return { revision: await createOrAdopt(by, next, signal), collisionCount: count };
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error;
      if (write) {
        await countCollision(by, collisionCount, signal);
        throw error.cause;
      }
    }
    signal.throwIfAborted();
    count = (count ?? 0) + 1;
    // The label keeps the first hash, as upstream (history.CreateControllerRevision).
    next = { ...revision, metadata: { ...revision.metadata, name: revisionName(by.owner, rules.hash(revision.data, count)) } };
  }
}

/** The revision of that name must not be taken over; the cause is the server's response. */
class NameTaken extends Error {
  override name = 'NameTaken';
}

async function createOrAdopt({ client, owner, wrote }: Creator, revision: Revision, signal: AbortSignal): Promise<Revision> {
  try {
    const made = await client.create<Revision>(controllerRevisions, inGoJson(revision), { signal });
    wrote?.(controllerRevisions, made);
    return made;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { name = '', namespace = '' } = revision.metadata;
    const live = await client.get<Revision>(controllerRevisions, { name, namespace }, { signal });
    const mayTake = isControlledBy(live, owner) || controllerOf(live) === undefined;
    if (!mayTake || !sameData(live.data, revision.data)) throw new NameTaken(`${name} belongs to another object`, { cause: error });
    wrote?.(controllerRevisions, live);
    return live;
  }
}

async function countCollision(
  { client, owner, ownerResource, wrote }: Creator,
  collisionCount: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = owner.metadata;
  const live = await client.get(ownerResource, { name, namespace }, { signal });
  const path = `${ownerResource.kind} ${namespace}/${name}`;
  if (live.metadata.uid !== uid) throw new Error(`original ${path} is gone: got uid ${live.metadata.uid ?? ''}, wanted ${uid}`);
  const count = collisionCountOf(live);
  if (count !== collisionCount)
    throw new Error(`found a stale collision count (${shown(collisionCount)}, the server has ${shown(count)}) of ${path}; retrying`);
  const status = isJsonObject(live['status']) ? live['status'] : {};
  const counted = { ...live, status: { ...status, collisionCount: (count ?? 0) + 1 } };
  wrote?.(ownerResource, await client.replace(ownerResource, counted, { subresource: 'status', signal }));
}

function collisionCountOf({ status }: Readonly<KubeObject>): number | undefined {
  const count = isJsonObject(status) ? status['collisionCount'] : undefined;
  return typeof count === 'number' ? count : undefined;
}

function shown(count: number | undefined): string {
  return count === undefined ? 'none' : String(count);
}
