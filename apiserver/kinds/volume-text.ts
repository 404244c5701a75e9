import type { KubeObject } from '../../kube/api/object.ts';
import { textAt } from './metadata-rules.ts';

const short: readonly (readonly [mode: string, text: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** `RWO,ROX`: access modes as tables show them. */
export function accessModesText(modes: readonly unknown[]): string {
  return short
    .filter(([mode]) => modes.includes(mode))
    .map(([, text]) => text)
    .join(',');
}

/** The class of a volume or claim; an old annotation wins. */
export function storageClassOf(object: KubeObject): string {
  return object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? textAt(object, 'spec', 'storageClassName');
}
