import type { Container, ContainerStatus, PodSpec, Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import { seededRandom } from '../../../../base/random.ts';
import {
  csiNodes,
  type KubeObject,
  persistentVolumeClaims,
  persistentVolumes,
  type Resource,
  storageClasses,
} from '../../../../kube/api/object.ts';
import type { Node, Pod } from '../../../../scheduler/types.ts';
import { Chance } from '../../../unit/scheduler/oracle/chance.ts';
import { clusterNamespaces, type RandomCluster } from './random-cluster.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const DRIVER = 'csi.example.com';
const [home] = clusterNamespaces;

export interface StoredObject {
  resource: Resource;
  object: KubeObject & Record<string, unknown>;
}

const runtimeClasses: Resource = {
  group: 'node.k8s.io',
  version: 'v1',
  resource: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
};
const heavy = { metadata: { name: 'heavy' }, handler: 'heavy', overhead: { podFixed: { cpu: '150m', memory: '64Mi' } } };
const csiDrivers: Resource = { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers', kind: 'CSIDriver', namespaced: false };

/** Of server and scheduler. */
export const modernGates = '--feature-gates=TaintTolerationComparisonOperators=true';

/** What all clusters have: once for a control plane. */
export const modernStock: readonly StoredObject[] = [
  { resource: runtimeClasses, object: heavy },
  { resource: csiDrivers, object: { metadata: { name: DRIVER }, spec: { storageCapacity: true } } },
  { resource: storageClasses, object: { metadata: { name: 'later' }, provisioner: DRIVER, volumeBindingMode: 'WaitForFirstConsumer' } },
  { resource: storageClasses, object: { metadata: { name: 'at-once' }, provisioner: 'other.example.com', volumeBindingMode: 'Immediate' } },
];

/** The same cluster with what servers of 1.36 take besides: sidecars, pods that ask as a whole, overhead, keys of labels that match, volumes. */
export function modern(seed: number, cluster: RandomCluster): RandomCluster & { stored: readonly StoredObject[]; resized: readonly Pod[] } {
  const chance = new Chance(seededRandom(seed + 7_919));
  const nodes = cluster.nodes.map((node) => modernNode(chance, node));
  const id = nodes[0]?.metadata.name ?? '';
  const storage = new Storage(chance, id, nodes);
  const enrich = (pod: Pod): Pod => modernPod(chance, pod, storage);
  const bound = cluster.bound.map(enrich);
  const probes = cluster.probes.map(enrich);
  const resized = bound.filter(() => chance.of(40)).map((pod) => ({ ...pod, status: beingResized(chance, pod) }));
  return { ...cluster, nodes, bound, probes, stored: storage.all, resized };
}

/** Of a pod on a node: what its containers, and where it asks as a whole it as well, were granted and have. */
function beingResized(chance: Chance, { spec }: Pod): NonNullable<Pod['status']> {
  const some = (): Record<string, string> => ({
    ...chance.maybe(80, () => ({ cpu: chance.one(['100m', '700m', '1', '2500m']) })),
    ...chance.maybe(60, () => ({ memory: chance.one(['100Mi', '1Gi', '3Gi']) })),
  });
  const granted = (): object => ({
    ...chance.maybe(70, () => ({ allocatedResources: some() })),
    ...chance.maybe(80, () => ({ resources: { requests: some() } })),
  });
  const statuses = (of: readonly Container[] = []): ContainerStatus[] =>
    of.filter(() => chance.of(80)).map(({ name }) => ({ name, image: 'app:1', imageID: '', ready: true, restartCount: 0, ...granted() }));
  const reason = chance.one(['Infeasible', 'Deferred', '']);
  const whole: object = chance.of(70) ? granted() : {};
  return {
    ...whole,
    containerStatuses: statuses(spec?.containers),
    initContainerStatuses: statuses(spec?.initContainers),
    ...(reason === '' ? {} : { conditions: [{ type: 'PodResizePending', status: 'True', reason }] }),
  };
}

function modernNode(chance: Chance, node: Node): Node {
  const values = ['3', '7', '0', 'high', '007'];
  const load = () => ({ key: 'load', value: chance.one(values), effect: chance.one(['NoSchedule', 'NoExecute', 'PreferNoSchedule']) });
  const taints = [...(node.spec?.taints ?? []), ...(chance.of(12) ? [load()] : [])];
  const allocatable: Record<string, string> = {
    ...node.status?.allocatable,
    ...chance.maybe(20, () => ({ 'hugepages-2Mi': chance.one(['4Mi', '64Mi']) })),
  };
  // A node that was made smaller may hold more than it can.
  if (chance.of(6)) allocatable['cpu'] = '100m';
  return {
    ...node,
    metadata: {
      ...node.metadata,
      labels: { ...node.metadata.labels, ...chance.maybe(40, () => ({ 'topology.kubernetes.io/region': chance.one(['r1', 'r2']) })) },
    },
    spec: { ...node.spec, ...(taints.length > 0 ? { taints } : {}) },
    status: {
      ...node.status,
      allocatable,
      capacity: allocatable,
      ...chance.maybe(50, () => ({ declaredFeatures: ['RestartAllContainersOnContainerExits'] })),
    },
  };
}

function modernPod(chance: Chance, pod: Pod, storage: Storage): Pod {
  const isProbe = pod.spec?.nodeName === undefined;
  const { spec = { containers: [] } } = pod;
  const constraints = spreads(chance);
  const containers = spec.containers.map((one) => (chance.of(10) ? { ...one, resources: odd(chance) } : one));
  const sidecars = chance.of(25) ? initContainers(chance) : [];
  const whole: object = chance.of(15)
    ? { resources: { requests: { cpu: chance.one(['6', '7', '8']), ...chance.maybe(50, () => ({ memory: chance.one(['4Gi', '6Gi']) })) } } }
    : {};
  const effect = () => ({ effect: chance.one(['NoSchedule', 'PreferNoSchedule', 'NoExecute']) });
  const load = () => ({
    key: 'load',
    operator: chance.one(['Gt', 'Lt']),
    value: chance.one(['5', '-5', '2', '0']),
    ...chance.maybe(60, effect),
  });
  const volumes = chance.of(isProbe ? 35 : 15) ? storage.volumes() : [];
  // Gone when the volumes are, or asked of nobody.
  const made: PodSpec = {
    ...spec,
    ...whole,
    containers: Object.keys(whole).length > 0 ? containers.map((one) => ({ ...one, resources: {} })) : containers,
    ...(sidecars.length > 0 ? { initContainers: sidecars } : {}),
    ...chance.maybe(10, () => ({ runtimeClassName: 'heavy' })),
    ...(isProbe && constraints.length > 0 ? { topologySpreadConstraints: constraints } : {}),
    ...chance.maybe(25, () => ({ affinity: { ...spec.affinity, ...affinities(chance, isProbe) } })),
    ...chance.maybe(20, () => ({ nodeSelector: chance.one<Record<string, string>>([{ disk: 'ssd' }, { [ZONE]: 'a' }, { rack: '2' }]) })),
    tolerations: [...(spec.tolerations ?? []), ...(chance.of(25) ? [load()] : [])],
    ...(volumes.length > 0 ? { volumes } : {}),
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...chance.maybe(50, () => ({ rev: chance.one(['1', '2']) })) } },
    spec: made,
  };
}

