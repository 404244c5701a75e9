import type { Random } from '../../base/random.ts';
import type { Cluster } from '../cache/cluster.ts';
import type { NodeLoad, NodeState } from '../cache/node-state.ts';
import type { ProfileConfig } from '../config/config.ts';
import { balancedScore, fitScore, hasBalance, isIgnored, nodeResourcesFit } from '../plugins/node-resources.ts';
import { isAnyTaken, portsTaken } from '../plugins/node-ports.ts';
import { nodeDeclaredFeatures, requiredFeatures } from '../plugins/node-declared-features.ts';
import { imageNames, imageScore, imagesOfContainers } from '../plugins/image-locality.ts';
import type { Rejection } from '../plugins/names.ts';
import type { HostPort } from '../../kube/api/pod-requests.ts';
import type { PodInfo, Requests } from '../pod/pod-info.ts';
import type { Node } from '../types.ts';
import type { NodeSpecClass } from './node-spec-class.ts';
import { ABSENT, grown, type RejectionTable } from './rejections.ts';

/** Checks of a node for the volumes of a pod. */
export interface VolumeChecks {
  /** @param pods - the pods that count on the node */
  rejection(node: Readonly<Node>, pods: readonly PodInfo[]): Rejection | undefined;
  /** Points of a node that is not rejected, 0 to `max`. */
  score(node: Readonly<Node>, max: number): number;
}

/** What a pod requires of a node and the pods on it: the same for pods that no node can distinguish. */
export interface ResourceNeeds {
  readonly requests: Requests;
  readonly ports: readonly HostPort[];
  /** Those of `imageNames` that a node has: the others give no points, and every build of a CI has a new one. */
  readonly images: readonly string[];
  /** Result of `imagesOfContainers`. */
  readonly containers: number;
  readonly volumes: VolumeChecks | undefined;
  /** Result of `requiredFeatures`. */
  readonly features: readonly string[];
  /** Whether a resource is ignored because an extender manages it. */
  readonly ignored: (resource: string) => boolean;
}

/** @param onNodes - the images of all nodes */
export function resourceNeeds(
  pod: PodInfo,
  { fit }: ProfileConfig,
  onNodes: Cluster['images'],
  volumes: VolumeChecks | undefined,
): ResourceNeeds {
  const spec = pod.pod.spec ?? { containers: [] };
  const images = imageNames(spec).filter((name) => onNodes.having(name) > 0);
  const containers = imagesOfContainers(spec);
  const ignored = (resource: string): boolean => isIgnored(fit, resource);
  return { requests: pod.requests, ports: pod.ports, images, containers, volumes, features: requiredFeatures(spec), ignored };
}

/** A node with other pods than it has now. */
export interface OtherPods {
  readonly load: NodeLoad;
  readonly isPortTaken: boolean;
  /** Pods with volumes. */
  readonly volumeUsers: readonly PodInfo[];
}

/**
 * The filters for ports, resources, volumes and declared features. kube-scheduler filters by features last, after {@link filterNeighbours}: a node that both
 * reject is counted under another reason there.
 * @param others - the pods to assume on the node. @default the pods that it has
 */
export function resourceFilter(
  { requests, ports, volumes, features, ignored }: ResourceNeeds,
  { filters }: ProfileConfig,
  state: NodeState,
  others?: OtherPods,
): Rejection | undefined {
  if (ports.length > 0 && filters.has('NodePorts') && (others?.isPortTaken ?? isAnyTaken(ports, state.ports))) return portsTaken;
  if (filters.has('NodeResourcesFit')) {
    const refused = nodeResourcesFit(requests, others?.load ?? state, ignored);
    if (refused) return refused;
  }
  if (state.node === undefined) return undefined;
  const refused = volumesRejection(volumes, state, others?.volumeUsers);
  if (refused !== undefined || !filters.has('NodeDeclaredFeatures')) return refused;
  return nodeDeclaredFeatures(features, state.node);
}

/** Why the pod's volumes cannot be used on the node. @param users - pods with volumes on it. @default the pods that it has */
export function volumesRejection(
  volumes: VolumeChecks | undefined,
  { node, pods }: NodeState,
  users?: readonly PodInfo[],
): Rejection | undefined {
  if (volumes === undefined || node === undefined) return undefined;
  return volumes.rejection(node, users ?? [...pods.values()]);
}

/** Whether the points of nodes depend on a pod's volumes. */
export const scoresVolumes = ({ scores, volumeBinding }: ProfileConfig): boolean =>
  volumeBinding.shape.length > 0 && (scores.get('VolumeBinding') ?? 0) > 0;

