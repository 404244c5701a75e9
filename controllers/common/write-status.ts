import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';

/** A set of any kind, as far as its status goes. */
interface Counted extends KubeObject {
  status?: object;
}

export interface StatusWrite<T extends Counted> {
  client: Pick<Client, 'get' | 'replace'>;
  resource: Resource;
  /** As the cache has it. */
  set: Readonly<T>;
  /** What to write over the status that is there. */
  change: (onto: Readonly<T>) => object;
  /** Told of what was written. */
  wrote: (written: T) => void;
}

/**
 * Writes a status, what others keep in it left as it is. Twice at most: the second time on the set as the server has it now. What changed meanwhile
 * brings the key back anyway.
 * @returns false when the set is gone, or another one by now: it needs no status, and nothing else either
 * @throws what the second try, or the look at the server before it, failed with
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
