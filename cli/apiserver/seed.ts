import { ActionError } from '../../base/errors.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Manifest } from './manifests.ts';
import type { Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../../kube/client/errors.ts';

type Maker = Pick<Client, 'create' | 'raw'>;

/** Creates the objects of manifests: namespaces and definitions of kinds before what needs them. @returns how many @throws ActionError naming file, object and remedy for the first that cannot be */
export async function seed(client: Maker, manifests: readonly Manifest[]): Promise<number> {
  const discovered = new Map<string, Promise<readonly Resource[]>>();
  const inOrder = manifests.toSorted((a, b) => rank(a) - rank(b));
  for (const manifest of inOrder) await plant(client, manifest, discovered);
  return manifests.length;
}

async function plant(client: Maker, { file, object }: Manifest, discovered: Map<string, Promise<readonly Resource[]>>): Promise<void> {
  const { apiVersion = '', kind = '', metadata } = object;
  const failed = (hint: string, cause?: unknown) => {
    const name = metadata.name ?? metadata.generateName ?? 'without a name';
    const place = metadata.namespace === undefined ? name : `${metadata.namespace}/${name}`;
    return new ActionError('create', `${kind} ${place} of ${file}`, cause === undefined ? { hint } : { hint, cause });
  };
  const known = discovered.get(apiVersion) ?? discover(client, apiVersion);
  discovered.set(apiVersion, known);
  const resources = await known.catch((cause: unknown) => {
    throw failed('API discovery failed; try again', cause);
  });
  if (resources.length === 0)
    throw failed(`the API server does not serve ${apiVersion}; correct apiVersion, or add the CustomResourceDefinition to the manifests`);
  const resource = resources.find((resource) => resource.kind === kind);
  if (!resource) throw failed(`the API server has no ${kind} in ${apiVersion}; correct apiVersion and kind`);
  const namespace = metadata.namespace ?? 'default';
  try {
    await client.create(resource, object, resource.namespaced ? { namespace } : {});
  } catch (cause) {
    throw failed(refusal(cause, namespace), cause);
  }
}

function refusal(error: unknown, namespace: string): string {
  // Its kind is served, so that only the namespace can be missing.
  if (isNotFound(error)) return `namespace ${namespace} not found; add it to the manifests`;
  if (isAlreadyExists(error)) return 'it already exists; remove it, or the other manifest with that name';
  if (error instanceof ApiError && error.code < 500) return 'the API server rejected it; correct the manifest';
  return 'the API server failed; try again';
}

const early: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);

function rank({ object }: Manifest): number {
  return early.has(object.kind ?? '') ? 0 : 1;
}

async function discover(client: Maker, apiVersion: string): Promise<readonly Resource[]> {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const list = await client.raw('GET', group === '' ? `/api/${version}` : `/apis/${apiVersion}`).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const found = isJsonObject(list) && Array.isArray(list['resources']) ? list['resources'] : [];
  return found.flatMap((one: unknown) =>
    isJsonObject(one) && typeof one['name'] === 'string' && typeof one['kind'] === 'string' && !one['name'].includes('/')
      ? [{ group, version, resource: one['name'], kind: one['kind'], namespaced: one['namespaced'] === true }]
      : [],
  );
}
