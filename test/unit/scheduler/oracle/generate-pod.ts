import type { Affinity, Container, ContainerPort, NodeSelectorTerm, PodAffinityTerm, PodSpec, Toleration, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js'; // prettier-ignore
import type { Pod } from '../../../../scheduler/types.ts';
import type { Chance } from './chance.ts';
import { HOST, imageNames, taintPool, ZONE } from './generate-node.ts';

export const namespacePool = ['default', 'other', 'third'];
export const appPool = ['web', 'db', 'cache', 'batch'];

/** What pods of one kind have in common. Several pods are made of each, as controllers do. */
export interface Template {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string } | undefined;
  readonly spec: PodSpec;
}

export function randomTemplate(chance: Chance): Template {
  if (chance.of(25)) return plainTemplate(chance);
  const app = chance.one(appPool);
  const kind = chance.one(['ReplicaSet', 'StatefulSet', 'ReplicationController', 'DaemonSet']);
  return {
    namespace: chance.one(['default', 'default', 'other', 'third']),
    labels: {
      app,
      ...chance.maybe(50, () => ({ tier: chance.one(['front', 'back']) })),
      ...chance.maybe(40, () => ({ rev: chance.one(['1', '2']) })),
    },
    owner: chance.of(40) ? { apiVersion: kind === 'ReplicationController' ? 'v1' : 'apps/v1', kind, name: app } : undefined,
    spec: randomSpec(chance),
  };
}

/** Most pods ask for room and nothing else, and belong to nothing that anybody speaks of. */
function plainTemplate(chance: Chance): Template {
  const containers = [{ name: 'main', image: chance.one(imageNames), resources: { requests: randomRequests(chance) } }];
  return {
    namespace: 'default',
    labels: { app: 'plain' },
    owner: undefined,
    spec: { schedulerName: 'default-scheduler', containers, ...chance.maybe(50, () => ({ priority: chance.one([0, 5]) })) },
  };
}

/** @param at - what makes it another pod than all before: its name, uid and age */
export function podOf(chance: Chance, { namespace, labels, owner, spec }: Template, at: number, nodeName?: string): Pod {
  const name = `p${at}`;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      uid: `u${at}`,
      labels: { ...labels },
      ...(owner === undefined ? {} : { ownerReferences: [{ ...owner, uid: `uid-${owner.name}`, controller: true }] }),
    },
    spec: { ...spec, ...(nodeName === undefined ? {} : { nodeName }) },
    status: {
      phase: nodeName === undefined ? 'Pending' : 'Running',
      // Some at the same second, some not started yet.
      ...(nodeName === undefined || chance.of(8)
        ? {}
        : { startTime: new Date(Date.UTC(2026, 0, 1) + 1000 * chance.upTo(40)).toISOString() }),
    },
  };
  return nodeName !== undefined && chance.of(7) ? leaving(chance, pod) : pod;
}

/** On its way out, often because a scheduler wanted its room. */
function leaving(chance: Chance, { metadata, status, ...rest }: Pod): Pod {
  const condition = { type: 'DisruptionTarget', status: 'True', reason: chance.one(['PreemptionByScheduler', 'EvictionByEvictionAPI']) };
  return {
    ...rest,
    metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    status: { ...status, ...chance.maybe(80, () => ({ conditions: [condition] })) },
  };
}

/** The same pod on its node, otherwise in what may change of one. */
export function changedPod(chance: Chance, pod: Pod): Pod {
  const { metadata, spec, status } = pod;
  const label = { [chance.one(['tier', 'rev', 'app'])]: chance.one(['1', 'front', 'web', 'db']) };
  const changes: (() => Pod)[] = [
    () => ({ ...pod, metadata: { ...metadata, labels: { ...metadata.labels, ...label } } }),
    () => leaving(chance, pod),
    () => ({ ...pod, spec: { ...spec, containers: resized(chance, spec) } }),
    () => ({ ...pod, metadata: { ...metadata, resourceVersion: String(chance.upTo(1_000_000)) }, status: { ...status } }),
  ];
  return chance.one(changes)();
}

/** Nothing else of containers may change while they run. */
function resized(chance: Chance, spec: PodSpec | undefined): Container[] {
  const [main = { name: 'main' }, ...others] = spec?.containers ?? [];
  return [{ ...main, resources: { requests: randomRequests(chance) } }, ...others];
}

