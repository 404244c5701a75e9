import { isJsonObject } from '../../kube/api/json.ts';
import type { Resource } from '../../kube/api/object.ts';
import { podDisruptionBudgets, podDisruptionBudgetsBeta } from '../../kube/api/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';

/**
 * As what this server has disruption budgets: `policy/v1`, or `policy/v1beta1` before 1.21.
 * @returns undefined where it has none at all: nothing is protected there
 * @throws ApiError, TransportError: it could not be found out
 */
export async function servedBudgets(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<Resource | undefined> {
  for (const resource of [podDisruptionBudgets, podDisruptionBudgetsBeta]) if (await isServed(client, resource, signal)) return resource;
  return undefined;
}

async function isServed(client: Pick<Client, 'raw'>, { group, version, resource }: Resource, signal: AbortSignal): Promise<boolean> {
  let found: unknown;
  try {
    found = await client.raw('GET', `/apis/${group}/${version}`, { signal });
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
  const resources = isJsonObject(found) && Array.isArray(found['resources']) ? found['resources'] : [];
  return resources.some((one: unknown) => isJsonObject(one) && one['name'] === resource);
}
