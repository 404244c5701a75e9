import { keyProblem, specSourceProblems } from '../../agent/checkpoint/source.ts';
import { SIGNATURE_KEY } from '../../agent/config/signature/check.ts';
import { ALLOW_ANNOTATION } from '../../agent/evaluate/evaluate.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { listOf } from '../../kube/api/object.ts';
import { UsageError } from '../failure.ts';
import { basename, join } from 'node:path';
import { MAX_KEYS } from '../../agent/checkpoint/payload.ts';
import { ActionError } from '../../base/errors.ts';
import { readConfigFile } from '../config/config-file.ts';
import type { Context } from '../command.ts';

/** The files that are signed or verified. */
export interface PayloadFiles {
  files: Map<string, Uint8Array>;
  /** The manifest, if the input is a manifest of a ConfigMap. */
  manifest?: Readonly<Record<string, unknown>>;
  /** The manifest's annotation dkc.dev/allow. */
  allow?: string;
}

/**
 * Reads the files of the command line like kubectl create configmap --from-file: `FILE` becomes the data key of that name, `KEY=FILE` becomes KEY,
 * a directory becomes all its regular files. A single manifest of a ConfigMap (also on `-`) becomes its data keys and annotation.
 * @throws {UsageError} for names that cannot be data keys, ActionError for files that cannot be read
 */
export async function readPayload(context: Context, words: readonly string[]): Promise<PayloadFiles> {
  const files = new Map<string, Uint8Array>();
  const add = (key: string, bytes: Uint8Array): void => {
    const problem = keyProblem(key);
    if (problem !== undefined) throw new UsageError(`sign: ${problem}; name it as KEY=FILE`);
    if (files.has(key)) throw new UsageError(`sign: there are two files for the data key ${key}`);
    if (files.size === MAX_KEYS) throw new UsageError(`sign: a ConfigMap for nodes has at most ${MAX_KEYS} data keys`);
    files.set(key, bytes);
  };
  for (const word of words) {
    const [, key, name = word] = /^([-._a-zA-Z0-9]+)=(.+)$/s.exec(word) ?? [];
    const dir = name === '-' ? undefined : await regularFiles(context, name);
    if (dir !== undefined) {
      if (key !== undefined) throw new UsageError(`sign: ${word}: a directory is not a single data key`);
      for (const file of dir) add(file, await readConfigFile(context, join(name, file)));
      continue;
    }
    const bytes = await readConfigFile(context, name);
    const manifest = key === undefined ? await asConfigMap(bytes, name) : undefined;
    if (manifest === undefined && name === '-' && key === undefined)
      throw new UsageError('sign: standard input is not a manifest of a ConfigMap; name its data key: KEY=-');
    if (manifest === undefined) add(key ?? basename(name), bytes);
    else if (words.length > 1) throw new UsageError(`sign: ${word} is a manifest of a ConfigMap, which is signed alone`);
    else return fromManifest(manifest, name);
  }
  return { files };
}

/** Names of the regular files in a directory; undefined if `name` is not a directory. Links are followed: a mounted ConfigMap consists of links. */
async function regularFiles(context: Context, name: string): Promise<string[] | undefined> {
  const { disk } = context;
  const real = await disk.realPath(context.path(name)).catch(() => undefined);
  if (real === undefined || (await disk.stat(real))?.kind !== 'dir') return undefined;
  const names: string[] = [];
  for (const entry of await disk.list(real)) {
    const at = await disk.realPath(join(real, entry)).catch(() => undefined);
    if (!entry.startsWith('.') && at !== undefined && (await disk.stat(at))?.kind === 'file') names.push(entry);
  }
  return names;
}

