import { resourceName, type KubeObject, type Resource } from '../../kube/api/object.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import type { OwnWrites, SeenCache } from '../../kube/controller/own-writes.ts';

/** Who is told of what was written for a set. */
export interface SetWriter {
  client: Client;
  wrote: (resource: Resource, object: KubeObject) => void;
  deleted: (resource: Resource, object: Readonly<KubeObject>) => void;
}

/**
 * Notes what is written for a set, so that nothing is decided before the caches show it.
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
