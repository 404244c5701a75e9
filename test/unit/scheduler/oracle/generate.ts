import type { Random } from '../../../../base/random.ts';
import type { Budget, Namespace, Node, Pod, Service } from '../../../../scheduler/types.ts';
import { Chance } from './chance.ts';
import type { OracleCluster } from './cluster.ts';
import { changedNode, randomNode } from './generate-node.ts';
import { appPool, changedPod, namespacePool, podOf, randomSelector, randomTemplate, type Template } from './generate-pod.ts';

/** A cluster, and what is needed to go on with it. Never changed: {@link applied} gives another. */
export interface GeneratedCluster extends OracleCluster {
  /** How many nodes there are when none is missing. */
  readonly size: number;
  /** Whether most nodes are alike. */
  readonly even: boolean;
  /** What pods are made of. */
  readonly templates: readonly Template[];
  /** How many pods were made ever, so that no two are the same. */
  readonly made: number;
  /** Uids of pods that are on their nodes because we said so; no API server has confirmed it yet. */
  readonly assumed: ReadonlySet<string>;
}

/** Something that happens in a cluster. */
export type RandomEvent =
  /** Added, or changed. */
  | { do: 'set-node'; node: Node }
  | { do: 'remove-node'; name: string }
  /** Seen on a node: new there, changed, or confirmed. */
  | { do: 'set-pod'; pod: Pod }
  | { do: 'remove-pod'; uid: string }
  /** @param pod - without a node as yet */
  | { do: 'assume'; pod: Pod; node: string }
  | { do: 'forget'; uid: string }
  | { do: 'nominate'; pod: Pod; node: string }
  | { do: 'withdraw'; uid: string }
  | { do: 'set-namespace'; namespace: Namespace }
  /** What services and controllers there are, and whom they mean. */
  | { do: 'set-groups'; groups: Groups };

type Groups = Pick<OracleCluster, 'services' | 'replicaSets' | 'replicationControllers' | 'statefulSets'>;

export function randomCluster(random: Random, size: number): GeneratedCluster {
  const chance = new Chance(random);
  const templates = Array.from({ length: 8 }, () => randomTemplate(chance));
  const even = chance.of(50);
  const nodes = Array.from({ length: size }, (_, at) => randomNode(chance, `n${at}`, even));
  const pods = Array.from({ length: even ? size : size * 3 }, (_, at) => podOf(chance, chance.one(templates), at, `n${chance.upTo(size)}`));
  return {
    size,
    even,
    templates,
    nodes,
    pods,
    made: pods.length,
    assumed: new Set(),
    nominated: [],
    namespaces: namespacePool.map((name) => randomNamespace(chance, name)),
    ...randomGroups(chance),
    budgets: appPool.filter(() => chance.of(80)).flatMap((app) => namespacePool.map((namespace) => randomBudget(chance, app, namespace))),
  };
}

/** A pod that waits: mostly one of a kind that others are of, sometimes of one never seen. */
export function randomPod(random: Random, { templates, made, size, pods }: GeneratedCluster): Pod {
  const chance = new Chance(random);
  const pod = podOf(chance, chance.of(80) ? chance.one(templates) : randomTemplate(chance), made);
  const left = pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ spec }) => spec?.nodeName ?? '');
  const nominatedNodeName = left.length > 0 && chance.of(70) ? chance.one(left) : `n${chance.upTo(size)}`;
  const nominated: Pod = chance.of(30) ? { ...pod, status: { ...pod.status, nominatedNodeName } } : pod;
  // Of one kind, and more important: who waits may have been promised something, and may take from others.
  return chance.of(45) ? { ...nominated, spec: { containers: [], ...pod.spec, priority: 50 } } : nominated;
}

export function randomEvent(random: Random, cluster: GeneratedCluster): RandomEvent {
  const chance = new Chance(random);
  const { nodes, pods, nominated, size } = cluster;
  const missing = Array.from({ length: size }, (_, at) => `n${at}`).filter((name) => !nodes.some(({ metadata }) => metadata.name === name));
  const anywhere = `n${chance.upTo(size)}`;
  const newPod = () => podOf(chance, chance.one(cluster.templates), cluster.made, anywhere);
  const weighted: readonly [weight: number, possible: boolean, make: () => RandomEvent][] = [
    // As many come as go, once there are enough.
    [pods.length < size * 3 ? 30 : 12, true, () => ({ do: 'set-pod', pod: newPod() })],
    [16, pods.length > 0, () => ({ do: 'remove-pod', uid: chance.one(pods).metadata.uid ?? '' })],
    [10, pods.length > 0, () => ({ do: 'set-pod', pod: changedPod(chance, chance.one(pods)) })],
    [8, nodes.length > 0, () => ({ do: 'assume', pod: randomPod(random, cluster), node: chance.one(nodes).metadata.name ?? '' })],
    [6, cluster.assumed.size > 0, () => ({ do: 'forget', uid: chance.one([...cluster.assumed]) })],
    [6, cluster.assumed.size > 0, () => ({ do: 'set-pod', pod: assumedPod(chance, cluster) })],
    [14, nodes.length > 0, () => ({ do: 'set-node', node: changedNode(chance, chance.one(nodes)) })],
    [missing.length * 2, missing.length > 0, () => ({ do: 'set-node', node: randomNode(chance, chance.one(missing), cluster.even) })],
    [2, nodes.length > 0, () => ({ do: 'remove-node', name: chance.one(nodes).metadata.name ?? '' })],
    [5, nominated.length < 4, () => ({ do: 'nominate', pod: randomPod(random, cluster), node: anywhere })],
    [nominated.length * 2, nominated.length > 0, () => ({ do: 'withdraw', uid: chance.one(nominated).pod.metadata.uid ?? '' })],
    [2, true, () => ({ do: 'set-namespace', namespace: randomNamespace(chance, chance.one(namespacePool)) })],
    [2, true, () => ({ do: 'set-groups', groups: randomGroups(chance) })],
  ];
  const possible = weighted.filter(([, possible]) => possible);
  let rest = random() * possible.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, , make] of possible) if ((rest -= weight) < 0) return make();
  throw new RangeError('no event is possible');
}