/** Points of a node by itself: for utilization, balance, images, and utilization of its storage. An integer, weights included. */
export function resourcePoints(needs: ResourceNeeds, profile: ProfileConfig, state: NodeState, cluster: Cluster, max: number): number {
  const { requests, images, containers, volumes } = needs;
  const { scores, fit, balanced } = profile;
  let points = 0;
  const fitWeight = scores.get('NodeResourcesFit') ?? 0;
  if (fitWeight > 0) points += fitWeight * fitScore(requests, state, fit.strategy, max);
  const balancedWeight = scores.get('NodeResourcesBalancedAllocation') ?? 0;
  if (balancedWeight > 0 && hasBalance(requests, balanced)) points += balancedWeight * balancedScore(requests, state, balanced, max);
  const imageWeight = scores.get('ImageLocality') ?? 0;
  if (imageWeight > 0 && state.images.size > 0)
    points += imageWeight * imageScore(images, containers, state.images, (name) => cluster.images.having(name), cluster.nodeCount, max);
  if (volumes !== undefined && state.node !== undefined && scoresVolumes(profile))
    points += (scores.get('VolumeBinding') ?? 0) * volumes.score(state.node, max);
  return points;
}

/**
 * Rejection and own points of every node for a class of pods. Assuming a pod changes one node, and so one entry, which is computed again for the next pod of
 * the class: the best nodes are known without filtering the others again.
 */
export class ResourceClass {
  readonly nodeSpec: NodeSpecClass;
  readonly needs: ResourceNeeds;
  readonly #cluster: Cluster;
  readonly #rejections: RejectionTable;
  readonly #profile: ProfileConfig;
  readonly #max: number;
  readonly #counts = new Map<number, number>();
  #seen = -1;
  #codes = new Uint16Array(0);
  #points = new Int32Array(0);
  #buckets: Buckets | undefined;
  #imagesAt = '';
  /** Approximate size in bytes. */
  get bytes(): number {
    return CLASS_BYTES + this.#codes.length * 6 + (this.#buckets?.bytes ?? 0);
  }

  constructor(nodeSpec: NodeSpecClass, needs: ResourceNeeds, { cluster, rejections, profile, max }: ResourceClassParts) {
    this.nodeSpec = nodeSpec;
    this.needs = needs;
    this.#cluster = cluster;
    this.#rejections = rejections;
    this.#profile = profile;
    this.#max = max;
  }

  /** Number of nodes that pass the filters of this class. */
  get feasible(): number {
    return this.#counts.get(0) ?? 0;
  }

  /** Number of nodes by result: see {@link RejectionTable}. */
  get counts(): ReadonlyMap<number, number> {
    return this.#counts;
  }

  /** {@link ABSENT}: the slot is empty, or its node was deleted. */
  code(slot: number): number {
    return this.#codes[slot] ?? ABSENT;
  }

  pointsOf(slot: number): number {
    return this.#points[slot] ?? 0;
  }

  /** {@link code} of each slot: a column at least as long as there are slots. Good until the next {@link refresh}. */
  get codes(): Uint16Array {
    return this.#codes;
  }

  /** Own points of each slot, as {@link codes}. */
  get points(): Int32Array {
    return this.#points;
  }

