import { amountOf, type HostPort } from '../../kube/api/pod-requests.ts';
import { type PodInfo, type Requests, wholeAmount } from '../pod/pod-info.ts';
import type { Node, NodeAspect } from '../types.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Taint } from 'kubernetes-types/core/v1.js';
import { declaredFeaturesOf } from '../plugins/node-declared-features.ts';

/** Allocatable resources of a node, and their usage. Units as in {@link Requests}. */
export interface NodeLoad {
  readonly allocCpu: number;
  readonly allocMemory: number;
  readonly allocEphemeral: number;
  readonly allocPods: number;
  readonly allocScalars: ReadonlyMap<string, number>;
  readonly usedCpu: number;
  readonly usedMemory: number;
  readonly usedEphemeral: number;
  readonly usedScalars: ReadonlyMap<string, number>;
  /** With 100m and 200Mi for containers without a request. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  readonly podCount: number;
}

/** State of a node: exists as long as the node, or pods on it. Only the cluster cache changes it. */
export class NodeState implements NodeLoad {
  readonly slot: number;
  readonly name: string;
  /** Undefined: the node was deleted (or not seen yet), but has pods. No pod is scheduled there. */
  node: Readonly<Node> | undefined;
  readonly pods = new Map<string, PodInfo>();
  /** Version at which the node was added or removed, or its labels or taints changed last. */
  shapeVersion = 0;
  /** Version of the last change that scheduling depends on. */
  version = 0;
  allocCpu = 0;
  allocMemory = 0;
  allocEphemeral = 0;
  allocPods = 0;
  allocScalars: ReadonlyMap<string, number> = new Map();
  usedCpu = 0;
  usedMemory = 0;
  usedEphemeral = 0;
  readonly usedScalars = new Map<string, number>();
  scoredCpu = 0;
  scoredMemory = 0;
  /** Host ports in use; a port is there twice if two pods use it, against the filter. */
  readonly ports: HostPort[] = [];
  /** Bytes by name, for each name an image has. */
  images: ReadonlyMap<string, number> = new Map();
  /** The same number for nodes with the same taints, cordon included; 0 before the node was read. */
  taintSet = 0;
  zone = '';
  #lowest = Infinity;
  #lowestAt = -1;

  constructor(slot: number, name: string) {
    this.slot = slot;
    this.name = name;
  }

