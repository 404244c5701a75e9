import { configMaps } from '../../../kube/api/object.ts';
import { unlessChanged, type Executor } from '../execute.ts';
import type { ConfigMap } from '../revision.ts';
import { newRecord, RECORD } from './record.ts';

/** Whose own writes those of the record are: no rollout has this name. */
export const RECORD_KEY = '(record)';

/**
 * Writes down what is about to be touched.
 * @param known - the record that it was planned from, absent: there was none
 * @param data - absent: there is no budget any more, and no record
 * @returns false: there is a newer one
 */
export async function writeRecord(
  { client, ownWrites, caches: { configMaps: cache } }: Executor,
  { namespace, known, data }: { namespace: string; known: Readonly<ConfigMap> | undefined; data: Record<string, string> | undefined },
  signal: AbortSignal,
): Promise<boolean> {
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