/** Every manifest of a ConfigMap matches; texts that match below their top level are sorted out after parsing. */
const LOOKS_LIKE_CONFIGMAP = /(?:^|[\s,{])["']?kind["']?:[ \t]*["']?ConfigMap\b/m;

/** @throws {UsageError} if the text has other objects too: one signature covers one ConfigMap */
async function asConfigMap(bytes: Uint8Array, word: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = new TextDecoder().decode(bytes);
  if (!LOOKS_LIKE_CONFIGMAP.test(text)) return undefined;
  const objects = await objectsOf(text);
  const configMap = objects.find((one) => one['kind'] === 'ConfigMap' && one['apiVersion'] === 'v1');
  if (configMap !== undefined && objects.length > 1)
    throw new UsageError(
      `sign: ${word === '-' ? 'standard input' : word} has ${objects.length} objects, and one ConfigMap is signed at a time: put each into a file of its own, or name its data key: KEY=FILE`,
    );
  return configMap;
}

/** The objects of all documents and Lists; empty if the text is not YAML. */
async function objectsOf(text: string): Promise<Readonly<Record<string, unknown>>[]> {
  const { parseAllDocuments } = await import('yaml');
  try {
    const values = parseAllDocuments(text, { version: '1.1', logLevel: 'silent' }).map((document): unknown => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      return document.toJS({ maxAliasCount: 100 });
    });
    return values.flatMap((one) => listOf(one)?.items ?? [one]).filter(isJsonObject);
  } catch {
    return [];
  }
}

function fromManifest(manifest: Readonly<Record<string, unknown>>, name: string): PayloadFiles {
  const bad = (hint: string): ActionError => new ActionError('sign', name === '-' ? 'the ConfigMap on standard input' : name, { hint });
  const { data = {}, metadata = {} } = manifest;
  if (!isJsonObject(data) || !isJsonObject(metadata)) throw bad('data and metadata must be maps');
  const files = new Map<string, Uint8Array>();
  for (const [key, value] of Object.entries(data)) {
    if (typeof value !== 'string') throw bad(`data.${key} is not a string: quote it, or write it as a block with |`);
    const problem = keyProblem(key);
    if (problem !== undefined) throw bad(problem);
    files.set(key, new TextEncoder().encode(value));
  }
  const { annotations } = metadata;
  const allow = isJsonObject(annotations) ? annotations[ALLOW_ANNOTATION] : undefined;
  return { files, manifest, ...(typeof allow === 'string' ? { allow } : {}) };
}

/** Metadata that the API server or kubectl apply writes, and that is not part of a manifest. */
const NOT_OURS = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'selfLink']);
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

interface Wanted {
  /** `NS/NAME`; absent: the name in the manifest. */
  name: string | undefined;
  /** Annotation dkc.dev/allow; absent: the annotation in the manifest. */
  allow: string | undefined;
  signature: string;
}

/** The manifest of the signed ConfigMap, for kubectl apply. @throws UsageError if it has no name, or a file is not text */
export function configMapOf({ files, manifest = {} }: PayloadFiles, { name, allow, signature }: Wanted): Record<string, unknown> {
  const given = isJsonObject(manifest['metadata']) ? manifest['metadata'] : {};
  const kept = Object.fromEntries(Object.entries(given).filter(([key]) => key !== 'annotations' && !NOT_OURS.has(key)));
  const annotations = Object.entries(isJsonObject(given['annotations']) ? given['annotations'] : {}).filter(
    ([key]) => key !== LAST_APPLIED,
  );
  const all = { ...Object.fromEntries(annotations), ...(allow === undefined ? {} : { [ALLOW_ANNOTATION]: allow }) };
  const metadata = {
    ...kept,
    ...(name === undefined ? {} : nameOf(name)),
    ...(Object.keys(all).length === 0 ? {} : { annotations: all }),
  };
  if (!('name' in metadata)) throw new UsageError('sign: --configmap NS/NAME is missing; -o configmap needs the name');
  const data = Object.fromEntries([...files].map(([key, bytes]) => [key, textOf(key, bytes)]));
  return { ...manifest, apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ...data, [SIGNATURE_KEY]: signature } };
}

function nameOf(text: string): { namespace: string; name: string } {
  const [namespace = '', name = '', ...more] = text.split('/');
  const problems = specSourceProblems({ namespace, name, kubeletConfigKey: 'kubelet' });
  if (more.length > 0 || problems.length > 0)
    throw new UsageError(`sign: --configmap must be NAMESPACE/NAME: ${problems.join('; ') || text}`);
  return { namespace, name };
}

function textOf(key: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`sign: ${key} is not UTF-8 text: agents read data, not binaryData, of a ConfigMap`);
  }
}
