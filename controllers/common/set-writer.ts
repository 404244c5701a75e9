import { pods, resourceName, type KubeObject, type Resource } from '../../kube/api/object.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import type { OwnWrites, SeenCache } from '../../kube/controller/own-writes.ts';
import { claim, type Claimer, type ClaimPlan } from '../../kube/controller/claim.ts';
import { isNotFound } from '../../kube/client/errors.ts';

/** The client, and where to report what was written for a set. */
export interface SetWriter {
  client: Client;
  wrote: (resource: Resource, object: KubeObject) => void;
  deleted: (resource: Resource, object: Readonly<KubeObject>) => void;
}

/**
 * Records what is written for a set, so that the next reconcile waits until the caches show it.
 * @param caches - of every kind that is written
 */
export function setWriter(
  { client, ownWrites, caches }: { client: Client; ownWrites: OwnWrites; caches: readonly SeenCache[] },
  set: Readonly<KubeObject>,
): SetWriter {
  const known = new Map(caches.map((cache) => [resourceName(cache.resource), cache]));
  const cacheOf = (resource: Resource): SeenCache => {
    const cache = known.get(resourceName(resource));
    if (cache === undefined) throw new RangeError(`no cache of ${resourceName(resource)} was given`);
    return cache;
  };
  const key = objectKey(set);
  return {
    client,
    wrote: (resource, object) => ownWrites.wrote(key, cacheOf(resource), object),
    deleted: (resource, object) => ownWrites.deleted(key, cacheOf(resource), object),
  };
}

/**
 * Restores the labels that a mutating webhook removed from a new pod, or changed, before the caches show the pod without them: the controller would take it
 * for another owner's pod, or for an outdated one, and replace it endlessly.
 * @param needed - nothing is written when the pod has them all
 */
export async function restoreLabels(
  { client, wrote }: Pick<SetWriter, 'client' | 'wrote'>,
  { metadata: { name = '', namespace = '', uid, labels = {} } }: Readonly<KubeObject>,
  needed: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const lost = Object.fromEntries(Object.entries(needed).filter(([key, value]) => labels[key] !== value));
  if (Object.keys(lost).length === 0) return;
  wrote(pods, await client.patch(pods, { name, namespace }, { metadata: { uid, labels: lost } }, { type: 'strategic', signal }));
}

/** Deletes an object, and no other of its name. @throws ApiError, also where it does not exist any more or is another one; TransportError */
export async function deleteByUid(
  client: Pick<Client, 'delete'>,
  resource: Resource,
  { metadata: { name = '', namespace = '', uid = '' } }: Readonly<KubeObject>,
  signal: AbortSignal,
): Promise<void> {
  await client.delete(resource, { name, namespace }, { body: { preconditions: { uid } }, signal });
}

/** The same, where it is fine that the object does not exist any more. */
export async function deleteIfThere(
  { client, deleted }: { client: Pick<Client, 'delete'>; deleted?: SetWriter['deleted'] | undefined },
  resource: Resource,
  object: Readonly<KubeObject>,
  signal: AbortSignal,
): Promise<void> {
  await deleteByUid(client, resource, object, signal).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  deleted?.(resource, object);
}

/** The owner that adopts, and where to report what was written for it. */
export interface Adopter extends Pick<Claimer, 'client' | 'owner' | 'ownerKind'> {
  wrote: (resource: Resource, object: KubeObject) => void;
}

/** Adopts and releases objects of one kind as planned. @throws what failed: the caller must not plan further */
export async function executeAdoption<T extends KubeObject>(
  { wrote, ...by }: Adopter,
  kind: Resource,
  plan: ClaimPlan<T>,
  signal: AbortSignal,
): Promise<void> {
  if (plan.adopt.length === 0 && plan.release.length === 0) return;
  // Kept objects need no request.
  await claim({ ...by, kind, wrote: (object) => wrote(kind, object) }, { ...plan, keep: [] }, signal);
}

/** A set of any kind with a status. */
interface Counted extends KubeObject {
  status?: object;
}

export interface StatusWrite<T extends Counted> {
  client: Pick<Client, 'get' | 'replace'>;
  resource: Resource;
  /** As the cache has it. */
  set: Readonly<T>;
  /** Fields to write over those of the status of `onto`. */
  change: (onto: Readonly<T>) => object;
  /** Called with the set as it was written. */
  wrote: (written: T) => void;
}

/**
 * Writes a status and keeps the fields of other writers. Tries twice at most: the second time on the set as the server has it now. A change in between
 * enqueues the key anyway.
 * @returns false when the set was deleted, or replaced by another of its name: nothing needs to be written for it
 * @throws the error of the second try, or of the GET before it
 */
export async function writeStatus<T extends Counted>(
  { client, resource, set, change, wrote }: StatusWrite<T>,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = '', namespace = '', uid } = set.metadata;
  const write = async (onto: Readonly<T>): Promise<void> => {
    const body = { ...onto, status: { ...onto.status, ...change(onto) } };
    wrote(await client.replace<T>(resource, body, { subresource: 'status', signal }));
  };
  try {
    await write(set);
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return false;
    const live = await client.get<T>(resource, { name, namespace }, { signal }).catch((failure: unknown) => {
      if (isNotFound(failure)) return undefined;
      throw failure;
    });
    if (live === undefined || live.metadata.uid !== uid) return false;
    await write(live);
  }
  return true;
}
