import type { Container, NodeSelectorTerm, PodAffinityTerm, PodSpec, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import { seededRandom } from '../../../../base/random.ts';
import type { Random } from '../../../../base/random.ts';
import { Cluster } from '../../../../scheduler/cache/cluster.ts';
import { nodeResourcesFit } from '../../../../scheduler/plugins/node-resources.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Node, Pod } from '../../../../scheduler/types.ts';

/** A small cluster, and pods that are put to its schedulers. */
export interface RandomCluster {
  nodes: Node[];
  /** They are on their nodes already. */
  bound: Pod[];
  /** Names of those that end, and do not go. */
  ending: string[];
  /** Without the name of a scheduler. */
  probes: Pod[];
}

/** They must be there; pods live in the first, terms name both. */
export const clusterNamespaces = ['here', 'there'] as const;
export const namespaceObjects = clusterNamespaces.map((name) => ({ metadata: { name, labels: name === 'here' ? { team: 'a' } : {} } }));
/** By name. They must be there. */
export const clusterPriorities: Readonly<Record<string, number>> = { low: 10, high: 1_000 };

const PROBES = 4;
const zoneKey = 'topology.kubernetes.io/zone';
const hostKey = 'kubernetes.io/hostname';
const gpu = 'example.com/gpu';
const images = [
  { name: 'registry.test/small:1', sizeBytes: 60 * 2 ** 20 },
  { name: 'registry.test/big:2', sizeBytes: 900 * 2 ** 20 },
  { name: 'registry.test/mid:latest', sizeBytes: 330 * 2 ** 20 },
];

/**
 * The same seed gives the same cluster. An API server of 1.20 takes all of it as it is.
 * @param id - begins the names of its nodes
 */
export function randomCluster(seed: number, id: string): RandomCluster {
  const draw = new Draw(seededRandom(seed));
  // Some have hardly room, and in some all nodes have the same, so that there are ties.
  const kind = draw.of('tight', 'tight', 'roomy', 'roomy', 'even');
  const nodes = Array.from({ length: draw.int(2, 8) }, (_, n) => node(draw, `${id}-${n}`, kind));
  const drawn = nodes.flatMap(({ metadata }) =>
    Array.from({ length: draw.int(0, 3) }, (_, n) => boundPod(draw, `on-${metadata.name}-${n}`, metadata.name ?? '', kind)),
  );
  const bound = drawn.filter(fitting(nodes));
  const ending = bound.flatMap(({ metadata }) => (draw.chance(0.1) ? (metadata.name ?? '') : []));
  const names = nodes.map(({ metadata }) => metadata.name ?? '');
  return { nodes, bound, ending, probes: Array.from({ length: PROBES }, (_, n) => probe(draw, `${id}-probe-${n}`, names)) };
}

/** A node that holds more than it can takes no pod at all in 1.20, not even one that asks for nothing of what is short. */
function fitting(nodes: readonly Node[]): (pod: Pod) => boolean {
  const cluster = new Cluster();
  for (const one of nodes) cluster.setNode(one);
  return (bound) => {
    const state = cluster.node(bound.spec?.nodeName ?? '');
    const info = podInfoOf({ ...bound, metadata: { ...bound.metadata, uid: bound.metadata.name ?? '' } });
    if (state === undefined || nodeResourcesFit(info.requests, state, () => false) !== undefined) return false;
    cluster.addPod(info);
    return true;
  };
}

type Kind = 'tight' | 'roomy' | 'even';

class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** From `low` to `high`, both of them too. */
  int(low: number, high: number): number {
    return low + Math.floor(this.#random() * (high - low + 1));
  }

  of<T>(...choices: readonly [T, ...T[]]): T {
    return choices[this.int(0, choices.length - 1)] ?? choices[0];
  }

  /** Each with the same chance. */
  some<T>(share: number, all: readonly T[]): T[] {
    return all.filter(() => this.chance(share));
  }

  /** An object with `key`, or none. */
  maybe<T extends object>(share: number, make: () => T): T | Record<string, never> {
    return this.chance(share) ? make() : {};
  }
}

function room(draw: Draw, kind: Kind): Record<string, string> {
  if (kind === 'even') return { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110', [gpu]: '8' };
  if (kind === 'roomy') return { ...room(draw, 'even'), cpu: draw.of('4', '8', '16'), memory: draw.of('8Gi', '16Gi', '20000Mi') };
  return {
    cpu: draw.of('1', '2', '4', '3500m'),
    memory: draw.of('1Gi', '4Gi', '8000Mi'),
    'ephemeral-storage': draw.of('5Gi', '100Gi'),
    pods: draw.of('2', '4', '110', '110'),
    ...draw.maybe(0.4, () => ({ [gpu]: draw.of('1', '2', '4') })),
  };
}

function node(draw: Draw, name: string, kind: Kind): Node {
  const has = room(draw, kind);
  const labels = {
    ...draw.maybe(0.95, () => ({ [hostKey]: name })),
    ...draw.maybe(0.85, () => ({ [zoneKey]: draw.of('a', 'b', 'c') })),
    ...draw.maybe(0.6, () => ({ disk: draw.of('ssd', 'hdd') })),
    ...draw.maybe(0.6, () => ({ rack: draw.of('1', '2', '7', 'none') })),
  };
  const taints: Taint[] = [
    ...draw.some(0.12, [{ key: 'dedicated', value: draw.of('a', 'b'), effect: 'NoSchedule' }]),
    ...draw.some(0.08, [{ key: 'repair', effect: 'NoExecute' }]),
    ...draw.some(0.25, [{ key: 'spot', value: draw.of('yes', 'maybe'), effect: 'PreferNoSchedule' }]),
    ...draw.some(0.15, [{ key: 'slow', effect: 'PreferNoSchedule' }]),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { ...(taints.length > 0 ? { taints } : {}), ...(draw.chance(0.08) ? { unschedulable: true } : {}) },
    status: {
      capacity: has,
      allocatable: has,
      conditions: [{ type: 'Ready', status: 'True' }],
      images: draw.some(0.4, images).map((image) => ({ names: [image.name], sizeBytes: image.sizeBytes })),
    },
  };
}

function boundPod(draw: Draw, name: string, nodeName: string, kind: Kind): Pod {
  const affinity = {
    ...draw.maybe(0.15, () => ({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(draw)] } })),
    ...draw.maybe(0.15, () => ({
      podAffinity: {
        ...draw.maybe(0.5, () => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(draw)] })),
        preferredDuringSchedulingIgnoredDuringExecution: [weighted(draw)],
      },
    })),
  };
  return pod(draw, name, { nodeName, containers: kind === 'even' ? [{ name: 'main', image: 'app:1' }] : containers(draw, 0.6), affinity });
}

