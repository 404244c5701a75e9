import type { Container, NodeSelectorTerm, PodAffinityTerm, PodSpec, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import { seededRandom } from '../../../../base/random.ts';
import { Cluster } from '../../../../scheduler/cache/cluster.ts';
import { nodeResourcesFit } from '../../../../scheduler/plugins/node-resources.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Node, Pod } from '../../../../scheduler/types.ts';
import { Chance } from '../../../unit/scheduler/oracle/chance.ts';

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
  const chance = new Chance(seededRandom(seed));
  // Some have hardly room, and in some all nodes have the same, so that there are ties.
  const kind = chance.one<Kind>(['tight', 'tight', 'roomy', 'roomy', 'even']);
  const nodes = Array.from({ length: 2 + chance.upTo(7) }, (_, n) => node(chance, `${id}-${n}`, kind));
  const drawn = nodes.flatMap(({ metadata }) =>
    Array.from({ length: chance.upTo(4) }, (_, n) => boundPod(chance, `on-${metadata.name}-${n}`, metadata.name ?? '', kind)),
  );
  const bound = drawn.filter(fitting(nodes));
  const ending = bound.flatMap(({ metadata }) => (chance.of(10) ? (metadata.name ?? '') : []));
  const names = nodes.map(({ metadata }) => metadata.name ?? '');
  return { nodes, bound, ending, probes: Array.from({ length: PROBES }, (_, n) => probe(chance, `${id}-probe-${n}`, names)) };
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

function room(chance: Chance, kind: Kind): Record<string, string> {
  if (kind === 'even') return { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110', [gpu]: '8' };
  if (kind === 'roomy')
    return { ...room(chance, 'even'), cpu: chance.one(['4', '8', '16']), memory: chance.one(['8Gi', '16Gi', '20000Mi']) };
  return {
    cpu: chance.one(['1', '2', '4', '3500m']),
    memory: chance.one(['1Gi', '4Gi', '8000Mi']),
    'ephemeral-storage': chance.one(['5Gi', '100Gi']),
    pods: chance.one(['2', '4', '110', '110']),
    ...chance.maybe(40, () => ({ [gpu]: chance.one(['1', '2', '4']) })),
  };
}

function node(chance: Chance, name: string, kind: Kind): Node {
  const has = room(chance, kind);
  const labels = {
    ...chance.maybe(95, () => ({ [hostKey]: name })),
    ...chance.maybe(85, () => ({ [zoneKey]: chance.one(['a', 'b', 'c']) })),
    ...chance.maybe(60, () => ({ disk: chance.one(['ssd', 'hdd']) })),
    ...chance.maybe(60, () => ({ rack: chance.one(['1', '2', '7', 'none']) })),
  };
  const taints: Taint[] = [
    ...chance.some([{ key: 'dedicated', value: chance.one(['a', 'b']), effect: 'NoSchedule' }], 12),
    ...chance.some([{ key: 'repair', effect: 'NoExecute' }], 8),
    ...chance.some([{ key: 'spot', value: chance.one(['yes', 'maybe']), effect: 'PreferNoSchedule' }], 25),
    ...chance.some([{ key: 'slow', effect: 'PreferNoSchedule' }], 15),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { ...(taints.length > 0 ? { taints } : {}), ...(chance.of(8) ? { unschedulable: true } : {}) },
    status: {
      capacity: has,
      allocatable: has,
      conditions: [{ type: 'Ready', status: 'True' }],
      images: chance.some(images, 40).map((image) => ({ names: [image.name], sizeBytes: image.sizeBytes })),
    },
  };
}

function boundPod(chance: Chance, name: string, nodeName: string, kind: Kind): Pod {
  const affinity = {
    ...chance.maybe(15, () => ({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(chance)] } })),
    ...chance.maybe(15, () => ({
      podAffinity: {
        ...chance.maybe(50, () => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(chance)] })),
        preferredDuringSchedulingIgnoredDuringExecution: [weighted(chance)],
      },
    })),
  };
  return pod(chance, name, {
    nodeName,
    containers: kind === 'even' ? [{ name: 'main', image: 'app:1' }] : containers(chance, 60),
    affinity,
  });
}

