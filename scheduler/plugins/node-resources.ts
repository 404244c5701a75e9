import type { ProfileConfig, ScoringStrategy, ShapePoint } from '../config/config.ts';
import type { NodeLoad } from '../cache/node-state.ts';
import { requestsNothing, type Requests } from '../pod/pod-info.ts';
import { timesOver } from './arithmetic.ts';
import type { Rejection } from './names.ts';

type Fit = ProfileConfig['fit'];

/** Cached rejections: the same few combinations of reasons occur over and over. Longer lists are not cached. */
const known = new Map<string, Rejection>();

const MAX_KNOWN = 1_000;

const MAX_REASONS = 8;

/**
 * Whether the pod fits: the node has a free pod slot and enough of each requested resource. The rejection names all that is insufficient.
 * @param ignored - resources that an extender manages
 */
export function nodeResourcesFit(requests: Requests, node: NodeLoad, ignored: (resource: string) => boolean): Rejection | undefined {
  let short: string[] | undefined;
  let never = false;
  const lacks = (reason: string, isHopeless: boolean): void => {
    (short ??= []).push(reason);
    never ||= isHopeless;
  };
  if (node.podCount + 1 > node.allocPods) lacks('Too many pods', node.allocPods < 1);
  if (!requestsNothing(requests)) {
    const { cpu, memory, ephemeral, scalars } = requests;
    if (cpu > 0 && cpu > node.allocCpu - node.usedCpu) lacks('Insufficient cpu', cpu > node.allocCpu);
    if (memory > 0 && memory > node.allocMemory - node.usedMemory) lacks('Insufficient memory', memory > node.allocMemory);
    if (ephemeral > 0 && ephemeral > node.allocEphemeral - node.usedEphemeral)
      lacks('Insufficient ephemeral-storage', ephemeral > node.allocEphemeral);
    for (const [name, amount] of scalars) {
      if (ignored(name)) continue;
      const has = node.allocScalars.get(name) ?? 0;
      if (amount > has - (node.usedScalars.get(name) ?? 0)) lacks(`Insufficient ${name}`, amount > has);
    }
  }
  return short && rejectionOf(short, !never);
}

/** Whether the profile ignores a resource (`ignoredResources`, `ignoredResourceGroups`), which an extender manages then. */
export function isIgnored({ ignoredResources, ignoredResourceGroups }: Fit, resource: string): boolean {
  return ignoredResources.has(resource) || ignoredResourceGroups.has(resource.split('/', 1)[0] ?? '');
}

/** Points for the utilization of the node with the pod, 0 to `max`. */
export function fitScore(requests: Requests, node: NodeLoad, { type, resources, shape }: ScoringStrategy, max: number): number {
  let sum = 0;
  let weights = 0;
  for (const { name, weight } of resources) {
    const capacity = capacityOf(node, name);
    const wanted = scoredWant(requests, name);
    if (capacity === 0 || (wanted === 0 && isExtended(name))) continue;
    const used = scoredUse(node, name) + wanted;
    if (type === 'RequestedToCapacityRatio') {
      const points = onShape(shape, used > capacity ? 100 : timesOver(used, 100, capacity), max);
      // With this strategy a resource without points is ignored, its weight included.
      if (points > 0) {
        sum += points * weight;
        weights += weight;
      }
      continue;
    }
    sum += weight * (type === 'LeastAllocated' ? least(used, capacity, max) : timesOver(Math.min(used, capacity), max, capacity));
    weights += weight;
  }
  if (weights === 0) return 0;
  return type === 'RequestedToCapacityRatio' ? Math.round(sum / weights) : Math.floor(sum / weights);
}

/** The pod's request for scoring, with a default if it has none. */
function scoredWant(requests: Requests, resource: string): number {
  if (resource === 'cpu') return requests.scoredCpu;
  return resource === 'memory' ? requests.scoredMemory : wantedOf(requests, resource);
}

