import type { Cluster } from '../cache/cluster.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import { compactKey } from '../pod/read-selector.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Counter } from '../cache/counter.ts';
import type { Asked } from './node-trial.ts';
import { localNeeds, PodClass, type LocalNeeds, type VolumeFilter } from './pod-class.ts';
import { NodeSpecClass, staticKey } from './node-spec-class.ts';
import type { RejectionTable } from './rejections.ts';
import { TopologyClass, wideKey, type DefaultSelectorOf } from './topology-class.ts';

export interface ClassesOptions {
  cluster: Cluster;
  verdicts: RejectionTable;
  compat: Pick<SchedulerConfig['compat'], 'taintMessage' | 'scoreRange'>;
  defaultSelectorOf: DefaultSelectorOf;
}

/** What is kept of pods that were asked for last: more costs memory, less costs time. */
const MAX_STATIC = 512;
const MAX_WIDE = 1_024;
/** Bytes of their columns together. */
const MAX_WIDE_BYTES = 256 * 1024 * 1024;
/** Terms and constraints of all of them: each is compared with every other kind of pod that comes. */
const MAX_WIDE_RULES = 20_000;
const MAX_LOCAL_BYTES = 64 * 1024 * 1024;
const MIN_LOCAL = 16;

/** The classes of the pods that were looked at lately; whoever was not asked for the longest time goes first. */
export class Classes {
  readonly #options: ClassesOptions;
  readonly #nodeSpec = new Map<string, NodeSpecClass>();
  readonly #wides = new Map<string, TopologyClass>();
  readonly #locals = new Map<string, PodClass>();

  constructor(options: ClassesOptions) {
    this.#options = options;
  }

  clear(): void {
    this.#nodeSpec.clear();
    for (const wide of this.#wides.values()) wide.close();
    this.#wides.clear();
    this.#locals.clear();
    this.#options.cluster.groups.keep(new Set());
  }

  /** @param volumes - asked for this pod alone */
  asked(pod: PodInfo, profile: ProfileConfig, volumes: VolumeFilter | undefined): Asked {
    const { cluster, verdicts, compat, defaultSelectorOf } = this.#options;
    const fixed = `${profile.schedulerName} ${staticKey(pod)}`;
    const nodeSpec = recent(this.#nodeSpec, fixed, () => {
      const { taintMessage } = compat;
      if (this.#nodeSpec.size >= MAX_STATIC) this.#nodeSpec.delete(this.#nodeSpec.keys().next().value ?? '');
      return new NodeSpecClass(pod, { cluster, verdicts, profile, taintMessage });
    });
    const siblings = defaultSelectorOf(pod)?.id ?? '';
    const wideId = `${profile.schedulerName} ${wideKey(pod, siblings, fixed)}`;
    const before = this.#wides.get(wideId);
    if (before?.isStale === true) {
      before.close();
      this.#wides.delete(wideId);
    }
    const wide = recent(this.#wides, wideId, () => {
      this.#fewerWides();
      return new TopologyClass(pod, { cluster, profile, nodeSpec, defaultSelectorOf });
    });
    const needs = localNeeds(pod, profile, volumes);
    return { pod, profile, nodeSpec, wide, needs };
  }

  /** The class of pods that ask the same of a node. One with volumes is made anew each time: claims and volumes change without nodes. */
  local({ pod, profile, nodeSpec, needs }: Asked): PodClass {
    const { cluster, verdicts, compat } = this.#options;
    const make = (): PodClass => new PodClass(nodeSpec, needs, { cluster, verdicts, profile, max: compat.scoreRange });
    if (needs.volumes !== undefined) return make();
    return recent(this.#locals, `${profile.schedulerName} ${staticKey(pod)} ${localKey(needs)}`, () => {
      this.#fewerLocals();
      return make();
    });
  }

  #fewerLocals(): void {
    let bytes = 0;
    for (const local of this.#locals.values()) bytes += local.bytes;
    for (const [key, local] of this.#locals) {
      if (bytes <= MAX_LOCAL_BYTES || this.#locals.size <= MIN_LOCAL) return;
      bytes -= local.bytes;
      this.#locals.delete(key);
    }
  }

  #fewerWides(): void {
    let [bytes, rules] = [0, 0];
    for (const wide of this.#wides.values()) {
      bytes += wide.bytes;
      rules += wide.rules;
    }
    if (this.#wides.size <= MAX_WIDE && bytes <= MAX_WIDE_BYTES && rules <= MAX_WIDE_RULES) return;
    // A quarter at once: what they counted is let go of together.
    const isEnough = (): boolean =>
      this.#wides.size <= (MAX_WIDE * 3) / 4 && bytes <= (MAX_WIDE_BYTES * 3) / 4 && rules <= (MAX_WIDE_RULES * 3) / 4;
    for (const [key, wide] of this.#wides) {
      if (isEnough()) break;
      bytes -= wide.bytes;
      rules -= wide.rules;
      wide.close();
      this.#wides.delete(key);
    }
    const used = new Set<Counter>();
    for (const wide of this.#wides.values()) for (const counter of wide.counters()) used.add(counter);
    this.#options.cluster.groups.keep(used);
  }
}

function localKey({ requests, ports, images }: LocalNeeds): string {
  const { cpu, memory, ephemeral, scalars, scoredCpu, scoredMemory } = requests;
  const asked = `${cpu} ${memory} ${ephemeral} ${scoredCpu} ${scoredMemory} ${images.join()}`;
  if (ports.length === 0 && scalars.size === 0) return compactKey(asked);
  return compactKey(`${asked} ${JSON.stringify([ports, [...scalars].toSorted(([a], [b]) => (a < b ? -1 : 1))])}`);
}

/** Most recently asked for last. */
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
