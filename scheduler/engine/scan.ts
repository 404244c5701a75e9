import type { Cluster } from '../cache/cluster.ts';
import type { DomainCounts } from '../cache/counts.ts';
import type { NodeState } from '../cache/node-state.ts';
import type { ScoreName } from '../plugins/names.ts';
import { ofHighest, roundHalfUp } from '../plugins/arithmetic.ts';
import { neighbourScore } from '../plugins/inter-pod-affinity.ts';
import { type CountedConstraint, fewestOf, spreadScore, spreadWeight } from '../plugins/pod-topology-spread.ts';
import type { ClassifiedPod } from './node-trial.ts';
import { type ResourceClass, resourcePoints } from './resource-class.ts';
import { grown } from './rejections.ts';
import type { TopologyClass } from './topology-class.ts';

/** Maximum number of different raw points in a table. */
const MAX_TABLE_SIZE = 1_024;

/** The best slots of a pass over all nodes. */
export interface Best {
  readonly slots: readonly number[];
  readonly feasible: number;
}

/**
 * One pass over the nodes for a class with rules about other pods, or whose nodes differ in preferences: filters, then raw points of the nodes that pass, then
 * normalized points. Works rule by rule instead of node by node, so that each is a short loop over columns, which are reused by the next pass. Gives the same
 * results and points as the plugins.
 */
export class Scan {
  readonly #cluster: Cluster;
  readonly #max: number;
  #passing = new Int32Array(0);
  /** By index in `#passing`, like `#raw`. */
  #totals = new Float64Array(0);
  /** NaN if a constraint does not compare the node. */
  #raw = new Float64Array(0);
  readonly #table = new Float64Array(MAX_TABLE_SIZE);
  #seenDomains = new Int32Array(0);
  #pass = 0;

  /** @param max - maximum points of a plugin, before its weight */
  constructor(cluster: Cluster, max: number) {
    this.#cluster = cluster;
    this.#max = max;
  }

  /**
   * @param closed - slots that are excluded for other reasons
   * @param passes - called last, for the slots that are left. @default all pass
   */
  best(classified: ClassifiedPod, set: ResourceClass, closed: ReadonlyMap<number, unknown>, passes?: (slot: number) => boolean): Best {
    this.#grow();
    const passing = this.#passing;
    const totals = this.#totals;
    const neighbours = this.#filter(classified.topology, this.#begin(set, closed));
    const count = passes === undefined ? neighbours : this.#keep(passes, neighbours);
    if (count <= 1) return { slots: Array.from(passing.subarray(0, count)), feasible: count };
    const { points: own } = set;
    for (let at = 0; at < count; at++) totals[at] = own[passing[at] ?? 0] ?? 0;
    this.#addCompared(classified, count);
    let best = -Infinity;
    let ties = 0;
    for (let at = 0; at < count; at++) {
      const points = totals[at] ?? 0;
      if (points > best) {
        best = points;
        ties = 1;
      } else if (points === best) ties += 1;
    }
    const slots: number[] = [];
    for (let at = 0; slots.length < ties; at++) if (totals[at] === best) slots.push(passing[at] ?? 0);
    return { slots, feasible: count };
  }

  /** Total points of these nodes, all of which are feasible. */
  totals(classified: ClassifiedPod, feasible: readonly NodeState[], each: (state: NodeState, total: number) => void): void {
    this.#grow();
    for (const [at, state] of feasible.entries()) {
      this.#passing[at] = state.slot;
      this.#totals[at] = resourcePoints(classified.needs, classified.profile, state, this.#cluster, this.#max);
    }
    this.#addCompared(classified, feasible.length);
    for (const [at, state] of feasible.entries()) each(state, this.#totals[at] ?? 0);
  }

  /** Slots that pass the filters of the class itself. */
  eachPassing(set: ResourceClass, each: (slot: number) => void): void {
    for (let slot = 0; slot < this.#cluster.slotCount; slot++) if (set.code(slot) === 0) each(slot);
  }

  #begin({ codes }: ResourceClass, closed: ReadonlyMap<number, unknown>): number {
    const passing = this.#passing;
    const slots = this.#cluster.slotCount;
    const isOpen = closed.size === 0;
    let count = 0;
    for (let slot = 0; slot < slots; slot++) if (codes[slot] === 0 && (isOpen || !closed.has(slot))) passing[count++] = slot;
    return count;
  }

  /** @returns how many of the first `count` pass the filters that read other pods */
  #filter(topology: TopologyClass, count: number): number {
    let left = count;
    for (const constraint of topology.hard) left = this.#keepSpread(constraint, left);
    if (topology.affinity.length > 0) left = this.#keepMatchingAffinity(topology, left);
    for (const view of topology.anti) left = this.#keepWithout(view, left);
    for (const view of topology.existingAnti) left = this.#keepWithout(view, left);
    return left;
  }

