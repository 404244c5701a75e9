import { isJsonObject } from '../../kube/api/json.ts';
import { typed } from './types/typed.ts';
import type { View } from './kind.ts';
import { fieldAt } from './metadata-rules.ts';
import { notNegative } from './number-rules.ts';
import { selectorText } from './selector-rules.ts';

/** `autoscaling/v1` Scale: how many pods a set should have, and which. */
export const scale: View = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  schema: typed('Scale', 'How many there should be.'),
  show(object) {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    const replicas = Number(fieldAt(object, 'spec', 'replicas') ?? 0);
    const text = selectorText(fieldAt(object, 'spec', 'selector'));
    return {
      metadata: JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion, creationTimestamp })),
      spec: replicas === 0 ? {} : { replicas },
      status: { replicas: Number(fieldAt(object, 'status', 'replicas') ?? 0), ...(text === '' ? {} : { selector: text }) },
    };
  },
  validate: (scale) => notNegative(scale['spec'], 'spec', 'replicas'),
  change(object, scale) {
    const spec = isJsonObject(object['spec']) ? object['spec'] : {};
    const { resourceVersion, uid } = scale.metadata;
    return {
      ...object,
      metadata: { ...object.metadata, ...(resourceVersion ? { resourceVersion } : {}), ...(uid ? { uid } : {}) },
      spec: { ...spec, replicas: fieldAt(scale, 'spec', 'replicas') ?? 0 },
    };
  },
};