/** What a cluster consists of, as events. */
export function eventsOf(cluster: OracleCluster): RandomEvent[] {
  const { nodes, pods, namespaces, services, replicaSets, replicationControllers, statefulSets } = cluster;
  return [
    ...namespaces.map((namespace): RandomEvent => ({ do: 'set-namespace', namespace })),
    { do: 'set-groups', groups: { services, replicaSets, replicationControllers, statefulSets } },
    ...nodes.map((node): RandomEvent => ({ do: 'set-node', node })),
    ...pods.map((pod): RandomEvent => ({ do: 'set-pod', pod })),
  ];
}

/** The cluster after it. */
export function applied(cluster: GeneratedCluster, event: RandomEvent): GeneratedCluster {
  const { nodes, pods, nominated, assumed } = cluster;
  switch (event.do) {
    case 'set-node': {
      const { name } = event.node.metadata;
      const known = nodes.some(({ metadata }) => metadata.name === name);
      return { ...cluster, nodes: known ? nodes.map((one) => (one.metadata.name === name ? event.node : one)) : [...nodes, event.node] };
    }
    case 'remove-node':
      return { ...cluster, nodes: nodes.filter(({ metadata }) => metadata.name !== event.name) };
    case 'set-pod': {
      const uid = event.pod.metadata.uid ?? '';
      return { ...counting(cluster, event.pod), pods: [...without(pods, uid), event.pod], assumed: setWithout(assumed, uid) };
    }
    case 'remove-pod':
    case 'forget':
      return { ...cluster, pods: without(pods, event.uid), assumed: setWithout(assumed, event.uid) };
    case 'assume': {
      const placed: Pod = { ...event.pod, spec: { containers: [], ...event.pod.spec, nodeName: event.node } };
      const uid = event.pod.metadata.uid ?? '';
      return { ...counting(cluster, event.pod), pods: [...pods, placed], assumed: new Set([...assumed, uid]) };
    }
    case 'nominate':
      return { ...counting(cluster, event.pod), nominated: [...nominated, { pod: event.pod, node: event.node }] };
    case 'withdraw':
      return { ...cluster, nominated: nominated.filter(({ pod }) => pod.metadata.uid !== event.uid) };
    case 'set-namespace': {
      const { name } = event.namespace.metadata;
      return { ...cluster, namespaces: [...cluster.namespaces.filter(({ metadata }) => metadata.name !== name), event.namespace] };
    }
    case 'set-groups':
      return { ...cluster, ...event.groups };
  }
}

/** Pods that are made from now on are others than this one. */
function counting(cluster: GeneratedCluster, { metadata }: Pod): GeneratedCluster {
  return { ...cluster, made: Math.max(cluster.made, Number(metadata.uid?.slice(1)) + 1) };
}

function assumedPod(chance: Chance, { pods, assumed }: GeneratedCluster): Pod {
  const pod = chance.one(pods.filter(({ metadata }) => assumed.has(metadata.uid ?? '')));
  return { ...pod, status: { ...pod.status, phase: 'Running' } };
}

function without(pods: readonly Pod[], uid: string): Pod[] {
  return pods.filter(({ metadata }) => metadata.uid !== uid);
}

function setWithout(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  return set.has(one) ? new Set([...set].filter((other) => other !== one)) : set;
}

function randomNamespace(chance: Chance, name: string): Namespace {
  return { metadata: { name, labels: chance.of(85) ? { team: chance.one(['a', 'b']) } : {} } };
}

function randomGroups(chance: Chance): Groups {
  const everywhere = namespacePool.flatMap((namespace) => appPool.map((name) => ({ namespace, name })));
  const services = everywhere
    .filter(() => chance.of(30))
    .map((metadata): Service => ({ metadata, spec: { selector: { app: metadata.name, ...chance.maybe(25, () => ({ tier: 'front' })) } } }));
  const sets = () => everywhere.filter(() => chance.of(40)).map((metadata) => ({ metadata, spec: { selector: randomSelector(chance) } }));
  return {
    services,
    replicaSets: sets(),
    statefulSets: sets().map(({ metadata, spec }) => ({ metadata, spec: { ...spec, serviceName: '', template: {} } })),
    replicationControllers: everywhere
      .filter(() => chance.of(40))
      .map((metadata) => ({ metadata, spec: { selector: { app: metadata.name } } })),
  };
}

function randomBudget(chance: Chance, app: string, namespace: string): Budget {
  const all = chance.of(10);
  return {
    metadata: { name: app, namespace },
    spec: { selector: all ? {} : { matchLabels: { app } } },
    status: { disruptionsAllowed: chance.one([0, 0, 0, 1, 2]), currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  };
}
