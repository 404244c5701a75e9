import { describeError } from '../../base/errors.ts';
import { configMaps } from '../../kube/api/object.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { agentDefaults } from '../../agent/options.ts';
import { printable } from '../output/printable.ts';
import type { PayloadRef, SpecSource } from '../../agent/checkpoint/source.ts';
import type { Client } from '../../kube/client/client.ts';

export interface ConfigMapNow {
  /** Absent: it is not there, or cannot be read. */
  found?: PayloadRef;
  /** For stderr. */
  notes: string[];
}

/** The ConfigMap as it is now. Assigning one that is missing is allowed: the nodes wait for it. So there are only notes about it. */
export async function configMapNow(client: Pick<Client, 'get'>, source: SpecSource, signal: AbortSignal): Promise<ConfigMapNow> {
  const { namespace, name, kubeletConfigKey } = source;
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  const { configmapNamespace } = agentDefaults;
  if (namespace !== configmapNamespace)
    note(`agents read ConfigMaps only in ${configmapNamespace} unless started with --configmap-namespace; this one is in ${namespace}`);
  try {
    const { metadata, data } = await client.get(configMaps, { namespace, name }, { signal });
    if (typeof data !== 'object' || data === null || !Object.hasOwn(data, kubeletConfigKey))
      note(`ConfigMap ${namespace}/${name} has no key ${kubeletConfigKey} yet`);
    return { notes, found: { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' } };
  } catch (error) {
    if (signal.aborted) throw error;
    if (isNotFound(error)) note(`ConfigMap ${namespace}/${name} does not exist yet; the nodes keep what they have until it does`);
    else note(`ConfigMap ${namespace}/${name} could not be read: ${printable(describeError(error))}`);
    return { notes };
  }
}
