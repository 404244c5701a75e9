import type { PodSpec } from 'kubernetes-types/core/v1.js';
import type { Cluster } from '../cache/cluster.ts';
import type { Eligible } from '../cache/counts.ts';
import type { NodeState } from '../cache/node-state.ts';
import type { ProfileConfig } from '../config/config.ts';
import { nodeAffinity, preferredWeight, selectsNode } from '../plugins/node-affinity.ts';
import { type TaintMessage, taintToleration, untoleratedPreferences } from '../plugins/taint-toleration.ts';
import { nodeName } from '../plugins/node-name.ts';
import { nodeUnschedulable } from '../plugins/node-unschedulable.ts';
import type { Rejection } from '../plugins/names.ts';
import { compactKey } from '../pod/selectors.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { grown, type RejectionTable } from './rejections.ts';

/** Results of at least this many sets of taints are cached, however few sets nodes have. */
const MIN_REMEMBERED = 64;

/** Key of a pod's requirements on node objects, regardless of the pods there. */
export function nodeSpecKey({ pod: { spec } }: PodInfo): string {
  const { nodeSelector, affinity, tolerations, nodeName: named } = spec ?? {};
  if (!nodeSelector && !affinity?.nodeAffinity && !tolerations?.length && !named) return '';
  return compactKey(JSON.stringify([nodeSelector ?? null, affinity?.nodeAffinity ?? null, tolerations ?? null, named ?? '']));
}

/** Result of the taints and cordon of a node, shared by all nodes with the same ones. */
interface TaintResult {
  readonly rejection: Rejection | undefined;
  readonly preferences: number;
}

/** Rejections and raw points of all nodes, for pods with the same requirements on node objects. A changed node is computed again at the next use. */
export class NodeSpecClass {
  readonly #cluster: Cluster;
  readonly #rejections: RejectionTable;
  readonly #profile: ProfileConfig;
  readonly #message: TaintMessage;
  readonly #spec: Pick<PodSpec, 'nodeSelector' | 'affinity' | 'tolerations' | 'nodeName'>;
  readonly #byTaints = new Map<number, TaintResult>();
  #seen = -1;
  /** Progress of the first pass over all nodes, and the version at which it began. */
  #first: { at: number; readonly version: number } | undefined;
  #codes = new Uint16Array(0);
  #preferences = new Int32Array(0);
  #affinities = new Int32Array(0);
  /** Number of nodes with untolerated PreferNoSchedule taints or matching preferred affinity: at 0 all nodes are equal. */
  #scored = 0;

