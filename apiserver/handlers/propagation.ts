import type { KubeObject } from '../../kube/api/object.ts';
import type { DeleteOptions, Propagation } from './write-options.ts';

/** The finalizer of an owner whose dependents are to be set free. */
export const ORPHAN = 'orphan';
/** The finalizer of an owner that goes after its dependents. */
export const FOREGROUND = 'foregroundDeletion';

/** The finalizer of a definition whose objects go before it. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

// As on 1.20: who once left its dependents behind still does, unless told otherwise.
const orphaning: ReadonlySet<string> = new Set(['/replicationcontrollers', 'batch/jobs']);
const uncollected: ReadonlySet<string> = new Set(['/events']);

/** The finalizers an object has once it is deleted: those it had, and the one that the garbage collector takes off when it is through. */
export function finalizersOnDelete(kind: string, { metadata }: KubeObject, { propagation }: DeleteOptions): readonly string[] {
  const before = metadata.finalizers ?? [];
  if (uncollected.has(kind)) return before;
  const way = propagation ?? (before.includes(ORPHAN) ? 'Orphan' : before.includes(FOREGROUND) ? 'Foreground' : defaultOf(kind));
  const isNew = metadata.deletionTimestamp === undefined && kind === 'apiextensions.k8s.io/customresourcedefinitions';
  const others = [...before.filter((one) => one !== ORPHAN && one !== FOREGROUND), ...(isNew ? [CLEANUP] : [])];
  if (way === 'Background') return others;
  return [...others, way === 'Orphan' ? ORPHAN : FOREGROUND];
}

function defaultOf(kind: string): Propagation {
  return orphaning.has(kind) ? 'Orphan' : 'Background';
}