/*
 * What 1.20 does otherwise than later versions is left out: it does not look at the images of init containers, and where pods are spread by force it counts
 * also those on nodes that take no part (because another label is missing, or the pod may not go there).
 */
function probe(draw: Draw, name: string, nodes: readonly string[]): Pod {
  const spread = draw.some(0.25, [zoneKey, hostKey, 'rack']).map((topologyKey) => ({
    maxSkew: draw.int(1, 2),
    topologyKey,
    whenUnsatisfiable: draw.of('DoNotSchedule', 'ScheduleAnyway'),
    labelSelector: selector(draw),
  }));
  const firstHard = spread.find(isHard);
  const constraints = spread.filter((one) => one === firstHard || !isHard(one));
  const init = draw.chance(0.15) ? containers(draw, 1, 'init').slice(0, 1) : [];
  const spec: PodSpec = {
    containers: containers(draw, 1).map((one) => (init.length > 0 ? { ...one, image: 'app:1' } : one)),
    ...(init.length > 0 ? { initContainers: init.map((one) => ({ ...one, image: 'app:1' })) } : {}),
    ...draw.maybe(firstHard === undefined ? 0.1 : 0, () => ({
      nodeSelector: draw.of<Record<string, string>>({ disk: 'ssd' }, { [zoneKey]: 'a' }, { rack: '2' }),
    })),
    ...(constraints.length > 0 ? { topologySpreadConstraints: constraints } : {}),
    tolerations: tolerations(draw),
    affinity: {
      ...draw.maybe(0.45, () => ({ nodeAffinity: nodeAffinity(draw, nodes, firstHard === undefined ? 0.35 : 0) })),
      ...draw.maybe(0.35, () => ({ podAffinity: podAffinity(draw, 0.25) })),
      ...draw.maybe(0.35, () => ({ podAntiAffinity: podAffinity(draw, 0.3) })),
    },
  };
  return pod(draw, name, spec);
}

const isHard = ({ whenUnsatisfiable }: { whenUnsatisfiable: string }): boolean => whenUnsatisfiable === 'DoNotSchedule';

function pod(draw: Draw, name: string, spec: PodSpec): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: draw.chance(0.8) || name.includes('probe') ? clusterNamespaces[0] : clusterNamespaces[1],
      name,
      labels: {
        ...draw.maybe(0.85, () => ({ app: draw.of('web', 'db', 'cache') })),
        ...draw.maybe(0.4, () => ({ tier: draw.of('1', '2') })),
      },
    },
    spec: {
      // For the one that ends, long enough to be seen by everybody.
      terminationGracePeriodSeconds: 600,
      ...draw.maybe(0.3, () => ({ priorityClassName: draw.of(...(Object.keys(clusterPriorities) as [string])) })),
      ...spec,
    },
  };
}

