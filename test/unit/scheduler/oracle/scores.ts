import { toleratesTaint } from '../../../../kube/api/placement.ts';
import type { ProfileConfig, ShapePoint } from '../../../../scheduler/config/config.ts';
import type { ScoreName } from '../../../../scheduler/plugins/names.ts';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { interPodScores } from './affinity.ts';
import type { Place, World } from './cluster.ts';
import { isSelected } from './node-rules.ts';
import { allocatable, asked, guessed, isScalar, total } from './resources.ts';
import { spreadScores } from './spread.ts';

/** Points of each place, 0 to 100. */
export type Scorer = (world: World, feasible: readonly Place[], pod: PodInfo, profile: ProfileConfig) => Map<string, number>;

export const scorers: Readonly<Record<ScoreName, Scorer>> = {
  NodeResourcesFit: (_, feasible, pod, { fit }) => each(feasible, (place) => fitScore(place, pod, fit)),
  NodeResourcesBalancedAllocation: (_, feasible, pod, { balanced }) => each(feasible, (place) => balancedScore(place, pod, balanced)),
  ImageLocality: ({ places }, feasible, pod) => each(feasible, (place) => imageScore(places, place, pod)),
  /** The clusters of the oracle have no volumes. */
  VolumeBinding: (_, feasible) => each(feasible, () => 0),
  TaintToleration: (_, feasible, pod) => {
    const shares = shareOfMost(each(feasible, (place) => unlovedTaints(place, pod)));
    return new Map([...shares].map(([name, share]) => [name, 100 - share]));
  },
  NodeAffinity: (_, feasible, pod) => shareOfMost(each(feasible, (place) => preference(place, pod))),
  PodTopologySpread: spreadScores,
  InterPodAffinity: interPodScores,
};

function each(places: readonly Place[], score: (place: Place) => number): Map<string, number> {
  return new Map(places.map((place) => [place.name, score(place)]));
}

/** Percent of the highest; all 0 when the highest is 0. */
function shareOfMost(raw: ReadonlyMap<string, number>): Map<string, number> {
  const most = Math.max(...raw.values());
  return new Map([...raw].map(([name, value]) => [name, most === 0 ? 0 : Math.floor((100 * value) / most)]));
}

function fitScore(place: Place, pod: PodInfo, { strategy }: ProfileConfig['fit']): number {
  let points = 0n;
  let weights = 0n;
  for (const { name, weight } of strategy.resources) {
    const cap = allocatable(place, name);
    if (cap === 0n || (isScalar(name) && asked(pod, name) === 0n)) continue;
    const used = total([...place.pods, pod], (one) => guessed(one, name));
    const score = pointsFor(used, cap, strategy);
    // Of a shape, resources without points do not count at all.
    if (strategy.type === 'RequestedToCapacityRatio' && score === 0n) continue;
    points += score * BigInt(weight);
    weights += BigInt(weight);
  }
  if (weights === 0n) return 0;
  return strategy.type === 'RequestedToCapacityRatio' ? Math.round(Number(points) / Number(weights)) : Number(points / weights);
}

function pointsFor(used: bigint, cap: bigint, { type, shape }: ProfileConfig['fit']['strategy']): bigint {
  switch (type) {
    case 'LeastAllocated':
      return used > cap ? 0n : ((cap - used) * 100n) / cap;
    case 'MostAllocated':
      return used > cap ? 100n : (used * 100n) / cap;
    case 'RequestedToCapacityRatio':
      return alongShape(shape, used > cap ? 100n : (used * 100n) / cap);
  }
}

/** Straight lines from point to point, level before the first and behind the last. Fractions are cut off. */
function alongShape(shape: readonly ShapePoint[], utilization: bigint): bigint {
  const points = shape.map(({ utilization, score }) => ({ at: BigInt(utilization), score: BigInt(score) }));
  const next = points.findIndex(({ at }) => utilization <= at);
  const after = points[next];
  if (after === undefined) return points.at(-1)?.score ?? 0n;
  const before = points[next - 1];
  if (before === undefined) return after.score;
  return before.score + ((after.score - before.score) * (utilization - before.at)) / (after.at - before.at);
}

/** How alike the shares are that would be taken of each resource. A pod that asks for none of them changes nothing, so it does not care. */
function balancedScore(place: Place, pod: PodInfo, { resources, points }: ProfileConfig['balanced']): number {
  if (resources.every(({ name }) => asked(pod, name) === 0n)) return 0;
  const balance = (pods: readonly PodInfo[]): number => {
    const shares: number[] = [];
    for (const { name } of resources) {
      const cap = allocatable(place, name);
      if (cap === 0n || (isScalar(name) && asked(pod, name) === 0n)) continue;
      const used = total(pods, (one) => asked(one, name));
      shares.push(Math.min(1, Number(used) / Number(cap)));
    }
    return Math.floor((1 - deviation(shares)) * 100);
  };
  const after = balance([...place.pods, pod]);
  return points === 'balance' ? after : 50 + Math.floor((50 + after - balance(place.pods)) / 2);
}

function deviation(shares: readonly number[]): number {
  const [first = 0, second = 0] = shares;
  if (shares.length < 2) return 0;
  if (shares.length === 2) return Math.abs(first - second) / 2;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) * (share - mean), 0) / shares.length);
}

const MIB = 1024 * 1024;
const MIN_IMAGE_BYTES = 23 * MIB;
const MAX_BYTES_PER_CONTAINER = 1000 * MIB;

/** How much of what must be loaded is there already. An image that few nodes have counts for less, lest everything goes to those few. */
function imageScore(places: readonly Place[], place: Place, { pod }: PodInfo): number {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  let sum = 0;
  for (const { image = '' } of containers) {
    const name = withTag(image);
    const size = sizeThere(place, name);
    if (size === undefined) continue;
    const spread = places.filter((other) => sizeThere(other, name) !== undefined).length / places.length;
    sum += Math.trunc(size * spread);
  }
  const most = MAX_BYTES_PER_CONTAINER * containers.length;
  const within = Math.min(Math.max(sum, MIN_IMAGE_BYTES), most);
  return Number((100n * BigInt(within - MIN_IMAGE_BYTES)) / BigInt(most - MIN_IMAGE_BYTES));
}

function sizeThere({ node }: Place, name: string): number | undefined {
  const image = node.status?.images?.find(({ names }) => names?.includes(name));
  return image && (image.sizeBytes ?? 0);
}

/** A colon before the last slash is that of a port. */
function withTag(image: string): string {
  return image.lastIndexOf(':') > image.lastIndexOf('/') ? image : `${image}:latest`;
}

function unlovedTaints({ node }: Place, { pod }: PodInfo): number {
  const tolerations = (pod.spec?.tolerations ?? []).filter(({ effect }) => !effect || effect === 'PreferNoSchedule');
  const unloved = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'PreferNoSchedule');
  return unloved.filter((taint) => !tolerations.some((toleration) => toleratesTaint(toleration, taint))).length;
}

function preference(place: Place, { pod }: PodInfo): number {
  const terms = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms
    .filter(({ preference }) => isSelected(place, { nodeSelectorTerms: [preference] }))
    .reduce((sum, { weight }) => sum + weight, 0);
}