  /** The feasible nodes by own points. */
  get buckets(): Buckets {
    return (this.#buckets ??= this.#filled());
  }

  refresh(): void {
    const cluster = this.#cluster;
    this.nodeSpec.refresh();
    const images = this.#imageCounts();
    if (this.#seen === cluster.version && images === this.#imagesAt) return;
    const since = images === this.#imagesAt ? this.#seen : -1;
    const slots = cluster.slotCount;
    if (slots > this.#codes.length) {
      const had = this.#codes.length;
      this.#codes = grown(this.#codes, slots, (length) => new Uint16Array(length));
      this.#codes.fill(ABSENT, had);
      this.#points = grown(this.#points, slots, (length) => new Int32Array(length));
      this.#buckets = undefined;
    }
    cluster.eachChangedSince(since, (slot) => {
      const state = cluster.at(slot);
      if (state === undefined) this.#set(slot, ABSENT, 0);
      else if (state.version > since) this.#evaluate(state);
    });
    this.#seen = cluster.version;
    this.#imagesAt = images;
  }

  #evaluate(state: NodeState): void {
    const { slot } = state;
    const fixed = this.nodeSpec.code(slot);
    if (fixed !== 0) {
      this.#set(slot, fixed, 0);
      return;
    }
    const refused = resourceFilter(this.needs, this.#profile, state);
    if (refused !== undefined) this.#set(slot, this.#rejections.code(refused), 0);
    else this.#set(slot, 0, resourcePoints(this.needs, this.#profile, state, this.#cluster, this.#max));
  }

  #set(slot: number, code: number, points: number): void {
    const was = this.code(slot);
    if (was !== ABSENT) this.#counts.set(was, (this.#counts.get(was) ?? 0) - 1);
    if (was === 0) this.#buckets?.remove(slot, this.pointsOf(slot));
    if (this.#counts.get(was) === 0) this.#counts.delete(was);
    this.#codes[slot] = code;
    this.#points[slot] = points;
    if (code !== ABSENT) this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    if (code === 0) this.#buckets?.add(slot, points);
  }

  #filled(): Buckets {
    const buckets = new Buckets(this.#codes.length);
    for (let slot = 0; slot < this.#codes.length; slot++) if (this.#codes[slot] === 0) buckets.add(slot, this.pointsOf(slot));
    return buckets;
  }

  /** Points for images depend on how many nodes have them, so that a change concerns all nodes. Images that no node has give no points. */
  #imageCounts(): string {
    const { images, nodeCount } = this.#cluster;
    if (!this.#profile.scores.has('ImageLocality')) return '';
    const having = this.needs.images.map((name) => images.having(name));
    return having.some((count) => count > 0) ? `${having.join()}/${nodeCount}` : '';
  }
}

export interface ResourceClassParts {
  cluster: Cluster;
  rejections: RejectionTable;
  profile: ProfileConfig;
  /** Maximum points of a plugin, before its weight. */
  max: number;
}

/**
 * Slots by points, which are integers: the best slots are known at once. Only points that a slot has take memory, whatever the weights of the profile: nodes
 * mostly have few different ones, so that keeping them sorted costs next to nothing.
 */
export class Buckets {
  /** By points; none is empty. */
  readonly #buckets = new Map<number, number[]>();
  /** The points of {@link #buckets}, the most last. */
  readonly #levels: number[] = [];
  /** Index of each slot in its bucket. */
  readonly #at: Int32Array;
  #size = 0;

  constructor(slots: number) {
    this.#at = new Int32Array(slots);
  }

  get size(): number {
    return this.#size;
  }

  /** Approximate size in bytes. */
  get bytes(): number {
    return 4 * this.#at.length + 10 * this.#size + BUCKET_BYTES * this.#levels.length;
  }

  /** Slots with the most points, in no particular order; empty without any. Good until the next change. */
  get best(): readonly number[] {
    return this.#buckets.get(this.#levels.at(-1) ?? 0) ?? none;
  }

  /**
   * One of the best slots that pass, all with equal probability. If most slots pass, checks a few; only if hardly any passes, checks all of a bucket.
   * @returns undefined if none passes
   */
  draw(passes: (slot: number) => boolean, random: Random): number | undefined {
    for (let level = this.#levels.length - 1; level >= 0; level--) {
      const bucket = this.#buckets.get(this.#levels[level] ?? 0) ?? none;
      for (let tries = bucket.length > FEW ? FEW : 0; tries > 0; tries--) {
        const slot = bucket[Math.floor(random() * bucket.length)] ?? 0;
        if (passes(slot)) return slot;
      }
      const passing = bucket.filter(passes);
      if (passing.length > 0) return passing[Math.floor(random() * passing.length)];
    }
    return undefined;
  }

  add(slot: number, points: number): void {
    const bucket = this.#buckets.get(points);
    this.#size += 1;
    this.#at[slot] = bucket?.length ?? 0;
    if (bucket !== undefined) bucket.push(slot);
    else {
      this.#buckets.set(points, [slot]);
      this.#levels.splice(this.#levelOf(points), 0, points);
    }
  }

  /** @throws {RangeError} when no slot has these points */
  remove(slot: number, points: number): void {
    const bucket = this.#buckets.get(points);
    const last = bucket?.pop();
    if (bucket === undefined || last === undefined) throw new RangeError(`no node has ${points} points`);
    this.#size -= 1;
    if (bucket.length === 0) {
      this.#buckets.delete(points);
      this.#levels.splice(this.#levelOf(points), 1);
    } else if (last !== slot) {
      const at = this.#at[slot] ?? 0;
      bucket[at] = last;
      this.#at[last] = at;
    }
  }

  /** Index of the first level that is not lower. */
  #levelOf(points: number): number {
    let [from, to] = [0, this.#levels.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#levels[middle] ?? 0) < points) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** Measured: what a class takes besides its columns, and a bucket besides its slots. */
const CLASS_BYTES = 3_000;
const BUCKET_BYTES = 200;
const none: readonly number[] = [];
/** Number of slots that are drawn before all of a bucket are checked. */
const FEW = 8;
