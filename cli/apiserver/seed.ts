import { ActionError } from '../../base/errors.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Manifest } from './manifests.ts';
import type { Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';

type Maker = Pick<Client, 'create' | 'raw'>;

/** Creates the objects of manifests: namespaces and definitions of kinds before what needs them. @returns how many @throws ActionError, ApiError on the first that cannot be */
export async function seed(client: Maker, manifests: readonly Manifest[]): Promise<number> {
  const discovered = new Map<string, Promise<readonly Resource[]>>();
  const inOrder = manifests.toSorted((a, b) => rank(a) - rank(b));
  for (const { file, object } of inOrder) {
    const { apiVersion = '', kind = '' } = object;
    const known = discovered.get(apiVersion) ?? discover(client, apiVersion);
    discovered.set(apiVersion, known);
    const resource = (await known).find((resource) => resource.kind === kind);
    if (!resource) throw new ActionError('create', `${kind} of ${file}`, { hint: `the API server has no ${kind} in ${apiVersion}` });
    const namespace = resource.namespaced ? { namespace: object.metadata.namespace ?? 'default' } : {};
    await client.create(resource, object, namespace);
  }
  return manifests.length;
}

const early: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);

function rank({ object }: Manifest): number {
  return early.has(object.kind ?? '') ? 0 : 1;
}

async function discover(client: Maker, apiVersion: string): Promise<readonly Resource[]> {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const list = await client.raw('GET', group === '' ? `/api/${version}` : `/apis/${apiVersion}`);
  const found = isJsonObject(list) && Array.isArray(list['resources']) ? list['resources'] : [];
  return found.flatMap((one: unknown) =>
    isJsonObject(one) && typeof one['name'] === 'string' && typeof one['kind'] === 'string' && !one['name'].includes('/')
      ? [{ group, version, resource: one['name'], kind: one['kind'], namespaced: one['namespaced'] === true }]
      : [],
  );
}
