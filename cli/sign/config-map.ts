import { specSourceProblems } from '../../agent/checkpoint/source.ts';
import { SIGNATURE_KEY } from '../../agent/config/signature/check.ts';
import { ALLOW_ANNOTATION } from '../../agent/evaluate/evaluate.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { UsageError } from '../failure.ts';
import type { PayloadFiles } from './payload.ts';

/** What the API server writes into metadata, and kubectl apply: none of it is part of a manifest. */
const NOT_OURS = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'selfLink']);
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export interface Wanted {
  /** `NS/NAME`; absent: that of the manifest. */
  name: string | undefined;
  /** Annotation dkc.dev/allow; absent: that of the manifest. */
  allow: string | undefined;
  signature: string;
}

/** The manifest of the signed ConfigMap, for kubectl apply. @throws UsageError where it has no name, or a file is no text */
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
