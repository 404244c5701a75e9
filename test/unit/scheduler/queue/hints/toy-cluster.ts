import { matchesLabels } from '../../../../../kube/api/selector.ts';
import type { Rejector } from '../../../../../scheduler/plugins/names.ts';
import { type AffinityTerm, type SpreadConstraint, spreadConstraintsOf, termMatches } from '../../../../../scheduler/pod/selectors.ts';
import type { PodInfo } from '../../../../../scheduler/pod/pod-info.ts';
import type { Node } from '../../../../../scheduler/types.ts';

export interface Verdict {
  fits: boolean;
  by: Set<Rejector>;
  short: Set<string>;
}

type Labels = Record<string, string>;
const labelsOf = (node: Node): Labels => node.metadata.labels ?? {};
const amount = (node: Node, resource: string) => Number(node.status?.allocatable?.[resource] ?? 0);

/** A few nodes and pods, and all that can keep a pod from a node, looked up anew at each question. Amounts are whole numbers, labels of nodes are matched by `nodeSelector` alone. */
export class ToyCluster {
  readonly nodes = new Map<string, Node>();
  /** Also pods of nodes that are gone: those are nowhere until the node is back. */
  readonly pods = new Map<string, PodInfo>();
  readonly namespaces = new Map<string, Labels>();

  judge(pod: PodInfo): Verdict {
    const verdict: Verdict = { fits: false, by: new Set(), short: new Set() };
    for (const node of this.nodes.values()) {
      const rejector = this.#rejector(pod, node, verdict.short);
      if (rejector === undefined) verdict.fits = true;
      else verdict.by.add(rejector);
    }
    return verdict;
  }

  #on(node: Node): PodInfo[] {
    return [...this.pods.values()].filter(({ nodeName }) => nodeName === node.metadata.name);
  }

  #rejector(pod: PodInfo, node: Node, short: Set<string>): Rejector | undefined {
    const here = this.#on(node);
    if (node.spec?.unschedulable === true && !tolerates(pod, 'node.kubernetes.io/unschedulable', 'NoSchedule')) return 'NodeUnschedulable';
    if (!toleratesAll(pod, node)) return 'TaintToleration';
    if (!selects(pod, node)) return 'NodeAffinity';
    if (here.some(({ ports }) => ports.some((used) => pod.ports.some((wanted) => sameNumber(used, wanted) && sameAddress(used, wanted)))))
      return 'NodePorts';
    const lacking = lacks(pod, node, here);
    for (const resource of lacking) short.add(resource);
    if (lacking.length > 0) return 'NodeResourcesFit';
    if (!this.#isSpread(pod, node)) return 'PodTopologySpread';
    return this.#isAmongFriends(pod, node) ? undefined : 'InterPodAffinity';
  }

  #isSpread(pod: PodInfo, node: Node): boolean {
    const { hard } = spreadConstraintsOf(pod.pod.spec?.topologySpreadConstraints, pod.labels);
    const labelled = [...this.nodes.values()].filter((other) =>
      hard.every(({ topologyKey }) => labelsOf(other)[topologyKey] !== undefined),
    );
    return hard.every((constraint) => {
      const { topologyKey, honorsAffinity, honorsTaints, selector, minDomains, maxSkew } = constraint;
      const domain = labelsOf(node)[topologyKey];
      if (domain === undefined) return false;
      const counts = new Map<string, number>();
      for (const other of labelled) {
        if ((honorsAffinity && !selects(pod, other)) || (honorsTaints && !toleratesAll(pod, other))) continue;
        const found = this.#on(other).filter((one) => one.namespace === pod.namespace && !one.terminating && isCounted(constraint, one));
        const at = labelsOf(other)[topologyKey] ?? '';
        counts.set(at, (counts.get(at) ?? 0) + found.length);
      }
      const self = selector !== undefined && matchesLabels(selector, pod.labels) ? 1 : 0;
      const fewest = counts.size < minDomains ? 0 : Math.min(...counts.values());
      return (counts.get(domain) ?? 0) + self - fewest <= maxSkew;
    });
  }

  #isAmongFriends(pod: PodInfo, node: Node): boolean {
    const { required, requiredAnti } = pod.terms;
    const means = (term: AffinityTerm, { namespace, labels }: PodInfo) =>
      termMatches(term, namespace, labels, (name) => this.namespaces.get(name));
    const placed = [...this.nodes.values()].flatMap((other) => this.#on(other).map((one) => ({ one, labels: labelsOf(other) })));
    const sharesDomain = ({ topologyKey }: AffinityTerm, labels: Labels) =>
      labels[topologyKey] !== undefined && labels[topologyKey] === labelsOf(node)[topologyKey];
    if (required.length > 0) {
      if (!required.every(({ topologyKey }) => labelsOf(node)[topologyKey] !== undefined)) return false;
      const friends = placed.filter(({ one }) => required.every((term) => means(term, one)));
      const near = required.every((term) => friends.some(({ labels }) => sharesDomain(term, labels)));
      const isCountedAnywhere = required.some(({ topologyKey }) => friends.some(({ labels }) => labels[topologyKey] !== undefined));
      const isFirst = !isCountedAnywhere && required.every((term) => means(term, pod));
      if (!near && !isFirst) return false;
    }
    if (requiredAnti.some((term) => placed.some(({ one, labels }) => means(term, one) && sharesDomain(term, labels)))) return false;
    return !placed.some(({ one, labels }) => one.terms.requiredAnti.some((term) => means(term, pod) && sharesDomain(term, labels)));
  }
}

function tolerates({ pod }: PodInfo, key: string, effect: string): boolean {
  return (pod.spec?.tolerations ?? []).some((one) => (!one.key || one.key === key) && (!one.effect || one.effect === effect));
}

function toleratesAll(pod: PodInfo, { spec }: Node): boolean {
  return (spec?.taints ?? []).every(({ key, effect }) => effect === 'PreferNoSchedule' || tolerates(pod, key, effect));
}

function selects({ pod }: PodInfo, node: Node): boolean {
  return Object.entries(pod.spec?.nodeSelector ?? {}).every(([key, value]) => labelsOf(node)[key] === value);
}

function isCounted({ selector }: SpreadConstraint, { labels }: PodInfo): boolean {
  return selector !== undefined && matchesLabels(selector, labels);
}

function sameNumber(a: PodInfo['ports'][number], b: PodInfo['ports'][number]): boolean {
  return a.port === b.port && a.protocol === b.protocol;
}

function sameAddress({ ip: a }: { ip: string }, { ip: b }: { ip: string }): boolean {
  return a === b || a === '0.0.0.0' || b === '0.0.0.0';
}

function lacks({ requests }: PodInfo, node: Node, here: PodInfo[]): string[] {
  const lacking = here.length + 1 > amount(node, 'pods') ? ['pods'] : [];
  const gpu = (of: PodInfo['requests']) => of.scalars.get('example.com/gpu') ?? 0;
  const kinds = [
    { name: 'cpu', has: amount(node, 'cpu') * 1_000, of: (asked: PodInfo['requests']) => asked.cpu },
    { name: 'memory', has: amount(node, 'memory'), of: (asked: PodInfo['requests']) => asked.memory },
    { name: 'example.com/gpu', has: amount(node, 'example.com/gpu'), of: gpu },
  ];
  for (const { name, has, of } of kinds) {
    const used = here.reduce((sum, one) => sum + of(one.requests), 0);
    if (of(requests) > 0 && of(requests) > has - used) lacking.push(name);
  }
  return lacking;
}
