import { createHash } from 'node:crypto';
import { type ContentRef, directoryNameProblem, type FileDigest, keyProblem, type MaybeSource, type Payload } from './source.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Store } from '../store/store.ts';

export type Downloaded =
  | { ok: true; payload: Payload }
  | { ok: false; problem: string }
  /** The ConfigMap exceeds the limits of a checkpoint: rejected until it changes, and nothing is written to disk. */
  | { ok: false; beyond: Beyond };

/** The limit that is exceeded: a short name, and a text for people. */
export interface Beyond {
  rule: 'too-many-keys' | 'too-large';
  message: string;
}

/** Most data keys of a ConfigMap: each becomes a file that is written, synced, and read at every boot. */
export const MAX_KEYS = 500;
/** Most bytes of all values together. The limit of API servers is the same. */
const MAX_DATA = 1024 * 1024;
/** Most bytes of the `dkc.dev/` annotations, names and values. API servers have the same limit for all annotations. */
const MAX_ANNOTATIONS = 256 * 1024;

const OUR_ANNOTATIONS = 'dkc.dev/';
/** A value that differs from the one at the time of the condemnation clears the condemnation. */
export const RETRY_ANNOTATION = 'dkc.dev/retry';

/** The payload of a ConfigMap. Keys and names come from the network, so they are checked here, before they become part of a path. */
export function payloadOf(configMap: KubeObject): Downloaded {
  const { uid, resourceVersion, namespace, name, annotations } = configMap.metadata;
  if (!uid) return { ok: false, problem: 'ConfigMap must have a non-empty UID' };
  if (!resourceVersion) return { ok: false, problem: 'ConfigMap must have a non-empty ResourceVersion' };
  if (!namespace || !name) return { ok: false, problem: 'ConfigMap must have a namespace and a name' };
  const badName = directoryNameProblem('UID', uid) ?? directoryNameProblem('ResourceVersion', resourceVersion);
  if (badName !== undefined) return { ok: false, problem: badName };
  const data = configMap['data'] ?? {};
  if (typeof data !== 'object' || Array.isArray(data)) return { ok: false, problem: 'data of the ConfigMap is not a map' };
  const entries = Object.entries(data);
  if (entries.length > MAX_KEYS)
    return beyond('too-many-keys', `the ConfigMap has ${entries.length} keys, and a checkpoint holds at most ${MAX_KEYS}`);
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  for (const [key, value] of entries) {
    const badKey = keyProblem(key);
    if (badKey !== undefined) return { ok: false, problem: badKey };
    if (typeof value !== 'string') return { ok: false, problem: `data[${JSON.stringify(key)}] of the ConfigMap is not a string` };
    const encoded = new TextEncoder().encode(value);
    bytes += encoded.length;
    if (bytes > MAX_DATA) return beyond('too-large', `the ConfigMap holds more than ${MAX_DATA} bytes, the limit of API servers`);
    files.set(key, encoded);
  }
  const ours = Object.entries(annotations ?? {}).filter(([key, value]) => key.startsWith(OUR_ANNOTATIONS) && typeof value === 'string');
  if (Buffer.byteLength(ours.flat().join('')) > MAX_ANNOTATIONS)
    return beyond('too-large', `the annotations ${OUR_ANNOTATIONS}* hold more than ${MAX_ANNOTATIONS} bytes, the limit of API servers`);
  return { ok: true, payload: { namespace, name, uid, resourceVersion, files, annotations: Object.fromEntries(ours) } };
}

const beyond = (rule: Beyond['rule'], message: string): Downloaded => ({ ok: false, beyond: { rule, message } });

/** Hex, lower case. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Digests of all files, sorted by key. */
export function digestFiles(files: ReadonlyMap<string, Uint8Array>): FileDigest[] {
  const digests = Array.from(files, ([key, bytes]) => ({ key, bytes: bytes.length, sha256: sha256(bytes) }));
  return digests.toSorted((a, b) => compare(a.key, b.key));
}

/**
 * Identifies content: the same files with the same kubeletConfigKey are the same content, in any ConfigMap and resourceVersion.
 * `contentSha256` is SHA-256 (hex, lower case) over one line per data key, `HEX KEY\n`: HEX is the SHA-256 of the value (64 digits, lower case), then
 * one space, the key and a newline. Lines are sorted by their bytes. kubeletConfigKey is not hashed but compared separately.
 * An admin gets the same hash with `sha256sum KEY.. | sed 's/  / /' | LC_ALL=C sort | sha256sum`.
 */
export function contentRef(files: readonly Pick<FileDigest, 'key' | 'sha256'>[], kubeletConfigKey: string): ContentRef {
  const lines = files.map((file) => `${file.sha256} ${file.key}\n`).toSorted(compare);
  return { kubeletConfigKey, contentSha256: sha256(lines.join('')) };
}

/** Whether the files and the kubeletConfigKey are the same. */
export function sameContent(a: ContentRef, b: ContentRef): boolean {
  return a.kubeletConfigKey === b.kubeletConfigKey && a.contentSha256 === b.contentSha256;
}

/** Keys are ASCII, so code units sort as bytes do; localeCompare would not. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The content of a source; undefined for local, and where its checkpoint is missing or damaged.
 * @param adopt - writes a manifest for a checkpoint of upstream that has none @default false
 */
export async function storedContent(
  store: Pick<Store, 'load'>,
  source: MaybeSource,
  { adopt = false }: { adopt?: boolean } = {},
): Promise<ContentRef | undefined> {
  if (source === null) return undefined;
  const state = await (adopt ? store.load(source, source) : store.load(source));
  return state.at === 'intact' ? contentRef(state.checkpoint.manifest.files, source.kubeletConfigKey) : undefined;
}
