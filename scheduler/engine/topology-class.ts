import { CarriedSum, type CarriedTerm } from '../cache/carried-terms.ts';
import type { Cluster } from '../cache/cluster.ts';
import { type Counter, DomainCounts, type Eligible } from '../cache/counts.ts';
import { labelsKey, type PodGroup, type Weigh } from '../cache/pod-groups.ts';
import type { ProfileConfig } from '../config/config.ts';
import { type LabelSelector, matchesLabels } from '../../kube/api/selector.ts';
import type { PodNeighbours } from '../plugins/inter-pod-affinity.ts';
import type { CountedConstraint } from '../plugins/pod-topology-spread.ts';
import { type AffinityTerm, compactKey, selectorText, type SpreadConstraint, spreadConstraintsOf, termMatches } from '../pod/selectors.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { NodeSpecClass } from './node-spec-class.ts';

/** The selector by which a pod's siblings are found: of its Services and its controller. Undefined: it has none. */
export type DefaultSelectorOf = (pod: PodInfo) => { readonly id: string; readonly selector: LabelSelector } | undefined;

/** Key of a pod's rules about other pods, and of the fields that the rules of other pods read. */
export function topologyClassKey(pod: PodInfo, siblings: string, nodeSpecKey: string): string {
  const constraints = pod.pod.spec?.topologySpreadConstraints;
  const { podAffinity, podAntiAffinity } = pod.pod.spec?.affinity ?? {};
  const spread = constraints?.length ? [constraints, nodeSpecKey] : siblings === '' ? null : [siblings, nodeSpecKey];
  return compactKey(JSON.stringify([pod.namespace, labelsKey(pod.labels), podAffinity ?? null, podAntiAffinity ?? null, spread]));
}

/** How much one more such pod adds to a view. */
type Adds = (pod: PodInfo) => number;

/** For one topology key: counts of the assigned pods whose terms select this pod, for filtering or scoring. */
interface Carried {
  readonly sum: CarriedSum;
  readonly view: DomainCounts;
  readonly isFilter: boolean;
}

interface Weighted {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/**
 * Rules about other pods, shared by pods with the same rules to which the rules of other pods apply in the same way. Counts are updated pod by pod; all terms
 * with the same topology key share one count, because a node gets their sum.
 */
export class TopologyClass implements PodNeighbours {
  /** The fields that rules of other pods read. */
  readonly #pod: Pick<PodInfo, 'namespace' | 'labels' | 'terminating'>;
  readonly #cluster: Cluster;
  readonly #profile: ProfileConfig;
  readonly #hasPreferred: boolean;
  readonly #views: DomainCounts[] = [];
  readonly #eligible = new Map<string, Eligible>();
  readonly #matches = new Map<CountedConstraint, Adds>();
  readonly #adds = new Map<DomainCounts, Adds>();
  readonly #own: DomainCounts[] = [];
  readonly #carried = new Map<string, Carried>();
  #carriedTo = 0;
  #removalsTo = -1;
  #existingAnti: readonly DomainCounts[] = [];
  #points: readonly DomainCounts[] = [];
  /** Rules about labels that no node had are left out: they make no difference until a node has the label. */
  #leavesOut = false;
  #keysAt: number;
  /** Number of its own terms and constraints: what it costs when a new group of pods appears. */
  readonly rules: number;
  readonly affinity: readonly DomainCounts[];
  readonly matchesItself: boolean;
  readonly anti: readonly DomainCounts[];
  readonly hard: readonly CountedConstraint[];
  readonly soft: readonly CountedConstraint[];
  /** Whether scores compare nodes without the labels of the constraints too: only with the system default constraints. */
  readonly comparesAll: boolean;

