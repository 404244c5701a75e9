import type { CarriedTerm } from '../cache/carried-terms.ts';
import type { Cluster } from '../cache/cluster.ts';
import type { Counter } from '../cache/counter.ts';
import { DomainCounts, type Eligible } from '../cache/domain-counts.ts';
import { labelsKey, type GroupMatch, type PodGroup } from '../cache/pod-groups.ts';
import type { ProfileConfig } from '../config/config.ts';
import { matchesLabels, type LabelSelector } from '../../kube/api/selector.ts';
import type { PodNeighbours } from '../plugins/inter-pod-affinity.ts';
import type { CountedConstraint } from '../plugins/pod-topology-spread.ts';
import { termMatches, type AffinityTerm } from '../pod/affinity-terms.ts';
import { compactKey } from '../pod/compact-key.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { selectorText } from '../pod/read-selector.ts';
import { spreadConstraintsOf, type SpreadConstraint } from '../pod/spread-constraints.ts';
import type { StaticClass } from './static-class.ts';

/** The selector by which a pod's siblings are found: of its services and its controller. Undefined: nobody's. */
export type SiblingsOf = (pod: PodInfo) => { readonly id: string; readonly selector: LabelSelector } | undefined;

/** What a pod asks of other pods, and what it is to them. */
export function wideKey(pod: PodInfo, siblings: string, staticKey: string): string {
  const constraints = pod.pod.spec?.topologySpreadConstraints;
  const { podAffinity, podAntiAffinity } = pod.pod.spec?.affinity ?? {};
  const spread = constraints?.length ? [constraints, staticKey] : siblings === '' ? null : [siblings, staticKey];
  return compactKey(JSON.stringify([pod.namespace, labelsKey(pod.labels), podAffinity ?? null, podAntiAffinity ?? null, spread]));
}

/** Rules about other pods, for pods that have the same ones and are the same to others. Counts behind them are kept up to date pod by pod. */
export class WideClass implements PodNeighbours {
  readonly #pod: PodInfo;
  readonly #cluster: Cluster;
  readonly #profile: ProfileConfig;
  readonly #views: DomainCounts[] = [];
  readonly #matches = new Map<CountedConstraint, GroupMatch>();
  readonly #termsOf = new Map<DomainCounts, readonly AffinityTerm[]>();
  readonly #own: { view: DomainCounts; weight: number }[] = [];
  #carriedAt = -1;
  #carriedViews: { view: DomainCounts; of: CarriedTerm }[] = [];
  #existingAnti: readonly DomainCounts[] = [];
  #points: readonly { view: DomainCounts; weight: number }[] = [];
  readonly affinity: readonly DomainCounts[];
  readonly matchesItself: boolean;
  readonly anti: readonly DomainCounts[];
  readonly hard: readonly CountedConstraint[];
  readonly soft: readonly CountedConstraint[];
  /** Nodes without a label that rules about points name are not compared; those of the system's own rules are. */
  readonly comparesAll: boolean;

