import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { filterNames, type FilterName, type Rejection } from '../../../../scheduler/plugins/names.ts';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { affinityRejection } from './affinity.ts';
import { placeCalled, worldOf, type OracleCluster, type Place, type World } from './cluster.ts';
import { isChosenByPod, isKeptByCordon, isSelected, refusingTaint } from './node-rules.ts';
import { allocatable, asked, isExtended, isScalar, total } from './resources.ts';
import { spreadRejection } from './spread.ts';

type Refusal = { reasons: readonly string[]; resolvable: boolean } | undefined;
type Filter = (world: World, place: Place, pod: PodInfo, profile: ProfileConfig) => Refusal;

/**
 * Whether a pod may be on a node, looked at twice where other pods are promised a place there: with them, as they may come, and without them, as it must not
 * need them. NominatedPods to less important pods bind nobody.
 */
export function refusal(
  cluster: OracleCluster,
  node: string,
  pod: PodInfo,
  profile: ProfileConfig,
  { promised, without = new Set(), asIs = worldOf(cluster, { without }) }: Circumstances,
): Rejection | undefined {
  const respected = promised.filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
  const worlds = respected.length > 0 ? [worldOf(cluster, { without, plus: { node, pods: respected } }), asIs] : [asIs];
  for (const world of worlds) {
    const refused = firstRefusal(world, placeCalled(world, node), pod, profile);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

export interface Circumstances {
  /** Who is promised a place on the node. */
  readonly promised: readonly PodInfo[];
  /** Pods that are taken away, by uid. */
  readonly without?: ReadonlySet<string>;
  /** The cluster without them, where it is at hand. */
  readonly asIs?: World;
}

/** The first filter that refuses gives the reasons. */
function firstRefusal(world: World, place: Place, pod: PodInfo, profile: ProfileConfig): Rejection | undefined {
  for (const plugin of filterNames) {
    if (!profile.filters.has(plugin)) continue;
    const refused = filters[plugin](world, place, pod, profile);
    if (refused !== undefined) return { plugin, ...refused };
  }
  return undefined;
}

const one = (reason: string, resolvable: boolean): Refusal => ({ reasons: [reason], resolvable });
/** The clusters of the oracle have no volumes. */
const volumes: Filter = () => undefined;

const filters: Readonly<Record<FilterName, Filter>> = {
  NodeUnschedulable: (_, place, pod) => (isKeptByCordon(place, pod) ? one('node(s) were unschedulable', false) : undefined),
  NodeName: (_, { name }, { nodeName }) =>
    nodeName !== '' && nodeName !== name ? one("node(s) didn't match the requested node name", false) : undefined,
  TaintToleration: (_, place, pod) => {
    const taint = refusingTaint(place, pod);
    return taint && one(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`, false);
  },
  NodeAffinity: (_, place, pod, { nodeAffinity }) => {
    if (!isSelected(place, nodeAffinity.addedAffinity)) return one("node(s) didn't match scheduler-enforced node affinity", false);
    return isChosenByPod(place, pod) ? undefined : one("node(s) didn't match Pod's node affinity/selector", false);
  },
  NodePorts: (_, { pods }, { ports }) => {
    const used = pods.flatMap((other) => other.ports);
    const everywhere = '0.0.0.0';
    const taken = ports.some(({ port, protocol, ip }) =>
      used.some((by) => by.port === port && by.protocol === protocol && (by.ip === ip || by.ip === everywhere || ip === everywhere)),
    );
    return taken ? one("node(s) didn't have free ports for the requested pod ports", true) : undefined;
  },
  NodeResourcesFit: (_, place, pod, { fit }) => resourceRejection(place, pod, fit),
  VolumeRestrictions: volumes,
  NodeVolumeLimits: volumes,
  VolumeBinding: volumes,
  VolumeZone: volumes,
  PodTopologySpread: (world, place, pod) => {
    const refused = spreadRejection(world, place, pod);
    return refused && one(refused.reason, refused.resolvable);
  },
  InterPodAffinity: (world, place, pod) => {
    const refused = affinityRejection(world, place, pod);
    return refused && one(refused.reason, refused.resolvable);
  },
  // Pods of random clusters need no feature: of the two, the examples have one.
  NodeDeclaredFeatures: (_, { node }, { pod: { spec } }) => {
    const isNeeded = spec?.hostNetwork === true && spec.hostUsers === false;
    const { declaredFeatures = [] } = (node?.status ?? {}) as { declaredFeatures?: string[] };
    const isThere = declaredFeatures.includes('UserNamespacesHostNetworkSupport');
    return isNeeded && !isThere ? one("node(s) didn't match Pod's required features", false) : undefined;
  },
};

/** Everything there is too little of. No other pod is in the way of one that asks for more than the node has at all. */
function resourceRejection(place: Place, pod: PodInfo, fit: ProfileConfig['fit']): Refusal {
  const reasons: string[] = [];
  let resolvable = true;
  if (BigInt(place.pods.length) + 1n > allocatable(place, 'pods')) {
    reasons.push('Too many pods');
    if (allocatable(place, 'pods') < 1n) resolvable = false;
  }
  for (const resource of ['cpu', 'memory', 'ephemeral-storage', ...pod.requests.scalars.keys()]) {
    const wanted = asked(pod, resource);
    if (wanted === 0n || (isScalar(resource) && isIgnored(resource, fit))) continue;
    const has = allocatable(place, resource);
    if (wanted <= has - total(place.pods, (other) => asked(other, resource))) continue;
    reasons.push(`Insufficient ${resource}`);
    if (wanted > has) resolvable = false;
  }
  return reasons.length === 0 ? undefined : { reasons, resolvable };
}

function isIgnored(resource: string, { ignoredResources, ignoredResourceGroups }: ProfileConfig['fit']): boolean {
  const [group = ''] = resource.split('/');
  return isExtended(resource) && (ignoredResources.has(resource) || ignoredResourceGroups.has(group));
}
