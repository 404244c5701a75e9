import { configMaps } from '../../../kube/api/resources.ts';
import { unlessChanged, type Executor } from '../execute.ts';
import { newRecord, RECORD } from './record.ts';

/** Whose own writes those of the record are: no rollout has this name. */
export const RECORD_KEY = '(record)';

/**
 * Writes down what is about to be touched, on the version of the record that it was planned from.
 * @param data - absent: there is no budget any more, and no record
 * @returns false: there is a newer one
 */
export async function writeRecord(
  by: Executor,
  namespace: string,
  data: Record<string, string> | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, ownWrites } = by;
  const cache = by.caches.configMaps;
  const known = cache.get(`${namespace}/${RECORD}`);
  const write = async (): Promise<void> => {
    if (known === undefined) {
      if (data !== undefined)
        ownWrites.wrote(RECORD_KEY, cache, await client.create(configMaps, newRecord(namespace, data), { signal, namespace }));
      return;
    }
    const { uid = '', resourceVersion = '' } = known.metadata;
    if (data !== undefined) {
      const body = { metadata: { uid, resourceVersion }, data };
      ownWrites.wrote(RECORD_KEY, cache, await client.patch(configMaps, { name: RECORD, namespace }, body, { type: 'merge', signal }));
      return;
    }
    await client.delete(configMaps, { name: RECORD, namespace }, { signal, body: { preconditions: { uid, resourceVersion } } });
    ownWrites.deleted(RECORD_KEY, cache, known);
  };
  return unlessChanged(write);
}