  constructor(pod: PodInfo, parts: TopologyClassParts) {
    const { namespace, labels } = pod;
    // A pod that is scheduled is not terminating, and the class is for all pods like this one.
    this.#pod = { namespace, labels, terminating: false };
    this.#cluster = parts.cluster;
    this.#profile = parts.profile;
    this.#keysAt = parts.cluster.topologies.keysVersion;
    const { required, requiredAnti, preferred, preferredAnti } = pod.terms;
    this.#hasPreferred = preferred.length + preferredAnti.length > 0;
    const { filters, scores } = parts.profile;
    const filtersByPods = filters.has('InterPodAffinity');
    this.affinity = filtersByPods ? this.#affinityViews(required) : [];
    this.matchesItself = required.every((term) => this.#isSelectedBy(term));
    this.anti = filtersByPods ? this.#summed(requiredAnti.map((term) => ({ term, weight: 1 }))) : [];
    if (scores.has('InterPodAffinity'))
      this.#own.push(...this.#summed([...preferred, ...preferredAnti.map(({ term, weight }) => ({ term, weight: -weight }))]));
    const own = spreadConstraintsOf(pod.pod.spec?.topologySpreadConstraints, pod.labels);
    const hasOwn = own.hard.length + own.soft.length > 0;
    const siblings = hasOwn ? undefined : parts.defaultSelectorOf(pod);
    const defaults = siblings === undefined ? [] : defaultConstraints(parts.profile, siblings);
    this.comparesAll = !hasOwn && parts.profile.spread.defaults === 'system';
    this.hard = filters.has('PodTopologySpread') ? this.#counted(own.hard, parts.nodeSpec, true) : [];
    this.soft = scores.has('PodTopologySpread') ? this.#counted(hasOwn ? own.soft : defaults, parts.nodeSpec, !this.comparesAll) : [];
    this.rules = required.length + requiredAnti.length + preferred.length + preferredAnti.length + this.hard.length + this.soft.length;
  }

  get existingAnti(): readonly DomainCounts[] {
    return this.#existingAnti;
  }

  /** Points for each pod in the node's domain, weights included. */
  get points(): readonly DomainCounts[] {
    return this.#points;
  }

  /** Other pods affect neither the feasibility of a node nor its score. */
  get isIndifferent(): boolean {
    return !this.hasFilters && this.#points.length === 0 && this.soft.length === 0;
  }

  get hasFilters(): boolean {
    return this.hard.length + this.affinity.length + this.anti.length + this.#existingAnti.length > 0;
  }

  /** A node may have a label now that was left out: the class must be built again. */
  get isStale(): boolean {
    return this.#leavesOut && this.#keysAt !== this.#cluster.topologies.keysVersion;
  }

  /** Approximate size of its columns in bytes. */
  get bytes(): number {
    const slots = 4 * this.#cluster.slotCount;
    let bytes = 0;
    for (const view of this.#views) bytes += view.bytes + slots;
    for (const { view } of this.#carried.values()) bytes += view.bytes + slots;
    return bytes;
  }

  /** Does a part of {@link refresh}. @returns whether no long work is left */
  advance(isOver: () => boolean): boolean {
    for (const counter of this.counters()) if (!this.#cluster.groups.fill(counter, isOver)) return false;
    return this.#follow(isOver);
  }

  refresh(): void {
    for (const { counter } of this.#views) this.#cluster.groups.fill(counter);
    this.#follow();
    for (const view of this.#views) view.refresh();
    for (const { view } of this.#carried.values()) view.refresh();
  }

  /** Counts that this class needs, so that they are kept. */
  *counters(): Iterable<Counter> {
    for (const view of this.#views) yield view.counter;
  }

  close(): void {
    for (const view of this.#views) view.close();
    for (const key of this.#carried.keys()) this.#unfollow(key);
  }

  /** Whether this rule counts that pod. */
  countsIn(constraint: CountedConstraint, other: PodInfo): boolean {
    return this.#matches.get(constraint)?.(other) === 1;
  }

  /** How much one more of that pod would add to a view of this class. */
  addsTo(view: DomainCounts, other: PodInfo): number {
    return this.#adds.get(view)?.(other) ?? 0;
  }

  /** Topology keys of the required anti-affinity terms of that pod that select this one, also if no assigned pod has such a term yet. */
  antiOf(other: PodInfo): readonly string[] {
    if (!this.#profile.filters.has('InterPodAffinity')) return [];
    return other.terms.requiredAnti.filter((term) => this.#isSelectedBy(term)).map(({ topologyKey }) => topologyKey);
  }

  #counted(constraints: readonly SpreadConstraint[], nodeSpec: NodeSpecClass, needsAll: boolean): CountedConstraint[] {
    const keys = needsAll ? constraints.map(({ topologyKey }) => topologyKey) : [];
    return constraints.map((constraint) => {
      const { selector, topologyKey, honorsAffinity, honorsTaints, maxSkew, minDomains } = constraint;
      const { namespace } = this.#pod;
      const counts = (other: Pick<PodGroup, 'namespace' | 'labels' | 'terminating'>): 0 | 1 =>
        !other.terminating && other.namespace === namespace && selector !== undefined && matchesLabels(selector, other.labels) ? 1 : 0;
      const id = compactKey(`spread ${namespace} ${selectorText(selector)}`);
      const counter = this.#cluster.groups.counter(id, counts, false);
      // The keys themselves: hard and soft constraints may have equally many, but different ones.
      const asked = `${honorsAffinity} ${honorsTaints} ${keys.join(' ')}`;
      const eligible = this.#eligible.get(asked) ?? nodeSpec.eligible(honorsAffinity, honorsTaints, keys);
      this.#eligible.set(asked, eligible);
      const view = this.#view(counter, topologyKey, eligible);
      const isHostname = topologyKey === 'kubernetes.io/hostname';
      const counted = { maxSkew, minDomains, selfMatch: counts(this.#pod), view, isHostname } as const;
      this.#matches.set(counted, counts);
      return counted;
    });
  }

  #view(counter: Counter, key: string, eligible?: Eligible): DomainCounts {
    const view = new DomainCounts(counter, key, this.#cluster.topologies, () => this.#cluster.slotCount, eligible);
    this.#views.push(view);
    return view;
  }

  /** By topology key: pods that match all terms. */
  #affinityViews(terms: readonly AffinityTerm[]): DomainCounts[] {
    if (terms.length === 0) return [];
    const { namespaceLabels, groups } = this.#cluster;
    const matchesAll: Adds = ({ namespace, labels }) =>
      terms.every((term) => termMatches(term, namespace, labels, namespaceLabels)) ? 1 : 0;
    const counter = groups.counter(
      compactKey(`terms ${terms.map(({ id }) => id).join(' ')}`),
      matchesAll as Weigh,
      terms.some(({ namespaceSelector }) => namespaceSelector !== undefined),
    );
    return this.#present(new Set(terms.map(({ topologyKey }) => topologyKey)), 1).map((key) => {
      const view = this.#view(counter, key);
      this.#adds.set(view, matchesAll);
      return view;
    });
  }

  /** By topology key: how many pods the terms match, multiplied by their weights. */
  #summed(terms: readonly Weighted[]): DomainCounts[] {
    const { namespaceLabels, groups } = this.#cluster;
    const byKey = Map.groupBy(terms, ({ term }) => term.topologyKey);
    return this.#present(byKey.keys(), 0).map((key) => {
      const of = byKey.get(key) ?? [];
      const adds: Adds = ({ namespace, labels }) => {
        let sum = 0;
        for (const { term, weight } of of) if (termMatches(term, namespace, labels, namespaceLabels)) sum += weight;
        return sum;
      };
      const id =
        of.length === 1 && of[0]?.weight === 1
          ? `terms ${of[0].term.id}`
          : `sum ${of.map(({ term, weight }) => `${weight} ${term.id}`).join(' ')}`;
      const byNamespace = of.some(({ term }) => term.namespaceSelector !== undefined);
      const view = this.#view(groups.counter(compactKey(id), adds as Weigh, byNamespace), key);
      this.#adds.set(view, adds);
      return view;
    });
  }

  /** Keys that some node has. @param others - plus up to this many keys that no node has: by those, all nodes are alike */
  #present(keys: Iterable<string>, others: number): string[] {
    const { topologies } = this.#cluster;
    let left = others;
    return [...keys].filter((key) => {
      if (topologies.has(key)) return true;
      left -= 1;
      if (left < 0) this.#leavesOut = true;
      return left >= 0;
    });
  }

  /** Processes terms of assigned pods that were added or removed since the last call. @returns whether all were processed */
  #follow(isOver: () => boolean = () => false): boolean {
    const { carried } = this.#cluster;
    if (this.#carriedTo === carried.last && this.#removalsTo === carried.removals) return true;
    for (const term of carried.since(this.#carriedTo)) {
      this.#followTerm(term);
      this.#carriedTo = term.serial;
      if (isOver()) {
        // Also after the last term: the views below are not built yet.
        this.#removalsTo = -1;
        return false;
      }
    }
    this.#carriedTo = carried.last;
    this.#removalsTo = carried.removals;
    for (const [key, { sum }] of this.#carried) if (sum.terms.size === 0) this.#unfollow(key);
    const all = [...this.#carried.values()];
    this.#existingAnti = all.flatMap(({ isFilter, view }) => (isFilter ? view : []));
    this.#points = [...this.#own, ...all.flatMap(({ isFilter, view }) => (isFilter ? [] : view))];
    return true;
  }

  #followTerm(carried: CarriedTerm): void {
    const { filters, scores, interPod } = this.#profile;
    const { term, kind } = carried;
    const isFilter = kind === 'requiredAnti';
    const ignoresPreferred = interPod.ignorePreferredTermsOfExistingPods && !this.#hasPreferred;
    const weight = isFilter ? 1 : pointsOf(carried, interPod.hardPodAffinityWeight);
    const isAsked = isFilter ? filters.has('InterPodAffinity') : scores.has('InterPodAffinity') && !ignoresPreferred;
    if (!isAsked || weight === 0 || !this.#isSelectedBy(term)) return;
    if (!this.#cluster.topologies.has(term.topologyKey)) {
      this.#leavesOut = true;
      return;
    }
    this.#sumOf(term.topologyKey, isFilter).add(carried, weight);
  }

  #sumOf(topologyKey: string, isFilter: boolean): CarriedSum {
    const key = `${isFilter ? 'anti' : 'points'} ${topologyKey}`;
    const known = this.#carried.get(key);
    if (known !== undefined) return known.sum;
    const sum = new CarriedSum();
    const view = new DomainCounts(sum.counter, topologyKey, this.#cluster.topologies, () => this.#cluster.slotCount);
    this.#carried.set(key, { sum, view, isFilter });
    if (isFilter)
      this.#adds.set(
        view,
        ({ terms }) => terms.requiredAnti.filter((term) => term.topologyKey === topologyKey && this.#isSelectedBy(term)).length,
      );
    return sum;
  }

  #unfollow(key: string): void {
    const carried = this.#carried.get(key);
    if (carried === undefined) return;
    carried.sum.close();
    carried.view.close();
    this.#adds.delete(carried.view);
    this.#carried.delete(key);
  }

  #isSelectedBy(term: AffinityTerm): boolean {
    const { namespace, labels } = this.#pod;
    return termMatches(term, namespace, labels, this.#cluster.namespaceLabels);
  }
}

export interface TopologyClassParts {
  cluster: Cluster;
  profile: ProfileConfig;
  nodeSpec: NodeSpecClass;
  defaultSelectorOf: DefaultSelectorOf;
}

function pointsOf({ kind, weight }: CarriedTerm, hardWeight: number): number {
  switch (kind) {
    case 'preferred':
      return weight;
    case 'preferredAnti':
      return -weight;
    case 'required':
      return hardWeight;
    case 'requiredAnti':
      return 0;
  }
}

function defaultConstraints(
  { spread: { defaults } }: ProfileConfig,
  { id, selector }: { id: string; selector: LabelSelector },
): SpreadConstraint[] {
  const system = [
    { topologyKey: 'kubernetes.io/hostname', maxSkew: 5 },
    { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 3 },
  ];
  return (defaults === 'system' ? system : defaults).map(({ topologyKey, maxSkew }) => ({
    id: `default ${topologyKey} ${maxSkew} ${id}`,
    topologyKey,
    maxSkew,
    minDomains: 1,
    selector,
    honorsAffinity: true,
    honorsTaints: false,
  }));
}