function odd(chance: Chance): Required<Container>['resources'] {
  const [isHuge, huge] = [chance.of(30), { 'hugepages-2Mi': '4Mi' }];
  return {
    requests: {
      ...chance.maybe(50, () => ({ cpu: chance.one(['1m', '1500u', '0.0005', '333m', '3']) })),
      ...chance.maybe(50, () => ({ memory: chance.one(['1', '100m', '1.5Gi', '123456789', '1e9']) })),
      ...(isHuge ? { cpu: '100m', ...huge } : {}),
    },
    limits: isHuge ? huge : {},
  };
}

function initContainers(chance: Chance): Container[] {
  const hostIP = () => ({ hostIP: chance.one(['0.0.0.0', '::', '::1', '127.0.0.1']) });
  const port = () => ({ containerPort: 80, hostPort: chance.one([80, 443, 81]), ...chance.maybe(40, hostIP) });
  const memory = () => ({ memory: '1Gi' });
  return Array.from({ length: 1 + chance.upTo(3) }, (_, n) => ({
    name: `init-${n}`,
    image: chance.one(['registry.test/big:2', 'registry.test/small:1', 'app:1']),
    ...chance.maybe(50, () => ({ restartPolicy: 'Always' })),
    resources: { requests: { cpu: chance.one(['100m', '500m', '1', '2']), ...chance.maybe(30, memory) } },
    ...chance.maybe(25, () => ({ ports: [port()] })),
  }));
}