function scoredUse(node: NodeLoad, resource: string): number {
  if (resource === 'cpu') return node.scoredCpu;
  return resource === 'memory' ? node.scoredMemory : usedOf(node, resource);
}

/** The pod's actual request. */
function wantedOf({ cpu, memory, ephemeral, scalars }: Requests, resource: string): number {
  if (resource === 'cpu') return cpu;
  if (resource === 'memory') return memory;
  return resource === 'ephemeral-storage' ? ephemeral : (scalars.get(resource) ?? 0);
}

/** The actual requests of all pods on the node. */
function usedOf(node: NodeLoad, resource: string): number {
  if (resource === 'cpu') return node.usedCpu;
  if (resource === 'memory') return node.usedMemory;
  return resource === 'ephemeral-storage' ? node.usedEphemeral : (node.usedScalars.get(resource) ?? 0);
}

function capacityOf(node: NodeLoad, resource: string): number {
  if (resource === 'cpu') return node.allocCpu;
  if (resource === 'memory') return node.allocMemory;
  return resource === 'ephemeral-storage' ? node.allocEphemeral : (node.allocScalars.get(resource) ?? 0);
}

function isExtended(resource: string): boolean {
  return resource !== 'cpu' && resource !== 'memory' && resource !== 'ephemeral-storage';
}

function least(used: number, capacity: number, max: number): number {
  return used > capacity ? 0 : timesOver(capacity - used, max, capacity);
}

/** Interpolates linearly between the points of the shape. */
export function onShape(shape: readonly ShapePoint[], utilization: number, max: number): number {
  let before: ShapePoint | undefined;
  for (const point of shape) {
    const score = (point.score * max) / 100;
    if (utilization <= point.utilization) {
      if (before === undefined) return score;
      const from = (before.score * max) / 100;
      return from + Math.trunc(((score - from) * (utilization - before.utilization)) / (point.utilization - before.utilization));
    }
    before = point;
  }
  return before === undefined ? 0 : (before.score * max) / 100;
}

function rejectionOf(reasons: readonly string[], resolvable: boolean): Rejection {
  if (reasons.length > MAX_REASONS) return { plugin: 'NodeResourcesFit', resolvable, reasons };
  const key = `${resolvable ? '+' : '-'}${reasons.join()}`;
  const seen = known.get(key);
  if (seen !== undefined) return seen;
  const rejection: Rejection = { plugin: 'NodeResourcesFit', resolvable, reasons };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, rejection);
  return rejection;
}

type Balanced = ProfileConfig['balanced'];

/** Whether the pod requests any of the resources: otherwise their balance is not scored. */
export function hasBalance(requests: Requests, { resources }: Pick<Balanced, 'resources'>): boolean {
  return resources.some(({ name }) => wantedOf(requests, name) > 0);
}

/**
 * Points for the balance between the utilizations of the resources, 0 to `max`, by actual requests. `improvement`: from half of `max` up to `max`, the more the
 * pod improves the balance; `balance`: the balance with the pod.
 */
export function balancedScore(requests: Requests, node: NodeLoad, { resources, points }: Balanced, max: number): number {
  const before: number[] = [];
  const after: number[] = [];
  for (const { name } of resources) {
    const capacity = capacityOf(node, name);
    const wanted = wantedOf(requests, name);
    if (capacity === 0 || (wanted === 0 && isExtended(name))) continue;
    const used = usedOf(node, name);
    before.push(Math.min(1, used / capacity));
    after.push(Math.min(1, (used + wanted) / capacity));
  }
  const balance = balanceOf(after, max);
  if (points === 'balance') return balance;
  const half = max / 2;
  return Math.trunc(half + Math.trunc((half + balance - balanceOf(before, max)) / 2));
}

function balanceOf(shares: readonly number[], max: number): number {
  return Math.floor((1 - deviation(shares)) * max);
}

function deviation(shares: readonly number[]): number {
  if (shares.length < 2) return 0;
  if (shares.length === 2) return Math.abs((shares[0] ?? 0) - (shares[1] ?? 0)) / 2;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length);
}
