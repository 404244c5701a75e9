import { parseAllDocuments } from 'yaml';
import { ActionError, describeError } from '../../base/errors.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Disk } from '../../base/disk.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** A manifest and where it was read. */
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
    const list = isJsonObject(value) && Array.isArray(value['items']) && String(value['kind']).endsWith('List') ? value['items'] : [value];
    return list.map((object) => {
      if (!isKubeObject(object)) throw bad('it holds an object without apiVersion, kind or metadata; remove it');
      return { file, object };
    });
  });
}

function isKubeObject(value: unknown): value is KubeObject {
  return (
    isJsonObject(value) && typeof value['apiVersion'] === 'string' && typeof value['kind'] === 'string' && isJsonObject(value['metadata'])
  );
}
