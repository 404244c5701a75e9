import { isJsonObject } from '../../../kube/api/json.ts';
import type { Resource } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isNotFound } from '../../../kube/client/errors.ts';

/** Kinds that are remembered. */
const MAX_KINDS = 256;

/** Where the API server serves the kinds that gates name. One for the process: what was found is not asked again, what was not found is. */
export class Kinds {
  readonly #found = new Map<string, Resource>();

  /** @param apiVersion - that `gateProblems` accepts @returns undefined: the API server does not serve the kind */
  async find(client: Pick<Client, 'raw'>, apiVersion: string, kind: string, signal: AbortSignal): Promise<Resource | undefined> {
    const key = `${apiVersion} ${kind}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const resource = resourceIn(await this.#ask(client, apiVersion, signal), apiVersion, kind);
    if (resource === undefined) return undefined;
    if (this.#found.size >= MAX_KINDS) this.#found.clear();
    this.#found.set(key, resource);
    return resource;
  }

  /** The next `find` asks again. */
  forget(apiVersion: string, kind: string): void {
    this.#found.delete(`${apiVersion} ${kind}`);
  }

  async #ask(client: Pick<Client, 'raw'>, apiVersion: string, signal: AbortSignal): Promise<unknown> {
    const path = apiVersion.split('/').map(encodeURIComponent).join('/');
    try {
      return await client.raw('GET', apiVersion.includes('/') ? `/apis/${path}` : `/api/${path}`, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** @param list - an APIResourceList, or what a server sent instead */
function resourceIn(list: unknown, apiVersion: string, kind: string): Resource | undefined {
  const resources = isJsonObject(list) && Array.isArray(list['resources']) ? list['resources'] : [];
  // `deployments/scale` and the like have a slash.
  const found = resources.find(
    (one) => isJsonObject(one) && one['kind'] === kind && typeof one['name'] === 'string' && !one['name'].includes('/'),
  );
  if (!isJsonObject(found)) return undefined;
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { group, version, resource: String(found['name']), kind, namespaced: found['namespaced'] === true };
}