function randomSpec(chance: Chance): PodSpec {
  const affinity = randomAffinity(chance);
  const constraints = randomConstraints(chance);
  const tolerations = randomTolerations(chance);
  return {
    schedulerName: 'default-scheduler',
    containers: [randomContainer(chance, 'main'), ...(chance.of(10) ? [randomContainer(chance, 'second')] : [])],
    ...chance.maybe(10, () => ({
      initContainers: [{ ...randomContainer(chance, 'init'), ...chance.maybe(50, () => ({ restartPolicy: 'Always' })) }],
    })),
    ...chance.maybe(4, () => ({ overhead: { cpu: '50m', memory: '16Mi' } })),
    ...chance.maybe(70, () => ({ priority: chance.one([-5, 0, 0, 5, 5, 10, 1000]) })),
    ...chance.maybe(3, () => ({ preemptionPolicy: 'Never' })),
    ...chance.maybe(10, () => ({ nodeSelector: { disk: chance.one(['ssd', 'hdd']) } })),
    ...(tolerations.length > 0 ? { tolerations } : {}),
    ...(affinity === undefined ? {} : { affinity }),
    ...(constraints.length > 0 ? { topologySpreadConstraints: constraints } : {}),
  };
}

function randomContainer(chance: Chance, name: string): Container {
  const ports = randomPorts(chance);
  return {
    name,
    image: chance.one(imageNames),
    ...chance.maybe(90, () => ({ resources: { requests: randomRequests(chance) } })),
    ...(ports.length > 0 ? { ports } : {}),
  };
}

function randomRequests(chance: Chance): Record<string, string> {
  return {
    ...chance.maybe(85, () => ({ cpu: chance.one(['0', '1n', '100m', '250m', '250m', '500m', '500m', '1', '2']) })),
    ...chance.maybe(80, () => ({ memory: chance.one(['0', '64Mi', '256Mi', '256Mi', '512Mi', '1Gi', '100M']) })),
    ...chance.maybe(5, () => ({ 'ephemeral-storage': chance.one(['1Gi', '6Gi']) })),
    ...chance.maybe(7, () => ({ 'example.com/gpu': chance.one(['1', '2']) })),
    ...chance.maybe(3, () => ({ 'hugepages-2Mi': '32Mi' })),
  };
}

function randomPorts(chance: Chance): ContainerPort[] {
  if (!chance.of(9)) return [];
  const hostPort = chance.one([80, 80, 443]);
  return [
    {
      containerPort: 80,
      hostPort,
      ...chance.maybe(20, () => ({ protocol: 'UDP' })),
      ...chance.maybe(30, () => ({ hostIP: chance.one(['10.0.0.1', '10.0.0.2', '0.0.0.0']) })),
    },
  ];
}

function randomTolerations(chance: Chance): Toleration[] {
  if (chance.of(3)) return [{ operator: 'Exists' }];
  if (!chance.of(40)) return [];
  return chance.some(taintPool, 40).map(({ key, value, effect }): Toleration => {
    if (chance.of(40)) return { key, operator: 'Exists', ...chance.maybe(50, () => ({ effect })) };
    return { key, ...(value === undefined ? {} : { value }), ...chance.maybe(50, () => ({ effect })) };
  });
}

function randomAffinity(chance: Chance): Affinity | undefined {
  const nodes = (term: (chance: Chance) => NodeSelectorTerm) => ({ nodeSelectorTerms: listOf(chance, () => term(chance)) });
  const nodeAffinity = {
    ...chance.maybe(12, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: nodes(chance.of(75) ? randomNodeTerm : namedTerm),
    })),
    ...chance.maybe(35, () => ({ preferredDuringSchedulingIgnoredDuringExecution: weighted(chance, 'preference', randomNodeTerm) })),
  };
  const all = { nodeAffinity, podAffinity: randomPodRules(chance, 9), podAntiAffinity: randomPodRules(chance, 10) };
  const said = Object.entries(all).filter(([, rules]) => Object.keys(rules).length > 0);
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

