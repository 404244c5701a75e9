import { createHash } from 'node:crypto';
import { type ContentRef, directoryNameProblem, type FileDigest, keyProblem, type MaybeSource, type Payload } from './source.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Store } from '../store/store.ts';

export type Downloaded =
  | { ok: true; payload: Payload }
  | { ok: false; problem: string }
  /** More than a checkpoint may hold: refused until the ConfigMap changes, and nothing of it is written to disk. */
  | { ok: false; beyond: Beyond };

/** A limit that is broken: a short name, and what people read. */
export interface Beyond {
  rule: 'too-many-keys' | 'too-large';
  message: string;
}

/** Data keys of a ConfigMap: each becomes a file, written, synced, and read at every boot. */
export const MAX_KEYS = 500;
/** Of all values together, in bytes. API servers allow no more either. */
const MAX_DATA = 1024 * 1024;
/** Of annotations in our domain, names and values, in bytes. API servers allow no more for all annotations. */
const MAX_ANNOTATIONS = 256 * 1024;

const OUR_ANNOTATIONS = 'dkc.dev/';
/** A value here other than the one under which a content was condemned lifts the condemnation. */
export const RETRY_ANNOTATION = 'dkc.dev/retry';

/** Takes a ConfigMap apart. It came over the network: keys and names are checked before anybody joins them into a path. */
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
 * What decides over a node: the same files under the same key are the same content, whatever ConfigMap or resourceVersion they
 * came in. `contentSha256` is SHA-256 (hex, lower case) over one line per data key, `HEX KEY\n`: HEX is the SHA-256 of the value
 * (64 digits, lower case), then one blank, the key and a newline. Lines are sorted by their bytes. kubeletConfigKey stands beside it.
 * An admin gets the same with `sha256sum KEY.. | sed 's/  / /' | LC_ALL=C sort | sha256sum`.
 */
export function contentRef(files: readonly Pick<FileDigest, 'key' | 'sha256'>[], kubeletConfigKey: string): ContentRef {
  const lines = files.map((file) => `${file.sha256} ${file.key}\n`).toSorted(compare);
  return { kubeletConfigKey, contentSha256: sha256(lines.join('')) };
}

/** Same files, and the same one of them is the kubelet's. */
export function sameContent(a: ContentRef, b: ContentRef): boolean {
  return a.kubeletConfigKey === b.kubeletConfigKey && a.contentSha256 === b.contentSha256;
}

/** Keys are ASCII, so code units sort as bytes do; localeCompare would not. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The content that a record names; undefined for local, and where its checkpoint is missing or damaged.
 * @param adopt - gives a checkpoint of upstream's the manifest it lacks
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