  constructor(pod: PodInfo, { cluster, rejections, profile, taintMessage }: NodeSpecClassParts) {
    this.#cluster = cluster;
    this.#rejections = rejections;
    this.#profile = profile;
    this.#message = taintMessage;
    // The class outlives the pod, and must not keep the whole object in memory.
    const { nodeSelector, affinity, tolerations, nodeName } = pod.pod.spec ?? {};
    this.#spec = {
      ...(nodeSelector && { nodeSelector }),
      ...(affinity?.nodeAffinity && { affinity: { nodeAffinity: affinity.nodeAffinity } }),
      ...(tolerations && { tolerations }),
      ...(nodeName !== undefined && { nodeName }),
    };
  }

  /** Whether nodes differ in raw points. */
  get hasPoints(): boolean {
    return this.#scored > 0;
  }

  code(slot: number): number {
    return this.#codes[slot] ?? 0;
  }

  /** Number of untolerated PreferNoSchedule taints of each node, by slot. Good until the next {@link refresh}. */
  get preferences(): Int32Array {
    return this.#preferences;
  }

  /** Weight of the preferred node affinity that each node matches, by slot. Good until the next {@link refresh}. */
  get affinities(): Int32Array {
    return this.#affinities;
  }

  /** Does a part of the first {@link refresh}. @returns whether no long work is left */
  advance(isOver: () => boolean): boolean {
    if (this.#seen >= 0) return true;
    const { slotCount, version } = this.#cluster;
    this.#grow();
    this.#first ??= { at: 0, version };
    // At least one node per call, so that the pass ends however slow the machine is.
    while (this.#first.at < slotCount) {
      const state = this.#cluster.at(this.#first.at);
      if (state !== undefined) this.#evaluate(state);
      this.#first.at += 1;
      if (isOver()) return false;
    }
    // The next refresh processes the nodes that were changed or added during the pass.
    this.#seen = this.#first.version;
    this.#first = undefined;
    return true;
  }

  refresh(): void {
    const cluster = this.#cluster;
    if (this.#seen === cluster.version) return;
    this.#grow();
    const since = this.#seen;
    cluster.eachChangedSince(since, (slot) => {
      const state = cluster.at(slot);
      if (state === undefined) this.#set(slot, 0, 0, 0);
      else if (state.shapeVersion > since) this.#evaluate(state);
    });
    this.#seen = cluster.version;
  }

  /** The first rejection by a filter that reads only the node object. Reads no column. */
  filter(state: NodeState): Rejection | undefined {
    const { node } = state;
    if (node === undefined) return undefined;
    const { filters, nodeAffinity: own } = this.#profile;
    if (filters.has('NodeUnschedulable') && node.spec?.unschedulable === true) {
      const refused = nodeUnschedulable(this.#spec.tolerations ?? [], node);
      if (refused) return refused;
    }
    if (filters.has('NodeName')) {
      const refused = nodeName(this.#spec.nodeName ?? '', state.name);
      if (refused) return refused;
    }
    const { rejection } = this.#taintResult(state);
    if (rejection) return rejection;
    return filters.has('NodeAffinity') ? nodeAffinity(this.#spec, own.addedAffinity, node) : undefined;
  }

  /** Nodes that a spread constraint of this pod counts: by its node selector and affinity, by its tolerations, and by the labels that they must have. */
  eligible(honorsAffinity: boolean, honorsTaints: boolean, keys: readonly string[]): Eligible {
    const cluster = this.#cluster;
    const isEligible = (slot: number): boolean => {
      const state = cluster.at(slot);
      if (state?.node === undefined) return false;
      const { metadata } = state.node;
      if (!keys.every((key) => metadata.labels !== undefined && Object.hasOwn(metadata.labels, key))) return false;
      if (honorsAffinity && !selectsNode(this.#spec, metadata)) return false;
      if (!honorsTaints) return true;
      // A cordoned node is excluded only by its taint here.
      return taintToleration(this.#spec.tolerations ?? [], state.node, '1.34') === undefined;
    };
    // The version of topologies changes with labels and taints of nodes. Several constraints read each node.
    let column = new Uint8Array(0);
    let columnAt = -1;
    const has = (slot: number): boolean => {
      if (columnAt !== cluster.topologies.version) {
        columnAt = cluster.topologies.version;
        column = Uint8Array.from({ length: cluster.slotCount }, (_, at) => (isEligible(at) ? 1 : 0));
      }
      return column[slot] === 1;
    };
    return { has };
  }

  scoreOf(state: NodeState): { preferences: number; affinity: number } {
    const { node } = state;
    return {
      preferences: this.#taintResult(state).preferences,
      affinity: node === undefined ? 0 : preferredWeight(this.#spec, node),
    };
  }

  #grow(): void {
    const slots = this.#cluster.slotCount;
    this.#codes = grown(this.#codes, slots, (length) => new Uint16Array(length));
    this.#preferences = grown(this.#preferences, slots, (length) => new Int32Array(length));
    this.#affinities = grown(this.#affinities, slots, (length) => new Int32Array(length));
  }

  #evaluate(state: NodeState): void {
    const { preferences, affinity } = this.scoreOf(state);
    this.#set(state.slot, this.#rejections.code(this.filter(state)), preferences, affinity);
  }

  #set(slot: number, code: number, preferences: number, affinity: number): void {
    const was = (this.#preferences[slot] ?? 0) > 0 || (this.#affinities[slot] ?? 0) > 0 ? 1 : 0;
    this.#scored += (preferences > 0 || affinity > 0 ? 1 : 0) - was;
    this.#codes[slot] = code;
    this.#preferences[slot] = preferences;
    this.#affinities[slot] = affinity;
  }

  #taintResult(state: NodeState): TaintResult {
    const known = this.#byTaints.get(state.taintSet);
    if (known !== undefined) return known;
    const { node } = state;
    const tolerations = this.#spec.tolerations ?? [];
    const asked = this.#profile.filters.has('TaintToleration');
    const result: TaintResult = {
      rejection: node !== undefined && asked ? taintToleration(tolerations, node, this.#message) : undefined,
      preferences: node === undefined ? 0 : untoleratedPreferences(tolerations, node),
    };
    // Most sets of taints exist as long as their nodes, but values that contain a time make a new set at each change.
    if (this.#byTaints.size > 2 * this.#cluster.taintSetCount + MIN_REMEMBERED) this.#byTaints.clear();
    this.#byTaints.set(state.taintSet, result);
    return result;
  }
}

export interface NodeSpecClassParts {
  cluster: Cluster;
  rejections: RejectionTable;
  profile: ProfileConfig;
  taintMessage: TaintMessage;
}
