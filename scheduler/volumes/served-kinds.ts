import { isJsonObject } from '../../kube/api/json.ts';
import type { Resource } from '../../kube/api/object.ts';
import { csiDrivers, csiNodes, csiStorageCapacities } from '../../kube/api/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';

/** Kinds that not every server has, as this one serves them; undefined: it does not. */
export interface ServedKinds {
  csiNodes: Resource | undefined;
  csiDrivers: Resource | undefined;
  /** Since 1.21 as v1beta1, since 1.24 as v1. */
  csiStorageCapacities: Resource | undefined;
}

const versions = ['v1', 'v1beta1'];

/** Asks the server, so that nobody waits for a list that never comes. @throws what the client throws; only a missing group is no error */
export async function servedStorageKinds(client: Pick<Client, 'raw'>, signal?: AbortSignal): Promise<ServedKinds> {
  const served = await Promise.all(versions.map((version) => resourcesOf(client, version, signal)));
  const as = (kind: Resource): Resource | undefined => {
    const at = served.findIndex((names) => names.has(kind.resource));
    const version = versions[at];
    return version === undefined ? undefined : { ...kind, version };
  };
  return { csiNodes: as(csiNodes), csiDrivers: as(csiDrivers), csiStorageCapacities: as(csiStorageCapacities) };
}

async function resourcesOf(client: Pick<Client, 'raw'>, version: string, signal: AbortSignal | undefined): Promise<ReadonlySet<string>> {
  const path = `/apis/${csiNodes.group}/${version}`;
  const list = await client.raw('GET', path, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const found: unknown[] = isJsonObject(list) && Array.isArray(list['resources']) ? list['resources'] : [];
  return new Set(found.flatMap((one) => (isJsonObject(one) && typeof one['name'] === 'string' ? [one['name']] : [])));
}
