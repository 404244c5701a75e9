import type { KubeObject } from '../../kube/api/object.ts';
import { invalidValue, required } from '../field-error.ts';
import type { View } from '../kinds/kind.ts';
import { scaleOf } from '../kinds/scale.ts';
import { valuesAt } from './json-path.ts';
import { nodeOf, numberOf, textOf } from './node.ts';
import type { Node } from './node.ts';

/** The scale of a custom resource, at the paths its author gives; undefined where he gives none. */
export function customScale(subresources: unknown): View | undefined {
  const scale = nodeOf(nodeOf(subresources)?.['scale']);
  if (scale === undefined) return undefined;
  const wanted = textOf(scale['specReplicasPath']);
  const [there, selector] = [textOf(scale['statusReplicasPath']), textOf(scale['labelSelectorPath'])];
  const numberAt = (object: KubeObject, path: string): number | undefined => numberOf(valuesAt(object, path)[0]);
  return {
    ...scaleOf(() => ''),
    show(object) {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const replicas = numberAt(object, wanted);
      const text = selector === '' ? '' : textOf(valuesAt(object, selector)[0]);
      return {
        metadata: JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion, creationTimestamp })),
        spec: replicas === undefined || replicas === 0 ? {} : { replicas },
        status: { replicas: numberAt(object, there) ?? 0, ...(text === '' ? {} : { selector: text }) },
      };
    },
    validate(view) {
      const replicas = nodeOf(view['spec'])?.['replicas'] ?? 0;
      if (typeof replicas !== 'number') return [required('spec.replicas', '')];
      return replicas < 0 ? [invalidValue('spec.replicas', replicas, 'should be a non-negative integer')] : [];
    },
    change(object, view) {
      const { resourceVersion, uid } = view.metadata;
      const metadata = { ...object.metadata, ...(resourceVersion ? { resourceVersion } : {}), ...(uid ? { uid } : {}) };
      return { ...withNumber(object, wanted.split('.').slice(1), nodeOf(view['spec'])?.['replicas'] ?? 0), metadata };
    },
  };
}

function withNumber<T extends Node>(object: T, [field, ...rest]: readonly string[], value: unknown): T {
  if (field === undefined) return object;
  return { ...object, [field]: rest.length === 0 ? value : withNumber(nodeOf(object[field]) ?? {}, rest, value) };
}