  /** The lowest priority of its pods; Infinity without any. */
  get lowestPriority(): number {
    if (this.#lowestAt !== this.version) {
      this.#lowestAt = this.version;
      this.#lowest = Infinity;
      for (const { priority } of this.pods.values()) if (priority < this.#lowest) this.#lowest = priority;
    }
    return this.#lowest;
  }

  get podCount(): number {
    return this.pods.size;
  }

  put(info: PodInfo): void {
    this.pods.set(info.uid, info);
    this.#count(info.requests, 1);
    for (const port of info.ports) this.ports.push(port);
  }

  take(info: PodInfo): void {
    this.pods.delete(info.uid);
    this.#count(info.requests, -1);
    for (const { port, protocol, ip } of info.ports) {
      const at = this.ports.findIndex((used) => used.port === port && used.protocol === protocol && used.ip === ip);
      if (at >= 0) this.ports.splice(at, 1);
    }
  }

  readAllocatable(node: Readonly<Node>): void {
    const allocatable = node.status?.allocatable ?? {};
    const scalars = new Map<string, number>();
    this.allocCpu = wholeAmount(amountOf('cpu', allocatable['cpu']));
    this.allocMemory = wholeAmount(amountOf('memory', allocatable['memory']));
    this.allocEphemeral = wholeAmount(amountOf('ephemeral-storage', allocatable['ephemeral-storage']));
    this.allocPods = wholeAmount(amountOf('pods', allocatable['pods']));
    for (const [name, text] of Object.entries(allocatable)) if (!native.has(name)) scalars.set(name, wholeAmount(amountOf(name, text)));
    this.allocScalars = scalars;
  }

  #count({ cpu, memory, ephemeral, scalars, scoredCpu, scoredMemory }: Requests, sign: 1 | -1): void {
    this.usedCpu += sign * cpu;
    this.usedMemory += sign * memory;
    this.usedEphemeral += sign * ephemeral;
    this.scoredCpu += sign * scoredCpu;
    this.scoredMemory += sign * scoredMemory;
    for (const [name, amount] of scalars) {
      const used = (this.usedScalars.get(name) ?? 0) + sign * amount;
      if (used === 0) this.usedScalars.delete(name);
      else this.usedScalars.set(name, used);
    }
  }
}

const native = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

/** The aspects of a node that changed; empty for a heartbeat. */
export function changedAspects(before: Readonly<Node>, after: Readonly<Node>): Set<NodeAspect> {
  const changed = new Set<NodeAspect>();
  if (!isDeepStrictEqual(before.status?.allocatable, after.status?.allocatable)) changed.add('allocatable');
  if (!isDeepStrictEqual(before.metadata.labels, after.metadata.labels)) changed.add('labels');
  if (before.spec !== after.spec && taintsKey(before) !== taintsKey(after)) changed.add('taints');
  if (!isDeepStrictEqual(statesOf(before), statesOf(after))) changed.add('conditions');
  if (!isDeepStrictEqual(before.metadata.annotations, after.metadata.annotations)) changed.add('annotations');
  if (!isDeepStrictEqual(declaredFeaturesOf(before), declaredFeaturesOf(after))) changed.add('features');
  return changed;
}

/** The same text for nodes with the same taints, cordon included. The order counts: messages name the first untolerated taint. */
export function taintsKey({ spec }: Readonly<Node>): string {
  const taints = spec?.taints ?? [];
  if (taints.length === 0) return spec?.unschedulable === true ? '!' : '';
  return `${spec?.unschedulable === true ? '!' : ''}${JSON.stringify(taints.map(({ key, value, effect }: Taint) => [key, value ?? '', effect]))}`;
}

/** Region and zone as one text; '' without either. */
export function zoneOf({ metadata: { labels = {} } }: Readonly<Node>): string {
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
  return zone === '' && region === '' ? '' : `${region}:${zone}`;
}

function statesOf({ status }: Readonly<Node>): [string, string][] {
  return (status?.conditions ?? []).map(({ type, status }) => [type, status]);
}

/** Numbers for the sets of taints that nodes have. A number is never reused for another set, so that results cached under a number stay right. */
export class TaintSets {
  readonly #byKey = new Map<string, { readonly number: number; nodes: number }>();
  readonly #keys = new Map<number, string>();
  #last = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /**
   * Moves a node from one set to another.
   * @param before - number of the old set; 0: none
   * @param key - result of `taintsKey`; undefined: the node was deleted
   * @returns number of the new set; 0 for none
   */
  move(before: number, key: string | undefined): number {
    const known = key === undefined ? undefined : (this.#byKey.get(key) ?? this.#new(key));
    if (known !== undefined) known.nodes += 1;
    this.#leave(before);
    return known?.number ?? 0;
  }

  #new(key: string): { readonly number: number; nodes: number } {
    this.#last += 1;
    const made = { number: this.#last, nodes: 0 };
    this.#byKey.set(key, made);
    this.#keys.set(made.number, key);
    return made;
  }

  #leave(number: number): void {
    const key = this.#keys.get(number);
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (key === undefined || known === undefined) return;
    known.nodes -= 1;
    if (known.nodes > 0) return;
    this.#byKey.delete(key);
    this.#keys.delete(number);
  }
}

/** How many nodes have each image. */
export class Images {
  readonly #nodes = new Map<string, number>();

  /** @returns nodes that have an image under this name */
  having(name: string): number {
    return this.#nodes.get(name) ?? 0;
  }

  changed(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
    for (const name of before.keys()) {
      const left = this.having(name) - 1;
      if (left > 0) this.#nodes.set(name, left);
      else this.#nodes.delete(name);
    }
    for (const name of after.keys()) this.#nodes.set(name, this.having(name) + 1);
  }
}

export function imagesOf(node: Readonly<Node>): Map<string, number> {
  const images = new Map<string, number>();
  for (const { names, sizeBytes } of node.status?.images ?? [])
    for (const name of names ?? []) images.set(name, Math.max(images.get(name) ?? 0, sizeBytes ?? 0));
  return images;
}

export function sameImages(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([name, size]) => b.get(name) === size);
}
