import { parseAllDocuments } from 'yaml';
import { ActionError, describeError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../kube/api/json.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../../kube/client/errors.ts';
import type { Disk } from '../../base/disk.ts';
import { listOf, type KubeObject, type Resource } from '../../kube/api/object.ts';
import { type Client, resourcesIn } from '../../kube/client/client.ts';

type Maker = Pick<Client, 'create' | 'raw'>;

/**
 * Creates the objects of manifests, namespaces and CustomResourceDefinitions first.
 * @returns the number of objects @throws ActionError naming file, object and remedy for the first one that cannot be created
 */
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
  // The server serves the kind, so only the namespace can be missing.
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
  return resourcesIn(list).flatMap((one) =>
    typeof one['name'] === 'string' && typeof one['kind'] === 'string' && !one['name'].includes('/')
      ? [{ group, version, resource: one['name'], kind: one['kind'], namespaced: one['namespaced'] === true }]
      : [],
  );
}

/** A manifest and the file that it comes from. */
export interface Manifest {
  file: string;
  object: KubeObject;
}

/** Every object in the YAML and JSON files of a directory, files by name; Lists are taken apart. @throws ActionError naming the file */
export async function readManifests(disk: Pick<Disk, 'list' | 'read'>, dir: string): Promise<Manifest[]> {
  const names = await disk.list(dir).catch((cause: unknown) => {
    throw new ActionError('read manifests from', dir, { hint: 'it must be a directory of YAML or JSON files', cause });
  });
  const found: Manifest[] = [];
  for (const name of names.filter((name) => /\.(ya?ml|json)$/.test(name))) {
    const file = `${dir}/${name}`;
    found.push(...parseManifests(Buffer.from(await disk.read(file)).toString('utf8'), file));
  }
  return found;
}

/** The objects in one file's text. @throws ActionError naming the file */
export function parseManifests(text: string, file: string): Manifest[] {
  const bad = (hint: string, cause?: unknown) =>
    new ActionError('read manifests from', file, cause === undefined ? { hint } : { hint, cause });
  return parseAllDocuments(text, { logLevel: 'silent' }).flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw bad(`it is not YAML: ${describeError(problem).split('\n')[0] ?? ''}`);
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (value === null) return [];
    const list = listOf(value);
    return (list?.items ?? [value]).map((object, at) => {
      if (isKubeObject(object)) return { file, object };
      const lacks = isJsonObject(object) ? REQUIRED.filter((field) => !has(object, field)) : REQUIRED;
      throw bad(`${list ? `items[${at}] of its ${list.kind}` : 'an object in it'} has no ${lacks.join(', no ')}; add that, or remove it`);
    });
  });
}

const REQUIRED = ['apiVersion', 'kind', 'metadata'] as const;

const has = (object: JsonObject, field: (typeof REQUIRED)[number]): boolean =>
  field === 'metadata' ? isJsonObject(object[field]) : typeof object[field] === 'string';

const isKubeObject = (value: unknown): value is KubeObject => isJsonObject(value) && REQUIRED.every((field) => has(value, field));
