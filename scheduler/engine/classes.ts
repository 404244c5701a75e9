import type { Cluster } from '../cache/cluster.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import { compactKey } from '../pod/selectors.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Counter } from '../cache/counts.ts';
import type { ClassifiedPod } from './node-trial.ts';
import { resourceNeeds, ResourceClass, type ResourceNeeds, type VolumeChecks } from './resource-class.ts';
import { NodeSpecClass, nodeSpecKey } from './node-spec-class.ts';
import type { RejectionTable } from './rejections.ts';
import { TopologyClass, topologyClassKey, type DefaultSelectorOf } from './topology-class.ts';

export interface ClassesOptions {
  cluster: Cluster;
  rejections: RejectionTable;
  compat: Pick<SchedulerConfig['compat'], 'taintMessage' | 'scoreRange'>;
  defaultSelectorOf: DefaultSelectorOf;
}

/** Limits on the classes that are kept: higher limits cost memory, lower ones time. */
const MAX_NODE_SPEC_CLASSES = 512;
const MAX_TOPOLOGY_CLASSES = 1_024;
/** Bytes of the columns of all topology classes. */
const MAX_TOPOLOGY_CLASS_BYTES = 256 * 1024 * 1024;
/** Terms and constraints of all topology classes: each is compared with every new group of pods. */
const MAX_TOPOLOGY_CLASS_RULES = 20_000;
/** Of all resource classes: see {@link ResourceClass.bytes}. */
const MAX_RESOURCE_CLASS_BYTES = 64 * 1024 * 1024;
const MIN_RESOURCE_CLASSES = 16;

/** The classes of recently scheduled pods; past a limit the least recently used are dropped. */
export class Classes {
  readonly #options: ClassesOptions;
  readonly #nodeSpec = new Map<string, NodeSpecClass>();
  readonly #topologyClasses = new Map<string, TopologyClass>();
  readonly #resourceClasses = new Map<string, ResourceClass>();

  constructor(options: ClassesOptions) {
    this.#options = options;
  }

  clear(): void {
    this.#nodeSpec.clear();
    for (const topology of this.#topologyClasses.values()) topology.close();
    this.#topologyClasses.clear();
    this.#resourceClasses.clear();
    this.#options.cluster.groups.keep(new Set());
  }

  /** @param volumes - prepared for this pod only */
  classify(pod: PodInfo, profile: ProfileConfig, volumes: VolumeChecks | undefined): ClassifiedPod {
    const { cluster, rejections, compat, defaultSelectorOf } = this.#options;
    const fixed = `${profile.schedulerName} ${nodeSpecKey(pod)}`;
    const nodeSpec = recent(this.#nodeSpec, fixed, () => {
      const { taintMessage } = compat;
      if (this.#nodeSpec.size >= MAX_NODE_SPEC_CLASSES) this.#nodeSpec.delete(this.#nodeSpec.keys().next().value ?? '');
      return new NodeSpecClass(pod, { cluster, rejections, profile, taintMessage });
    });
    const siblings = defaultSelectorOf(pod)?.id ?? '';
    const topologyId = `${profile.schedulerName} ${topologyClassKey(pod, siblings, fixed)}`;
    const before = this.#topologyClasses.get(topologyId);
    if (before?.isStale === true) {
      before.close();
      this.#topologyClasses.delete(topologyId);
    }
    const topology = recent(this.#topologyClasses, topologyId, () => {
      this.#evictTopologyClasses();
      return new TopologyClass(pod, { cluster, profile, nodeSpec, defaultSelectorOf });
    });
    const needs = resourceNeeds(pod, profile, cluster.images, volumes);
    return { pod, profile, nodeSpec, topology, needs };
  }

  /** The class of pods with the same requirements on a node, except volumes: these differ from pod to pod, and claims and volumes change without nodes. */
  resources(classify: ClassifiedPod): ResourceClass {
    const { pod, profile, needs } = classify;
    return recent(this.#resourceClasses, `${profile.schedulerName} ${nodeSpecKey(pod)} ${resourceKey(needs)}`, () => {
      this.#evictResourceClasses();
      return this.#made(classify, { ...needs, volumes: undefined });
    });
  }

  /** The same with the pod's volumes: every node is filtered. */
  withVolumes(classify: ClassifiedPod): ResourceClass {
    return classify.needs.volumes === undefined ? this.resources(classify) : this.#made(classify, classify.needs);
  }

  #made({ profile, nodeSpec }: ClassifiedPod, needs: ResourceNeeds): ResourceClass {
    const { cluster, rejections, compat } = this.#options;
    return new ResourceClass(nodeSpec, needs, { cluster, rejections, profile, max: compat.scoreRange });
  }

  #evictResourceClasses(): void {
    let bytes = 0;
    for (const resources of this.#resourceClasses.values()) bytes += resources.bytes;
    for (const [key, resources] of this.#resourceClasses) {
      if (bytes <= MAX_RESOURCE_CLASS_BYTES || this.#resourceClasses.size <= MIN_RESOURCE_CLASSES) return;
      bytes -= resources.bytes;
      this.#resourceClasses.delete(key);
    }
  }

  #evictTopologyClasses(): void {
    let [bytes, rules] = [0, 0];
    for (const topology of this.#topologyClasses.values()) {
      bytes += topology.bytes;
      rules += topology.rules;
    }
    if (this.#topologyClasses.size <= MAX_TOPOLOGY_CLASSES && bytes <= MAX_TOPOLOGY_CLASS_BYTES && rules <= MAX_TOPOLOGY_CLASS_RULES)
      return;
    // A quarter at once: their counters are dropped together.
    const isEnough = (): boolean =>
      this.#topologyClasses.size <= (MAX_TOPOLOGY_CLASSES * 3) / 4 &&
      bytes <= (MAX_TOPOLOGY_CLASS_BYTES * 3) / 4 &&
      rules <= (MAX_TOPOLOGY_CLASS_RULES * 3) / 4;
    for (const [key, topology] of this.#topologyClasses) {
      if (isEnough()) break;
      bytes -= topology.bytes;
      rules -= topology.rules;
      topology.close();
      this.#topologyClasses.delete(key);
    }
    const used = new Set<Counter>();
    for (const topology of this.#topologyClasses.values()) for (const counter of topology.counters()) used.add(counter);
    this.#options.cluster.groups.keep(used);
  }
}

function resourceKey({ requests, ports, images, containers, features }: ResourceNeeds): string {
  const { cpu, memory, ephemeral, scalars, scoredCpu, scoredMemory } = requests;
  const asked = `${cpu} ${memory} ${ephemeral} ${scoredCpu} ${scoredMemory} ${images.join()} ${containers} ${features.join()}`;
  if (ports.length === 0 && scalars.size === 0) return compactKey(asked);
  return compactKey(`${asked} ${JSON.stringify([ports, [...scalars].toSorted(([a], [b]) => (a < b ? -1 : 1))])}`);
}

/** Keeps the map in order of use: the most recently used key is the last one. */
function recent<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) {
    map.delete(key);
    map.set(key, known);
    return known;
  }
  const made = make();
  map.set(key, made);
  return made;
}