/*
 * What 1.20 does otherwise than later versions is left out: it does not look at the images of init containers, and where pods are spread by force it counts
 * also those on nodes that take no part (because another label is missing, or the pod may not go there).
 */
function probe(chance: Chance, name: string, nodes: readonly string[]): Pod {
  const spread = chance.some([zoneKey, hostKey, 'rack'], 25).map((topologyKey) => ({
    maxSkew: 1 + chance.upTo(2),
    topologyKey,
    whenUnsatisfiable: chance.one(['DoNotSchedule', 'ScheduleAnyway']),
    labelSelector: selector(chance),
  }));
  const firstHard = spread.find(isHard);
  const constraints = spread.filter((one) => one === firstHard || !isHard(one));
  const init = chance.of(15) ? containers(chance, 100, 'init').slice(0, 1) : [];
  const spec: PodSpec = {
    containers: containers(chance, 100).map((one) => (init.length > 0 ? { ...one, image: 'app:1' } : one)),
    ...(init.length > 0 ? { initContainers: init.map((one) => ({ ...one, image: 'app:1' })) } : {}),
    ...chance.maybe(firstHard === undefined ? 10 : 0, () => ({
      nodeSelector: chance.one<Record<string, string>>([{ disk: 'ssd' }, { [zoneKey]: 'a' }, { rack: '2' }]),
    })),
    ...(constraints.length > 0 ? { topologySpreadConstraints: constraints } : {}),
    tolerations: tolerations(chance),
    affinity: {
      ...chance.maybe(45, () => ({ nodeAffinity: nodeAffinity(chance, nodes, firstHard === undefined ? 35 : 0) })),
      ...chance.maybe(35, () => ({ podAffinity: podAffinity(chance, 25) })),
      ...chance.maybe(35, () => ({ podAntiAffinity: podAffinity(chance, 30) })),
    },
  };
  return pod(chance, name, spec);
}

const isHard = ({ whenUnsatisfiable }: { whenUnsatisfiable: string }): boolean => whenUnsatisfiable === 'DoNotSchedule';

function pod(chance: Chance, name: string, spec: PodSpec): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: chance.of(80) || name.includes('probe') ? clusterNamespaces[0] : clusterNamespaces[1],
      name,
      labels: {
        ...chance.maybe(85, () => ({ app: chance.one(['web', 'db', 'cache']) })),
        ...chance.maybe(40, () => ({ tier: chance.one(['1', '2']) })),
      },
    },
    spec: {
      // For the one that ends, long enough to be seen by everybody.
      terminationGracePeriodSeconds: 600,
      ...chance.maybe(30, () => ({ priorityClassName: chance.one(Object.keys(clusterPriorities)) })),
      ...spec,
    },
  };
}

/** @param percent - of pods that ask for much */
function containers(chance: Chance, percent: number, prefix = 'main'): Container[] {
  return Array.from({ length: 1 + chance.upTo(2) }, (_, n) => {
    const limits = chance.maybe(0.12 * percent, () => ({ [gpu]: chance.one(['1', '2']) }));
    const requests = {
      ...chance.maybe(60, () => ({ cpu: chance.one(['50m', '250m', '0.5', '1', chance.of(percent) ? '2' : '0']) })),
      ...chance.maybe(60, () => ({ memory: chance.one(['64Mi', '200M', '1Gi', chance.of(percent) ? '3Gi' : '0']) })),
      ...chance.maybe(15, () => ({ 'ephemeral-storage': chance.one(['1Gi', '4Gi', '20Gi']) })),
      ...limits,
    };
    const port = { containerPort: 80, hostPort: chance.one([80, 443]), protocol: chance.one(['TCP', 'UDP']) };
    return {
      name: `${prefix}-${n}`,
      image: chance.one(['app:1', 'registry.test/small:1', 'registry.test/big:2', 'registry.test/mid']),
      resources: { requests, limits },
      // Two of one pod must not want the same.
      ...(n === 0
        ? chance.maybe(20, () => ({ ports: [{ ...port, ...chance.maybe(40, () => ({ hostIP: chance.one(['127.0.0.1', '10.0.0.1']) })) }] }))
        : {}),
    };
  });
}