/** None that is `{}`: kube-scheduler counts no pod for it, up to 1.37. */
function spreads(chance: Chance): Required<PodSpec>['topologySpreadConstraints'] {
  if (!chance.of(55)) return [];
  return chance.some([ZONE, HOST, 'rack', 'topology.kubernetes.io/region'], 45).map((topologyKey) => {
    const isHard = chance.of(55);
    return { topologyKey,
      maxSkew: 1 + chance.upTo(3),
      whenUnsatisfiable: isHard ? 'DoNotSchedule' : 'ScheduleAnyway',
      ...chance.maybe(92, () => ({ labelSelector: selector(chance) })),
      ...(isHard && chance.of(35) ? { minDomains: 1 + chance.upTo(4) } : {}),
      ...chance.maybe(40, () => ({ nodeAffinityPolicy: chance.one(['Honor', 'Ignore']) })),
      ...chance.maybe(40, () => ({ nodeTaintsPolicy: chance.one(['Honor', 'Ignore']) })),
    };
  }).map((one) => ('labelSelector' in one && chance.of(30) ? { ...one, labelSelector: { matchLabels: { app: 'web' } }, matchLabelKeys: ['rev', 'absent'] } : one)); // prettier-ignore
}

const selector = (chance: Chance) =>
  chance.one<object>([{ matchLabels: { app: 'web' } }, { matchLabels: { app: 'db' } }, { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, { matchExpressions: [{ key: 'rev', operator: 'DoesNotExist' }] }]); // prettier-ignore

function affinities(chance: Chance, isProbe: boolean): object {
  const anywhere = [{}, { matchLabels: { team: 'a' } }];
  // Of the pod that it places, kube-scheduler 1.36 takes a selector that matches a namespace without labels for one of all namespaces.
  const teams = isProbe ? anywhere : [...anywhere, { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }];
  const term = () => {
    const keys = chance.upTo(5);
    return {
      topologyKey: chance.one([ZONE, HOST, 'rack', 'topology.kubernetes.io/region']),
      labelSelector: keys < 2 ? { matchLabels: { app: 'web' } } : selector(chance),
      ...chance.maybe(25, () => ({ namespaces: ['there', 'nowhere'] })),
      ...chance.maybe(40, () => ({ namespaceSelector: chance.one<object>(teams) })),
      ...(keys === 0 ? { matchLabelKeys: ['rev'] } : {}),
      ...(keys === 1 ? { mismatchLabelKeys: ['rev', 'tier'] } : {}),
    };
  };
  const rules = (required: number) => ({
    ...chance.maybe(required, () => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(), ...(chance.of(30) ? [term()] : [])] })),
    ...chance.maybe(50, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 + chance.upTo(100), podAffinityTerm: term() }],
    })),
  });
  return { podAffinity: rules(30), podAntiAffinity: rules(40) };
}