/** @param share - of pods that ask for much */
function containers(draw: Draw, share: number, prefix = 'main'): Container[] {
  return Array.from({ length: draw.int(1, 2) }, (_, n) => {
    const limits = draw.maybe(0.12 * share, () => ({ [gpu]: draw.of('1', '2') }));
    const requests = {
      ...draw.maybe(0.6, () => ({ cpu: draw.of('50m', '250m', '0.5', '1', draw.chance(share) ? '2' : '0') })),
      ...draw.maybe(0.6, () => ({ memory: draw.of('64Mi', '200M', '1Gi', draw.chance(share) ? '3Gi' : '0') })),
      ...draw.maybe(0.15, () => ({ 'ephemeral-storage': draw.of('1Gi', '4Gi', '20Gi') })),
      ...limits,
    };
    const port = { containerPort: 80, hostPort: draw.of(80, 443), protocol: draw.of('TCP', 'UDP') };
    return {
      name: `${prefix}-${n}`,
      image: draw.of('app:1', 'registry.test/small:1', 'registry.test/big:2', 'registry.test/mid'),
      resources: { requests, limits },
      // Two of one pod must not want the same.
      ...(n === 0
        ? draw.maybe(0.2, () => ({ ports: [{ ...port, ...draw.maybe(0.4, () => ({ hostIP: draw.of('127.0.0.1', '10.0.0.1') })) }] }))
        : {}),
    };
  });
}

function tolerations(draw: Draw): Toleration[] {
  return [
    ...draw.some(0.3, [{ key: 'dedicated', operator: 'Equal', value: draw.of('a', 'b'), effect: 'NoSchedule' }]),
    ...draw.some(0.15, [{ key: 'dedicated', operator: 'Exists' }]),
    ...draw.some(0.2, [{ key: 'repair', operator: 'Exists', effect: 'NoExecute' }]),
    ...draw.some(0.3, [{ key: 'spot', value: 'yes', effect: draw.of('PreferNoSchedule', 'NoSchedule') }]),
    ...draw.some(0.1, [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }]),
    ...draw.some(0.05, [{ operator: 'Exists' }]),
  ];
}

function nodeAffinity(draw: Draw, nodes: readonly string[], required: number) {
  const field = (): NodeSelectorTerm => ({
    matchFields: [{ key: 'metadata.name', operator: draw.of('In', 'NotIn', 'NotIn'), values: [draw.of(...(nodes as [string]))] }],
  });
  const one = (): NodeSelectorTerm => (draw.chance(0.2) ? field() : { matchExpressions: expressions(draw) });
  return {
    ...draw.maybe(required, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: draw.chance(0.3) ? [one(), one()] : [one()] },
    })),
    ...draw.maybe(0.6, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: Array.from({ length: draw.int(1, 3) }, () => ({
        weight: draw.of(1, 7, 50, 100),
        preference: { matchExpressions: expressions(draw) },
      })),
    })),
  };
}

function expressions(draw: Draw) {
  return Array.from({ length: draw.int(1, 2) }, () =>
    draw.of(
      { key: 'disk', operator: draw.of('In', 'NotIn'), values: [draw.of('ssd', 'hdd')] },
      { key: draw.of('disk', 'rack', zoneKey), operator: draw.of('Exists', 'DoesNotExist', 'Exists') },
      { key: 'rack', operator: draw.of('Gt', 'Lt'), values: [draw.of('1', '2', '5')] },
      { key: zoneKey, operator: 'In', values: draw.of(['a', 'b'], ['c'], ['b', 'c']) },
    ),
  );
}

function podAffinity(draw: Draw, required: number) {
  return {
    ...draw.maybe(required, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: draw.chance(0.2) ? [term(draw), term(draw)] : [term(draw)],
    })),
    ...draw.maybe(0.6, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: Array.from({ length: draw.int(1, 2) }, () => weighted(draw)),
    })),
  };
}

const weighted = (draw: Draw) => ({ weight: draw.of(1, 10, 100), podAffinityTerm: term(draw) });

const term = (draw: Draw): PodAffinityTerm => ({
  labelSelector: selector(draw),
  topologyKey: draw.of(zoneKey, hostKey, hostKey, 'rack'),
  ...draw.maybe(0.25, () => ({ namespaces: draw.of(['there'], ['here', 'there']) })),
});

function selector(draw: Draw): LabelSelector {
  return draw.of<LabelSelector>(
    { matchLabels: { app: draw.of('web', 'db', 'cache') } },
    { matchLabels: { app: draw.of('web', 'db'), tier: '1' } },
    { matchExpressions: [{ key: 'app', operator: draw.of('In', 'NotIn'), values: draw.of(['web'], ['db', 'cache']) }] },
    { matchExpressions: [{ key: 'tier', operator: draw.of('Exists', 'DoesNotExist') }] },
  );
}