function tolerations(chance: Chance): Toleration[] {
  return [
    ...chance.some([{ key: 'dedicated', operator: 'Equal', value: chance.one(['a', 'b']), effect: 'NoSchedule' }], 30),
    ...chance.some([{ key: 'dedicated', operator: 'Exists' }], 15),
    ...chance.some([{ key: 'repair', operator: 'Exists', effect: 'NoExecute' }], 20),
    ...chance.some([{ key: 'spot', value: 'yes', effect: chance.one(['PreferNoSchedule', 'NoSchedule']) }], 30),
    ...chance.some([{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }], 10),
    ...chance.some([{ operator: 'Exists' }], 5),
  ];
}

function nodeAffinity(chance: Chance, nodes: readonly string[], required: number) {
  const field = (): NodeSelectorTerm => ({
    matchFields: [{ key: 'metadata.name', operator: chance.one(['In', 'NotIn', 'NotIn']), values: [chance.one(nodes)] }],
  });
  const one = (): NodeSelectorTerm => (chance.of(20) ? field() : { matchExpressions: expressions(chance) });
  return {
    ...chance.maybe(required, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: chance.of(30) ? [one(), one()] : [one()] },
    })),
    ...chance.maybe(60, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: Array.from({ length: 1 + chance.upTo(3) }, () => ({
        weight: chance.one([1, 7, 50, 100]),
        preference: { matchExpressions: expressions(chance) },
      })),
    })),
  };
}

function expressions(chance: Chance) {
  return Array.from({ length: 1 + chance.upTo(2) }, () =>
    chance.one([
      { key: 'disk', operator: chance.one(['In', 'NotIn']), values: [chance.one(['ssd', 'hdd'])] },
      { key: chance.one(['disk', 'rack', zoneKey]), operator: chance.one(['Exists', 'DoesNotExist', 'Exists']) },
      { key: 'rack', operator: chance.one(['Gt', 'Lt']), values: [chance.one(['1', '2', '5'])] },
      { key: zoneKey, operator: 'In', values: chance.one([['a', 'b'], ['c'], ['b', 'c']]) },
    ]),
  );
}

function podAffinity(chance: Chance, required: number) {
  return {
    ...chance.maybe(required, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: chance.of(20) ? [term(chance), term(chance)] : [term(chance)],
    })),
    ...chance.maybe(60, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: Array.from({ length: 1 + chance.upTo(2) }, () => weighted(chance)),
    })),
  };
}

const weighted = (chance: Chance) => ({ weight: chance.one([1, 10, 100]), podAffinityTerm: term(chance) });

const term = (chance: Chance): PodAffinityTerm => ({
  labelSelector: selector(chance),
  topologyKey: chance.one([zoneKey, hostKey, hostKey, 'rack']),
  ...chance.maybe(25, () => ({ namespaces: chance.one([['there'], ['here', 'there']]) })),
});

function selector(chance: Chance): LabelSelector {
  return chance.one<LabelSelector>([
    { matchLabels: { app: chance.one(['web', 'db', 'cache']) } },
    { matchLabels: { app: chance.one(['web', 'db']), tier: '1' } },
    { matchExpressions: [{ key: 'app', operator: chance.one(['In', 'NotIn']), values: chance.one([['web'], ['db', 'cache']]) }] },
    { matchExpressions: [{ key: 'tier', operator: chance.one(['Exists', 'DoesNotExist']) }] },
  ]);
}
