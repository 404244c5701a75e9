import { labelSelectorOf, matchesLabels, type LabelSelector } from '../../../../kube/api/selector.ts';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { spreadConstraintsOf, type SpreadConstraint } from '../../../../scheduler/pod/selectors.ts';
import { labelOf, type OracleCluster, type Place, type World } from './cluster.ts';
import { isAllowedByTaints, isChosenByPod } from './node-rules.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const MISSING = "node(s) didn't match pod topology spread constraints (missing required label)";
const SKEWED = "node(s) didn't match pod topology spread constraints";

const systemDefaults = Object.entries({ [HOSTNAME]: 5, [ZONE]: 3 }).map(([topologyKey, maxSkew]) => ({ topologyKey, maxSkew }));

/** What a constraint asks, whoever made it. */
type Rule = Pick<SpreadConstraint, 'topologyKey' | 'maxSkew' | 'selector' | 'honorsAffinity' | 'honorsTaints'>;

/** The first constraint that speaks against a place gives the reason. */
export function spreadRejection(world: World, place: Place, pod: PodInfo): { reason: string; resolvable: boolean } | undefined {
  const { hard } = spreadConstraintsOf(pod.pod.spec?.topologySpreadConstraints, pod.labels);
  for (const rule of hard) {
    const value = labelOf(place, rule.topologyKey);
    if (value === undefined) return { reason: MISSING, resolvable: false };
    const eligible = world.places.filter((other) => hasAllKeys(other, hard) && takesPart(other, rule, pod));
    const counts = new Map<string, number>();
    for (const other of eligible) {
      const domain = labelOf(other, rule.topologyKey) ?? '';
      counts.set(domain, (counts.get(domain) ?? 0) + counted(other, rule.selector, pod));
    }
    const least = counts.size < rule.minDomains ? 0 : Math.min(...counts.values());
    const itself = selects(rule.selector, pod.labels) ? 1 : 0;
    if ((counts.get(value) ?? 0) + itself - least > rule.maxSkew) return { reason: SKEWED, resolvable: true };
  }
  return undefined;
}

/** 100 for the emptiest domains. Places without a label that is asked for get 0, but for rules that everybody has: those count what there is. */
export function spreadScores(world: World, feasible: readonly Place[], pod: PodInfo, profile: ProfileConfig): Map<string, number> {
  const { rules, needsAllKeys } = softRules(world.cluster, pod, profile);
  if (rules.length === 0) return new Map(feasible.map(({ name }) => [name, 0]));
  const compared = feasible.filter((place) => !needsAllKeys || hasAllKeys(place, rules));
  const raw = new Map(compared.map((place) => [place.name, crowd(world, place, pod, { rules, needsAllKeys, compared })]));
  const least = Math.min(...raw.values());
  const most = Math.max(...raw.values());
  return new Map(
    feasible.map(({ name }) => {
      const value = raw.get(name);
      return [name, value === undefined ? 0 : most === 0 ? 100 : Math.floor((100 * (most + least - value)) / most)];
    }),
  );
}

interface Comparison {
  readonly rules: readonly Rule[];
  readonly needsAllKeys: boolean;
  readonly compared: readonly Place[];
}

/** How many like this pod are around a place, over all rules. More domains make each pod count more. */
function crowd(world: World, place: Place, pod: PodInfo, { rules, needsAllKeys, compared }: Comparison): number {
  let sum = 0;
  for (const rule of rules) {
    const { topologyKey, selector, maxSkew } = rule;
    const value = labelOf(place, topologyKey);
    if (value === undefined) continue;
    // Places without the label are together in a domain of their own, as far as the number of domains goes.
    const domains = topologyKey === HOSTNAME ? compared.length : new Set(compared.map((other) => labelOf(other, topologyKey) ?? '')).size;
    const around =
      topologyKey === HOSTNAME
        ? [place]
        : world.places.filter(
            (other) =>
              (labelOf(other, topologyKey) ?? '') === value && (!needsAllKeys || hasAllKeys(other, rules)) && takesPart(other, rule, pod),
          );
    const count = around.reduce((all, other) => all + counted(other, selector, pod), 0);
    sum += count * Math.log(domains + 2) + (maxSkew - 1);
  }
  return Math.round(sum); // never negative, so halves go away from zero
}

/** The pod's own, or the profile's where the pod has none at all and is one of several that something keeps. */
function softRules(cluster: OracleCluster, pod: PodInfo, { spread }: ProfileConfig): { rules: readonly Rule[]; needsAllKeys: boolean } {
  const own = pod.pod.spec?.topologySpreadConstraints ?? [];
  if (own.length > 0) return { rules: spreadConstraintsOf(own, pod.labels).soft, needsAllKeys: true };
  const selector = groupOf(cluster, pod);
  const defaults = spread.defaults === 'system' ? systemDefaults : spread.defaults;
  const rules = selector.length === 0 ? [] : defaults.map((rule) => ({ ...rule, selector, honorsAffinity: true, honorsTaints: false }));
  return { rules, needsAllKeys: spread.defaults !== 'system' };
}

/** Who belongs together with a pod: whom its services mean, and its controller's selector besides. Empty when nobody says. */
export function groupOf({ services, replicationControllers, replicaSets, statefulSets }: OracleCluster, pod: PodInfo): LabelSelector {
  const all: LabelSelector[] = [];
  for (const { metadata, spec } of services)
    if (metadata.namespace === pod.namespace && spec?.selector) {
      const selector = labelSelectorOf({ matchLabels: spec.selector });
      if (matchesLabels(selector, pod.labels)) all.push(selector);
    }
  const owner = pod.pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
  const isOwner = ({ metadata }: { metadata: { name?: string; namespace?: string } }): boolean =>
    metadata.namespace === pod.namespace && metadata.name === owner?.name;
  switch (`${owner?.apiVersion}/${owner?.kind}`) {
    case 'v1/ReplicationController':
      all.push(labelSelectorOf({ matchLabels: replicationControllers.find(isOwner)?.spec?.selector ?? {} }));
      break;
    case 'apps/v1/ReplicaSet':
      all.push(labelSelectorOf(replicaSets.find(isOwner)?.spec?.selector ?? {}));
      break;
    case 'apps/v1/StatefulSet':
      all.push(labelSelectorOf(statefulSets.find(isOwner)?.spec?.selector ?? {}));
      break;
    default:
  }
  return all.flat();
}

/** Pods of the same namespace that are meant and not on their way out. */
function counted({ pods }: Place, selector: LabelSelector | undefined, { namespace }: PodInfo): number {
  return pods.filter((other) => other.namespace === namespace && !other.terminating && selects(selector, other.labels)).length;
}

function selects(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  return selector !== undefined && matchesLabels(selector, labels);
}

function hasAllKeys(place: Place, rules: readonly { topologyKey: string }[]): boolean {
  return rules.every(({ topologyKey }) => labelOf(place, topologyKey) !== undefined);
}

function takesPart(place: Place, { honorsAffinity, honorsTaints }: Rule, pod: PodInfo): boolean {
  return (!honorsAffinity || isChosenByPod(place, pod)) && (!honorsTaints || isAllowedByTaints(place, pod));
}
