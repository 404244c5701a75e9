import { type FilterName, filterNames, type Rejection } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { AssumingView, ClaimUser, StorageView, VolumeDecision, VolumeNeeds, NodeInfo, VolumeRules } from './contract.ts';
import { volumeKey } from './pod-volumes.ts';
import { needsOf } from './needs.ts';
import type { Node } from '../types.ts';
import { decideBinding, filterBinding, type Provisioned, serve } from './binding.ts';
import type { ProfileConfig, ShapePoint } from '../config/config.ts';
import type { VolumePreFilter } from '../engine/engine.ts';
import type { VolumeChecks } from '../engine/resource-class.ts';
import { filterLimits, filterRestrictions, filterZone } from './filters.ts';
import { onShape } from '../plugins/node-resources.ts';
import { capacityOf, classNameOf, requestedSize, sizeOf } from './claims.ts';

type Filter = (needs: VolumeNeeds, on: NodeInfo, view: StorageView) => Rejection | undefined;

/** In the order in which they run. */
const filters: readonly (readonly [plugin: FilterName, filter: Filter])[] = [
  ['VolumeRestrictions', filterRestrictions],
  ['NodeVolumeLimits', filterLimits],
  ['VolumeBinding', filterBinding],
  ['VolumeZone', filterZone],
];

export const volumeRules: VolumeRules = {
  key: volumeKey,
  needs: needsOf,
  filter(needs, on, view, disabled) {
    for (const [plugin, filter] of filters) {
      if (disabled?.has(plugin)) continue;
      const refused = filter(needs, on, view);
      if (refused !== undefined) return refused;
    }
    return undefined;
  },
  score: storageScore,
  decide: decideBinding,
};

/** Pods that count as users of a claim although they do not exist: capacity is held for them. */
interface HeldClaims {
  claimUsers(pod: PodInfo, claim: string): readonly ClaimUser[];
}

const nothing: VolumeDecision = { reserve: [], provision: [] };

/** The volume plugins, for one pod after the other: each sees claims with the reservations for other pods, without its own. */
export class VolumePlugins implements VolumePreFilter {
  readonly #view: AssumingView;
  readonly #held: HeldClaims;

  constructor(view: AssumingView, held: HeldClaims) {
    this.#view = view;
    this.#held = held;
  }

  get view(): AssumingView {
    return this.#view;
  }

  key(pod: PodInfo): string {
    return volumeRules.key(pod);
  }

  prepare(pod: PodInfo, profile: ProfileConfig): Rejection | VolumeChecks | undefined {
    const disabled = disabledIn(profile);
    const view = this.#viewFor(pod);
    const needs = volumeRules.needs(pod, view, disabled);
    if (needs === undefined || 'plugin' in needs) return needs;
    return {
      rejection: (node, pods) => volumeRules.filter(needs, { node, pods }, view, disabled),
      score: (node, max) => volumeRules.score(needs, node, view, profile.volumeBinding.shape, max),
    };
  }

  /** What has to be done for the pod's volumes before it is bound to this node, which passed the filters. */
  decide(pod: PodInfo, profile: ProfileConfig, node: Readonly<Node>, pods: readonly PodInfo[]): VolumeDecision {
    if (this.key(pod) === '') return nothing;
    const disabled = disabledIn(profile);
    if (disabled.has('VolumeBinding')) return nothing;
    const view = this.#viewFor(pod);
    const needs = volumeRules.needs(pod, view, disabled);
    return needs === undefined || 'plugin' in needs ? nothing : volumeRules.decide(needs, { node, pods }, view);
  }

  #viewFor(pod: PodInfo): StorageView {
    const view = this.#view;
    return {
      claim: (namespace, name) => view.claim(namespace, name),
      volume: (name) => view.volume(name),
      volumesOfClass: (name) => view.volumesOfClass(name),
      storageClass: (name) => view.storageClass(name),
      csiNode: (node) => view.csiNode(node),
      csiDriver: (name) => view.csiDriver(name),
      capacities: (name) => view.capacities(name),
      attachedTo: (node) => view.attachedTo(node),
      usersOf: (namespace, claim) => [
        ...view.usersOf(namespace, claim),
        ...(namespace === pod.namespace ? this.#held.claimUsers(pod, claim) : []),
      ],
    };
  }
}

function disabledIn({ filters }: ProfileConfig): ReadonlySet<string> {
  return new Set(filterNames.filter((name) => !filters.has(name)));
}

/** Requested and available storage of one class, in bytes. */
interface StorageUse {
  requested: bigint;
  capacity: bigint;
}

/**
 * Points for the storage utilization of a node, 0 to `max`: for each class the shape's value at requested / available storage, then the mean of the classes. If
 * an existing volume serves a claim, only existing volumes count. As kube-scheduler scores with StorageCapacityScoring (KEP-4049).
 */
function storageScore(needs: VolumeNeeds, node: Readonly<Node>, view: StorageView, shape: readonly ShapePoint[], max: number): number {
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

/** In percent, rounded down; 100 if the request does not fit. */
const utilization = (requested: bigint, capacity: bigint): number =>
  capacity === 0n || requested > capacity ? 100 : Number((requested * 100n) / capacity);