  #keep(passes: (slot: number) => boolean, count: number): number {
    const passing = this.#passing;
    let left = 0;
    for (let at = 0; at < count; at++) {
      const slot = passing[at] ?? 0;
      if (passes(slot)) passing[left++] = slot;
    }
    return left;
  }

  #keepSpread(constraint: CountedConstraint, count: number): number {
    const passing = this.#passing;
    const { view, maxSkew, selfMatch } = constraint;
    const { domains } = view.topology;
    const { counts } = view;
    const most = maxSkew + fewestOf(constraint) - selfMatch;
    let left = 0;
    for (let at = 0; at < count; at++) {
      const slot = passing[at] ?? 0;
      const domain = domains[slot] ?? -1;
      if (domain >= 0 && (view.isPresent(domain) ? (counts[domain] ?? 0) : 0) <= most) passing[left++] = slot;
    }
    return left;
  }

  #keepMatchingAffinity({ affinity, matchesItself }: TopologyClass, count: number): number {
    const passing = this.#passing;
    const isFirst = matchesItself && affinity.every(({ total }) => total === 0);
    let end = count;
    for (const { topology, counts } of affinity) {
      const { domains } = topology;
      let left = 0;
      for (let at = 0; at < end; at++) {
        const slot = passing[at] ?? 0;
        const domain = domains[slot] ?? -1;
        if (domain >= 0 && (isFirst || (counts[domain] ?? 0) > 0)) passing[left++] = slot;
      }
      end = left;
    }
    return end;
  }

  #keepWithout({ topology, counts, total }: DomainCounts, count: number): number {
    if (total === 0) return count;
    const passing = this.#passing;
    const { domains } = topology;
    let left = 0;
    for (let at = 0; at < count; at++) {
      const slot = passing[at] ?? 0;
      const domain = domains[slot] ?? -1;
      if (domain < 0 || (counts[domain] ?? 0) === 0) passing[left++] = slot;
    }
    return left;
  }

  /** Adds points besides a node's own, weights included, for the first `count` that pass. */
  #addCompared({ profile: { scores }, nodeSpec, topology }: ClassifiedPod, count: number): void {
    const weight = (name: ScoreName): number => scores.get(name) ?? 0;
    const taints = weight('TaintToleration');
    const affinity = weight('NodeAffinity');
    if (nodeSpec.hasPoints) {
      if (taints > 0) this.#addShares(count, taints, true, nodeSpec.preferences);
      if (affinity > 0) this.#addShares(count, affinity, false, nodeSpec.affinities);
    } else if (taints > 0) this.#addToAll(count, taints * ofHighest(0, 0, this.#max, true));
    const spread = weight('PodTopologySpread');
    if (spread > 0 && topology.soft.length > 0) this.#addSpread(topology, count, spread);
    const neighbours = weight('InterPodAffinity');
    if (neighbours > 0 && topology.points.length > 0) this.#addNeighbours(topology, count, neighbours);
  }

  #addToAll(count: number, points: number): void {
    const totals = this.#totals;
    for (let at = 0; at < count; at++) totals[at] = (totals[at] ?? 0) + points;
  }

  /** @param column - raw points by slot, 0 or more */
  #addShares(count: number, weight: number, reversed: boolean, column: Int32Array): void {
    const passing = this.#passing;
    const raw = this.#raw;
    let most = 0;
    for (let at = 0; at < count; at++) {
      const points = column[passing[at] ?? 0] ?? 0;
      raw[at] = points;
      if (points > most) most = points;
    }
    if (most === 0 && !reversed) return;
    this.#addEach(count, 0, most, (points) => weight * ofHighest(points, most, this.#max, reversed));
  }

  #addSpread({ soft, comparesAll }: TopologyClass, count: number, weight: number): void {
    const passing = this.#passing;
    const raw = this.#raw;
    raw.fill(0, 0, count);
    let compared = count;
    if (!comparesAll) {
      for (const { view } of soft) {
        const { domains } = view.topology;
        for (let at = 0; at < count; at++) {
          if ((domains[passing[at] ?? 0] ?? -1) >= 0 || Number.isNaN(raw[at])) continue;
          raw[at] = NaN;
          compared -= 1;
        }
      }
    }
    for (const constraint of soft) {
      const { view, maxSkew, isHostname } = constraint;
      const by = spreadWeight(isHostname ? compared : this.#domains(constraint, count, comparesAll));
      const { domains } = view.topology;
      const { counts } = view;
      const own = isHostname ? view.counter.column(this.#cluster.slotCount) : undefined;
      for (let at = 0; at < count; at++) {
        const slot = passing[at] ?? 0;
        const domain = domains[slot] ?? -1;
        if (domain < 0) continue;
        const pods = own === undefined ? (counts[domain] ?? 0) : (own[slot] ?? 0);
        raw[at] = (raw[at] ?? 0) + (pods * by + (maxSkew - 1));
      }
    }
    let least = Infinity;
    let most = 0;
    for (let at = 0; at < count; at++) {
      const rounded = roundHalfUp(raw[at] ?? 0);
      raw[at] = rounded;
      if (rounded < least) least = rounded;
      if (rounded > most) most = rounded;
    }
    this.#addEach(count, least, most, (points) => weight * spreadScore(points, least, most, this.#max));
  }

  /** Number of different values of the label among the compared nodes; nodes without the label count as one more value if they are compared. */
  #domains({ view: { topology } }: CountedConstraint, count: number, comparesAll: boolean): number {
    if (this.#seenDomains.length < topology.count) this.#seenDomains = new Int32Array(topology.count * 2);
    this.#pass += 1;
    const passing = this.#passing;
    const raw = this.#raw;
    const seen = this.#seenDomains;
    const pass = this.#pass;
    const { domains } = topology;
    let found = 0;
    let without = 0;
    for (let at = 0; at < count; at++) {
      const domain = domains[passing[at] ?? 0] ?? -1;
      if (domain < 0) without = 1;
      if (domain < 0 || seen[domain] === pass || Number.isNaN(raw[at])) continue;
      seen[domain] = pass;
      found += 1;
    }
    return found + (comparesAll ? without : 0);
  }

  #addNeighbours({ points }: TopologyClass, count: number, weight: number): void {
    const passing = this.#passing;
    const raw = this.#raw;
    raw.fill(0, 0, count);
    for (const { topology, counts } of points) {
      const { domains } = topology;
      for (let at = 0; at < count; at++) {
        const domain = domains[passing[at] ?? 0] ?? -1;
        if (domain >= 0) raw[at] = (raw[at] ?? 0) + (counts[domain] ?? 0);
      }
    }
    let least = Infinity;
    let most = -Infinity;
    for (let at = 0; at < count; at++) {
      const found = raw[at] ?? 0;
      if (found < least) least = found;
      if (found > most) most = found;
    }
    this.#addEach(count, least, most, (found) => weight * neighbourScore(found, least, most, this.#max));
  }

  /**
   * Adds the points for raw points, which are integers from `least` to `most`. If many nodes have few different ones, the points for each are computed once.
   * @param least - may be more than `most` if no node is compared
   */
  #addEach(count: number, least: number, most: number, pointsOf: (raw: number) => number): void {
    const raw = this.#raw;
    const totals = this.#totals;
    const different = most - least + 1;
    if (different > count || different > MAX_TABLE_SIZE) {
      for (let at = 0; at < count; at++) {
        const points = raw[at] ?? NaN;
        if (!Number.isNaN(points)) totals[at] = (totals[at] ?? 0) + pointsOf(points);
      }
      return;
    }
    const table = this.#table;
    for (let at = 0; at < different; at++) table[at] = pointsOf(least + at);
    for (let at = 0; at < count; at++) {
      const points = raw[at] ?? NaN;
      if (!Number.isNaN(points)) totals[at] = (totals[at] ?? 0) + (table[points - least] ?? 0);
    }
  }

  #grow(): void {
    const slots = this.#cluster.slotCount;
    if (this.#passing.length >= slots) return;
    this.#passing = grown(this.#passing, slots, (length) => new Int32Array(length));
    this.#totals = grown(this.#totals, slots, (length) => new Float64Array(length));
    this.#raw = grown(this.#raw, slots, (length) => new Float64Array(length));
  }
}
