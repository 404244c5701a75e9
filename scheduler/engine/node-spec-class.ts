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

/** RejectionTable of so many sets of taints are remembered, whatever is on nodes. */
const MIN_REMEMBERED = 64;

/** What a pod asks of the node objects themselves; pods on them do not matter. */
export function nodeSpecKey({ pod: { spec } }: PodInfo): string {
  const { nodeSelector, affinity, tolerations, nodeName: named } = spec ?? {};
  if (!nodeSelector && !affinity?.nodeAffinity && !tolerations?.length && !named) return '';
  return compactKey(JSON.stringify([nodeSelector ?? null, affinity?.nodeAffinity ?? null, tolerations ?? null, named ?? '']));
}

/** Taints and cordon of a node make the same result for every node that has the same. */
interface TaintResult {
  readonly rejection: Rejection | undefined;
  readonly preferences: number;
}

/** RejectionTable and raw points of all nodes for pods that ask the same of node objects. A changed node is computed again at the next use. */
export class NodeSpecClass {
  readonly #cluster: Cluster;
  readonly #rejections: RejectionTable;
  readonly #profile: ProfileConfig;
  readonly #message: TaintMessage;
  readonly #spec: Pick<PodSpec, 'nodeSelector' | 'affinity' | 'tolerations' | 'nodeName'>;
  readonly #byTaints = new Map<number, TaintResult>();
  #seen = -1;
  /** How far the first look at all nodes has come, and which version it began at. */
  #first: { at: number; readonly version: number } | undefined;
  #codes = new Uint16Array(0);
  #preferences = new Int32Array(0);
  #affinities = new Int32Array(0);
  /** Nodes with preferences that are not tolerated, and with preferred affinity: with none of them every node is as good as any other. */
  #scored = 0;

  constructor(pod: PodInfo, { cluster, rejections, profile, taintMessage }: NodeSpecClassParts) {
    this.#cluster = cluster;
    this.#rejections = rejections;
    this.#profile = profile;
    this.#message = taintMessage;
    // No more of the pod than this: a class outlives it.
    const { nodeSelector, affinity, tolerations, nodeName } = pod.pod.spec ?? {};
    this.#spec = {
      ...(nodeSelector && { nodeSelector }),
      ...(affinity?.nodeAffinity && { affinity: { nodeAffinity: affinity.nodeAffinity } }),
      ...(tolerations && { tolerations }),
      ...(nodeName !== undefined && { nodeName }),
    };
  }

  /** Nodes differ in raw points. */
  get hasPoints(): boolean {
    return this.#scored > 0;
  }

  code(slot: number): number {
    return this.#codes[slot] ?? 0;
  }

  /** Preferences of each node against the pod, by slot: see TaintToleration. Good until the next {@link refresh}. */
  get preferences(): Int32Array {
    return this.#preferences;
  }

  /** Weight of the preferred node affinity that each node matches, by slot. Good until the next {@link refresh}. */
  get affinities(): Int32Array {
    return this.#affinities;
  }

  /** Does some of what the first {@link refresh} would do. @returns whether nothing long is left of it */
  advance(isOver: () => boolean): boolean {
    if (this.#seen >= 0) return true;
    const { slotCount, version } = this.#cluster;
    this.#grow();
    this.#first ??= { at: 0, version };
    // At least one each time: it is done in the end, however slow the machine is.
    while (this.#first.at < slotCount) {
      const state = this.#cluster.at(this.#first.at);
      if (state !== undefined) this.#look(state);
      this.#first.at += 1;
      if (isOver()) return false;
    }
    // What changed meanwhile, and which nodes came, is looked at by the next refresh.
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
      else if (state.shapeVersion > since) this.#look(state);
    });
    this.#seen = cluster.version;
  }

  /** The first static rejection; also for a pod whose class is not kept. */
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

  /** Nodes where this pod's wishes are met, for counting others: its own selector and affinity, or its tolerations. */
  eligible(honorsAffinity: boolean, honorsTaints: boolean, keys: readonly string[]): Eligible {
    const cluster = this.#cluster;
    const isEligible = (slot: number): boolean => {
      const state = cluster.at(slot);
      if (state?.node === undefined) return false;
      const { metadata } = state.node;
      if (!keys.every((key) => metadata.labels !== undefined && Object.hasOwn(metadata.labels, key))) return false;
      if (honorsAffinity && !selectsNode(this.#spec, metadata)) return false;
      if (!honorsTaints) return true;
      // Of a cordon only its taint counts here.
      return taintToleration(this.#spec.tolerations ?? [], state.node, '1.34') === undefined;
    };
    // Labels and taints of nodes change together with the version of topologies. Several rules ask about each node.
    let column = new Uint8Array(0);
    let columnAt = -1;
    const has = (slot: number): boolean => {
      if (columnAt !== cluster.topologies.version) {
        columnAt = cluster.topologies.version;
        column = Uint8Array.from({ length: cluster.slotCount }, (_, at) => (isEligible(at) ? 1 : 0));
      }
      return column[slot] === 1;
    };
    return { version: 0, has };
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

  #look(state: NodeState): void {
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
    // Most sets of taints last as long as their nodes; those with a time in them are as many as there were changes.
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
