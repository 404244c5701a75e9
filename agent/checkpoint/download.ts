import type { Payload } from './payload.ts';
import { keyProblem, directoryNameProblem } from './verify-names.ts';
import type { KubeObject } from '../../kube/api/object.ts';

export type Downloaded = { ok: true; payload: Payload } | { ok: false; problem: string };

export const OUR_ANNOTATIONS = 'dkc.dev/';
/** A value here other than the one under which a content was condemned lifts the condemnation. */
export const RETRY_ANNOTATION = 'dkc.dev/retry';

/** Takes a ConfigMap apart. It came over the network: keys and names are judged before anybody joins them into a path. */
export function payloadOf(configMap: KubeObject): Downloaded {
  const { uid, resourceVersion, namespace, name, annotations } = configMap.metadata;
  if (!uid) return { ok: false, problem: 'ConfigMap must have a non-empty UID' };
  if (!resourceVersion) return { ok: false, problem: 'ConfigMap must have a non-empty ResourceVersion' };
  if (!namespace || !name) return { ok: false, problem: 'ConfigMap must have a namespace and a name' };
  const badName = directoryNameProblem('UID', uid) ?? directoryNameProblem('ResourceVersion', resourceVersion);
  if (badName !== undefined) return { ok: false, problem: badName };
  const data = configMap['data'] ?? {};
  if (typeof data !== 'object' || Array.isArray(data)) return { ok: false, problem: 'data of the ConfigMap is not a map' };
  const files = new Map<string, Uint8Array>();
  for (const [key, value] of Object.entries(data)) {
    const badKey = keyProblem(key);
    if (badKey !== undefined) return { ok: false, problem: badKey };
    if (typeof value !== 'string') return { ok: false, problem: `data[${JSON.stringify(key)}] of the ConfigMap is not a string` };
    files.set(key, new TextEncoder().encode(value));
  }
  const ours = Object.entries(annotations ?? {}).filter(([key, value]) => key.startsWith(OUR_ANNOTATIONS) && typeof value === 'string');
  return { ok: true, payload: { namespace, name, uid, resourceVersion, files, annotations: Object.fromEntries(ours) } };
}