  constructor(pod: PodInfo, parts: WideParts) {
    this.#pod = pod;
    this.#cluster = parts.cluster;
    this.#profile = parts.profile;
    const { required, requiredAnti, preferred, preferredAnti } = pod.terms;
    const { filters, scores } = parts.profile;
    const filtersByPods = filters.has('InterPodAffinity');
    const all = filtersByPods && required.length > 0 ? this.#counterOfAll(required) : undefined;
    this.affinity = all === undefined ? [] : required.map(({ topologyKey }) => this.#view(all, topologyKey));
    this.matchesItself = required.every((term) => this.#means(term));
    this.anti = filtersByPods ? requiredAnti.map((term) => this.#view(this.#counterOf(term), term.topologyKey)) : [];
    if (scores.has('InterPodAffinity')) {
      for (const [terms, sign] of [[preferred, 1] as const, [preferredAnti, -1] as const])
        for (const { term, weight } of terms)
          this.#own.push({ view: this.#view(this.#counterOf(term), term.topologyKey), weight: sign * weight });
    }
    const own = spreadConstraintsOf(pod.pod.spec?.topologySpreadConstraints, pod.labels);
    const hasOwn = own.hard.length + own.soft.length > 0;
    const siblings = hasOwn ? undefined : parts.siblingsOf(pod);
    const defaults = siblings === undefined ? [] : defaultConstraints(parts.profile, siblings);
    this.comparesAll = !hasOwn && parts.profile.spread.defaults === 'system';
    this.hard = filters.has('PodTopologySpread') ? this.#counted(own.hard, parts.statics, true) : [];
    this.soft = scores.has('PodTopologySpread') ? this.#counted(hasOwn ? own.soft : defaults, parts.statics, !this.comparesAll) : [];
  }

  get existingAnti(): readonly DomainCounts[] {
    return this.#existingAnti;
  }

  get points(): readonly { view: DomainCounts; weight: number }[] {
    return this.#points;
  }

  /** Pods elsewhere have no say: neither in whether a node will do, nor in how good it is. */
  get isIndifferent(): boolean {
    return !this.hasFilters && this.#points.length === 0 && this.soft.length === 0;
  }

  get hasFilters(): boolean {
    return this.hard.length + this.affinity.length + this.anti.length + this.#existingAnti.length > 0;
  }

  refresh(): void {
    const { carried } = this.#cluster;
    if (this.#carriedAt !== carried.version) {
      this.#carriedAt = carried.version;
      this.#listCarried(carried.all());
    }
    for (const view of this.#views) view.refresh();
    for (const { view } of this.#carriedViews) view.refresh();
  }

  /** Counts that this class needs, so that they are kept. */
  *counters(): Iterable<Counter> {
    for (const view of this.#views) yield view.counter;
  }

  close(): void {
    for (const view of this.#views) view.close();
    for (const { view } of this.#carriedViews) view.close();
  }

  /** Whether this rule counts that pod. */
  countsIn(constraint: CountedConstraint, other: PodInfo): boolean {
    return this.#matches.get(constraint)?.(other) ?? false;
  }

  /** How much one more of that pod would add to a view of this class. */
  addsTo(view: DomainCounts, other: PodInfo): number {
    const terms = this.#termsOf.get(view);
    if (terms !== undefined) return terms.every((term) => this.#termMeans(term, other)) ? 1 : 0;
    const carried = this.#carriedViews.find((one) => one.view === view)?.of;
    if (carried === undefined) return 0;
    return other.terms.requiredAnti.filter(({ id }) => id === carried.term.id).length;
  }

  /** Anti-affinity of that pod means this one: it would have to be kept apart from it although no pod on a node says so yet. By label of the node. */
  antiOf(other: PodInfo): readonly string[] {
    if (!this.#profile.filters.has('InterPodAffinity')) return [];
    return other.terms.requiredAnti.filter((term) => this.#means(term)).map(({ topologyKey }) => topologyKey);
  }

  #counted(constraints: readonly SpreadConstraint[], statics: StaticClass, needsAll: boolean): CountedConstraint[] {
    const keys = needsAll ? constraints.map(({ topologyKey }) => topologyKey) : [];
    return constraints.map((constraint) => {
      const { selector, topologyKey, honorsAffinity, honorsTaints, maxSkew, minDomains } = constraint;
      const { namespace } = this.#pod;
      const means: GroupMatch = (other) =>
        !other.terminating && other.namespace === namespace && selector !== undefined && matchesLabels(selector, other.labels);
      const counter = this.#cluster.groups.counter(`spread ${namespace} ${selectorText(selector)}`, means, false);
      const view = this.#view(counter, topologyKey, statics.eligible(honorsAffinity, honorsTaints, keys));
      const selfMatch = means(this.#pod) ? 1 : 0;
      const counted = { maxSkew, minDomains, selfMatch, view, isHostname: topologyKey === 'kubernetes.io/hostname' } as const;
      this.#matches.set(counted, means);
      return counted;
    });
  }

  #view(counter: Counter | { counter: Counter; terms: readonly AffinityTerm[] }, key: string, eligible?: Eligible): DomainCounts {
    const of = 'terms' in counter ? counter.counter : counter;
    const view = new DomainCounts(of, key, this.#cluster.topologies, () => this.#cluster.slotCount, eligible);
    if ('terms' in counter) this.#termsOf.set(view, counter.terms);
    this.#views.push(view);
    return view;
  }

  #counterOf(term: AffinityTerm): { counter: Counter; terms: readonly AffinityTerm[] } {
    return this.#counterOfAll([term]);
  }

  #counterOfAll(terms: readonly AffinityTerm[]): { counter: Counter; terms: readonly AffinityTerm[] } {
    const id = `terms ${terms.map((term) => term.id).join(' ')}`;
    const byNamespace = terms.some(({ namespaceSelector }) => namespaceSelector !== undefined);
    const means = (group: Pick<PodGroup, 'namespace' | 'labels'>): boolean => terms.every((term) => this.#termMeans(term, group));
    return { counter: this.#cluster.groups.counter(id, means, byNamespace), terms };
  }

  #listCarried(all: Iterable<CarriedTerm>): void {
    const { filters, scores, interPod } = this.#profile;
    const before = new Map(this.#carriedViews.map(({ view, of }) => [of, view]));
    this.#carriedViews = [];
    const anti: DomainCounts[] = [];
    const points = [...this.#own];
    const hasPreferred = this.#pod.terms.preferred.length + this.#pod.terms.preferredAnti.length > 0;
    const ignoresPreferred = interPod.ignorePreferredTermsOfExistingPods && !hasPreferred;
    for (const carried of all) {
      const weight = pointsOf(carried, interPod.hardPodAffinityWeight);
      const isFilter = carried.kind === 'requiredAnti' && filters.has('InterPodAffinity');
      const isScore = weight !== 0 && scores.has('InterPodAffinity') && !ignoresPreferred;
      if ((!isFilter && !isScore) || !this.#means(carried.term)) continue;
      const view =
        before.get(carried) ??
        new DomainCounts(carried.counter, carried.term.topologyKey, this.#cluster.topologies, () => this.#cluster.slotCount);
      before.delete(carried);
      this.#carriedViews.push({ view, of: carried });
      if (isFilter) anti.push(view);
      if (isScore) points.push({ view, weight });
    }
    for (const view of before.values()) view.close();
    this.#existingAnti = anti;
    this.#points = points;
  }

  #means(term: AffinityTerm): boolean {
    return this.#termMeans(term, this.#pod);
  }

  #termMeans(term: AffinityTerm, { namespace, labels }: Pick<PodGroup, 'namespace' | 'labels'>): boolean {
    return termMatches(term, namespace, labels, this.#cluster.namespaceLabels);
  }
}

export interface WideParts {
  cluster: Cluster;
  profile: ProfileConfig;
  statics: StaticClass;
  siblingsOf: SiblingsOf;
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
