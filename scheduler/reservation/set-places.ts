import { identityOf, ordinalRangesIn, type OrdinalRange } from '../../kube/api/ordinals.ts';
import type { StatefulSet } from '../types.ts';

/** Annotation of a StatefulSet: ordinals that it leaves out, as its controller reads it (`controllers/statefulset/opt-ins.ts`). */
const RESERVED_ORDINALS = 'dkc.dev/reserve-ordinals';

/** Where in a set a pod's name stands. `index` counts the places below it. */
export type PlaceInSet = { wanted: true; index: number } | { wanted: false; why: string };

/** Whether the set is to have a pod of this name. */
export function placeInSet(set: Readonly<StatefulSet>, podName: string): PlaceInSet {
  const { name = '' } = set.metadata;
  const { parent, ordinal = 0 } = identityOf(podName) ?? {};
  if (parent !== name) return { wanted: false, why: `${podName} is no name of a pod of StatefulSet ${name}` };
  const start = set.spec?.ordinals?.start ?? 0;
  const replicas = set.spec?.replicas ?? 1;
  if (ordinal < start) return { wanted: false, why: `StatefulSet ${name} begins at ordinal ${start}` };
  // What cannot be read leaves nothing out, as for who makes the pods.
  const reserved = ordinalRangesIn((set.metadata.annotations?.[RESERVED_ORDINALS] ?? '').trim()) ?? [];
  if (reserved.some(({ from, to }) => from <= ordinal && ordinal <= to))
    return { wanted: false, why: `StatefulSet ${name} leaves out ordinal ${ordinal}` };
  const index = ordinal - start - leftOut(reserved, start, ordinal);
  if (index >= replicas) return { wanted: false, why: `StatefulSet ${name} has ${replicas} replicas, and no place for ordinal ${ordinal}` };
  return { wanted: true, index };
}

/** How many ordinals of these there are from `start` up to, and without, `end`. */
function leftOut(ranges: readonly Readonly<OrdinalRange>[], start: number, end: number): number {
  let count = 0;
  for (const { from, to } of ranges) count += Math.max(0, Math.min(to, end - 1) - Math.max(from, start) + 1);
  return count;
}
