import type { Payload } from './source.ts';
import { keyProblem, directoryNameProblem } from './verify-names.ts';
import type { KubeObject } from '../../kube/api/object.ts';

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

export const OUR_ANNOTATIONS = 'dkc.dev/';
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
