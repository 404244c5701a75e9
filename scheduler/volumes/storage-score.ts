import type { ShapePoint } from '../config/config.ts';
import { onShape } from '../plugins/node-resources-fit.ts';
import type { Node } from '../types.ts';
import { serve, type Provisioned } from './binding.ts';
import { capacityOf, classNameOf, requestedSize, sizeOf } from './claims.ts';
import type { StorageView, VolumeDecision, VolumeNeeds } from './contract.ts';

/** Of one class of storage, in bytes. */
interface StorageUse {
  requested: bigint;
  capacity: bigint;
}

/**
 * Points for how full the storage of a node would be, 0 to `max`: of each class what its claims request against what there is, on the shape, and the mean of the
 * classes. Where volumes that are there serve a claim, they alone count. As kube-scheduler scores with StorageCapacityScoring (KEP-4049).
 */
export function storageScore(
  needs: VolumeNeeds,
  node: Readonly<Node>,
  view: StorageView,
  shape: readonly ShapePoint[],
  max: number,
): number {
  const served = serve(needs.delayed, node, view);
  if (served.refused !== undefined) return 0;
  const { reserve } = served.decision;
  const classes = [...(reserve.length > 0 ? useOfVolumes(reserve) : useOfCapacities(served.provisioned)).values()];
  if (classes.length === 0) return 0;
  const points = classes.map(({ requested, capacity }) => onShape(shape, utilization(requested, capacity), max));
  return Math.round(points.reduce((sum, one) => sum + one, 0) / classes.length);
}

function useOfVolumes(reserve: VolumeDecision['reserve']): ReadonlyMap<string, StorageUse> {
  const classes = new Map<string, StorageUse>();
  for (const { volume, claim } of reserve) {
    const use = getOrAdd(classes, volume.spec?.storageClassName ?? '');
    use.requested += bytes(requestedSize(claim));
    use.capacity += bytes(capacityOf(volume));
  }
  return classes;
}

function useOfCapacities(provisioned: readonly Provisioned[]): ReadonlyMap<string, StorageUse> {
  const classes = new Map<string, StorageUse>();
  for (const { claim, capacity } of provisioned) {
    if (capacity === undefined) continue;
    const use = getOrAdd(classes, classNameOf(claim));
    use.requested += bytes(requestedSize(claim));
    // Claims of one class share the storage that is left.
    use.capacity = bytes(sizeOf(capacity.capacity));
  }
  return classes;
}

function getOrAdd(classes: Map<string, StorageUse>, name: string): StorageUse {
  const use = classes.get(name) ?? { requested: 0n, capacity: 0n };
  classes.set(name, use);
  return use;
}

/** Rounded up, as a quantity's value is. */
const bytes = (nanos: bigint | undefined): bigint => ((nanos ?? 0n) + 999_999_999n) / 1_000_000_000n;

/** In percent, cut off; what does not fit is full. */
const utilization = (requested: bigint, capacity: bigint): number =>
  capacity === 0n || requested > capacity ? 100 : Number((requested * 100n) / capacity);
