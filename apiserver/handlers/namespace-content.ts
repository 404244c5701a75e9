import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { storageName } from '../kinds/kind.ts';
import { storageKey } from '../storage/storage.ts';
import type { Context } from './context.ts';
import { timestamp } from './context.ts';

/** A namespace that is going loses its content, and goes when nothing is left in it and nobody holds it. */
export function sweepNamespace(context: Context, name: string | undefined): void {
  const namespace = name === undefined ? undefined : context.storage.get('/namespaces', name);
  if (name === undefined || namespace?.metadata.deletionTimestamp === undefined) return;
  let left = 0;
  for (const kind of context.registry.kinds) {
    if (!kind.namespaced) continue;
    for (const object of context.storage.list(storageName(kind), name).objects) {
      const key = storageKey(name, object.metadata.name ?? '');
      if (!object.metadata.finalizers?.length) context.storage.remove(storageName(kind), key);
      else {
        left += 1;
        if (object.metadata.deletionTimestamp === undefined) context.storage.put(storageName(kind), key, marked(object, context));
      }
    }
  }
  if (left > 0 || namespace.metadata.finalizers?.length) return;
  context.storage.put('/namespaces', name, {
    ...namespace,
    spec: { ...(isJsonObject(namespace['spec']) ? namespace['spec'] : {}), finalizers: [] },
  });
  context.storage.remove('/namespaces', name);
}

function marked(object: KubeObject, context: Context): KubeObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: timestamp(context.clock.now()), deletionGracePeriodSeconds: 0 } };
}