function randomPodRules(chance: Chance, percent: number): NonNullable<Affinity['podAffinity']> {
  const required = () => ({ requiredDuringSchedulingIgnoredDuringExecution: listOf(chance, () => randomPodTerm(chance)) });
  const preferred = () => ({ preferredDuringSchedulingIgnoredDuringExecution: weighted(chance, 'podAffinityTerm', randomPodTerm) });
  return { ...chance.maybe(percent, required), ...chance.maybe(percent, preferred) };
}

function weighted<K extends string, T>(chance: Chance, key: K, make: (chance: Chance) => T) {
  return listOf(chance, () => ({ weight: 1 + chance.upTo(100), [key]: make(chance) }) as { weight: number } & Record<K, T>);
}

function randomPodTerm(chance: Chance): PodAffinityTerm {
  return {
    topologyKey: chance.one([HOST, HOST, ZONE, ZONE, 'rack']),
    ...chance.maybe(96, () => ({ labelSelector: randomSelector(chance) })),
    ...chance.maybe(15, () => ({ namespaces: chance.some(namespacePool, 50) })),
    ...chance.maybe(15, () => ({ namespaceSelector: chance.of(30) ? {} : { matchLabels: { team: chance.one(['a', 'b']) } } })),
  };
}

export function randomSelector(chance: Chance): NonNullable<PodAffinityTerm['labelSelector']> {
  const app = chance.one(appPool);
  const plain = () => ({ matchLabels: { app } });
  const selectors: (() => NonNullable<PodAffinityTerm['labelSelector']>)[] = [
    () => ({}),
    () => ({ matchExpressions: [{ key: 'tier', operator: chance.one(['Exists', 'DoesNotExist']) }] }),
    () => ({ matchExpressions: [{ key: 'app', operator: chance.one(['In', 'NotIn']), values: ['web', 'db'] }] }),
    () => ({ matchLabels: { app, tier: 'front' } }),
    ...Array.from({ length: 4 }, () => plain),
  ];
  return chance.one(selectors)();
}

function randomNodeTerm(chance: Chance): NodeSelectorTerm {
  const where = [['z1', '1'], ['z2', 'z3', '2', '3']]; // prettier-ignore
  const plain = () => ({ matchExpressions: [{ key: chance.one([ZONE, 'rack']), operator: 'In', values: chance.one(where) }] });
  const terms: (() => NodeSelectorTerm)[] = [
    () => namedTerm(chance),
    () => ({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: [`n${chance.upTo(12)}`] }] }),
    () => ({ matchExpressions: [{ key: 'cores', operator: chance.one(['Gt', 'Lt']), values: ['8'] }] }),
    () => ({ matchExpressions: [{ key: 'rack', operator: 'Exists' }, { key: 'disk', operator: 'NotIn', values: ['hdd'] }] }),
    () => (chance.of(30) ? {} : { matchExpressions: [{ key: 'rack', operator: 'DoesNotExist' }] }),
    ...Array.from({ length: 3 }, () => plain),
  ]; // prettier-ignore
  return chance.one(terms)();
}

/** Of one node; now and then of two at once, which cannot be. */
function namedTerm(chance: Chance): NodeSelectorTerm {
  const field = () => ({ key: 'metadata.name', operator: 'In', values: [`n${chance.upTo(8)}`] });
  return { matchFields: chance.of(10) ? [field(), field()] : [field()] };
}

/** At most one for a key of each kind, as an API server has it. */
function randomConstraints(chance: Chance): TopologySpreadConstraint[] {
  if (!chance.of(22)) return [];
  return chance.some([HOST, ZONE, 'rack'], 50).map((topologyKey): TopologySpreadConstraint => {
    const hard = chance.of(50);
    return {
      topologyKey,
      maxSkew: chance.one([1, 1, 2, 3]),
      whenUnsatisfiable: hard ? 'DoNotSchedule' : 'ScheduleAnyway',
      ...chance.maybe(96, () => ({ labelSelector: randomSelector(chance) })),
      ...(hard && chance.of(15) ? { minDomains: chance.one([2, 3, 5]) } : {}),
      ...chance.maybe(15, () => ({ matchLabelKeys: ['rev'] })),
      ...chance.maybe(20, () => ({ nodeAffinityPolicy: 'Ignore' })),
      ...chance.maybe(20, () => ({ nodeTaintsPolicy: 'Honor' })),
    };
  });
}

function listOf<T>(chance: Chance, make: () => T): T[] {
  return chance.of(25) ? [make(), make()] : [make()];
}