/** Claims and volumes that are there before any pod, so that no scheduler changes them. */
class Storage {
  readonly all: StoredObject[] = [];
  readonly #chance: Chance;
  readonly #claims: string[];

  constructor(chance: Chance, id: string, nodes: readonly Node[]) {
    this.#chance = chance;
    for (const { metadata } of nodes)
      if (chance.of(60)) {
        const allocatable = chance.of(70) ? { allocatable: { count: chance.upTo(3) } } : {};
        const drivers = chance.of(85) ? [{ name: DRIVER, nodeID: metadata.name, topologyKeys: ['rack'], ...allocatable }] : [];
        this.all.push({ resource: csiNodes, object: { metadata: { name: metadata.name ?? '' }, spec: { drivers } } });
      }
    this.#claims = Array.from({ length: 6 }, (_, n) => this.#claim(`${id}-claim-${n}`, n));
  }

  #claim(name: string, n: number): string {
    const chance = this.#chance;
    const isBound = n < 4;
    const className = isBound ? chance.one(['', 'later']) : n === 4 ? 'at-once' : 'not-there';
    const mode = chance.one(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany', 'ReadOnlyMany']);
    const claim = {
      metadata: { name, namespace: home, ...(isBound ? { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } } : {}) },
      spec: {
        storageClassName: className,
        accessModes: [mode],
        resources: { requests: { storage: '1Gi' } },
        ...(isBound ? { volumeName: name } : {}),
      },
    };
    this.all.push({ resource: persistentVolumeClaims, object: claim });
    if (!isBound || chance.of(6)) return name;
    const values = chance.one([['1', 'a', 'ssd'], ['2', 'b', 'hdd'], ['7', 'c']]); // prettier-ignore
    const where = [{ key: chance.one(['rack', ZONE, 'disk']), operator: chance.one(['In', 'NotIn']), values }];
    const zoneLabels = [ZONE, 'topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone'];
    const volume = {
      metadata: {
        name,
        ...chance.maybe(35, () => ({ labels: { [chance.one(zoneLabels)]: chance.one(['a', 'b__c', 'r1']) } })),
      },
      spec: {
        storageClassName: className,
        accessModes: [mode],
        capacity: { storage: '1Gi' },
        csi: { driver: DRIVER, volumeHandle: chance.one([name, 'shared']) },
        claimRef: { kind: 'PersistentVolumeClaim', namespace: home, name },
        ...chance.maybe(40, () => ({ nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: where }] } } })),
      },
    };
    this.all.push({ resource: persistentVolumes, object: volume });
    return name;
  }

  volumes(): PodVolume[] {
    const chance = this.#chance;
    const claim = (claims: readonly string[]) => ({ claimName: chance.one(claims), ...chance.maybe(20, () => ({ readOnly: true })) });
    const monitors = [['m1', 'm2'], ['m2'], ['m3']]; // prettier-ignore
    const readOnly = () => chance.of(50);
    const own = () => ({ persistentVolumeClaim: claim(this.#claims.slice(0, 4)) });
    const kinds: (() => Omit<PodVolume, 'name'>)[] = [
      () => ({ gcePersistentDisk: { pdName: chance.one(['d1', 'd2']), readOnly: readOnly() } }),
      () => ({ awsElasticBlockStore: { volumeID: chance.one(['e1', 'e2']), readOnly: readOnly() } }),
      () => ({ iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2026-01.com.example:d', lun: 0, readOnly: readOnly() } }),
      () => ({ rbd: { monitors: chance.one(monitors), image: 'i', pool: chance.one(['p', 'q']), readOnly: readOnly() } }),
      () => ({ persistentVolumeClaim: { claimName: chance.one(['gone', ...this.#claims]) } }),
      ...Array.from({ length: 3 }, () => own),
    ];
    return Array.from({ length: 1 + chance.upTo(3) }, (_, n): PodVolume => ({ name: `v${n}`, ...chance.one(kinds)() }));
  }
}
