import { type Random, seededRandom } from '../../../base/random.ts';
import {
  configMaps,
  controllerRevisions,
  daemonSets,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  priorityClasses,
  type Resource,
  services,
  statefulSets,
  storageClasses,
} from '../../../kube/api/object.ts';
import { container, type Hostile, many, named, nested, nobodys, record } from './corpus/hostile.ts';

/** Bytes of one object, about: servers take a little more. */
const MAX_BYTES = 1_200_000;
const LETTERS = ['<', '&', '\u2028', '\u200b', '\ufeff', '\ud800', '\b', '\\', '"', '{', '[', 'é', '\u{1f600}', 'x', ' ', '\n'];

/** Chance, and what may still be spent on one object. */
class Draw {
  readonly random: Random;
  #left = MAX_BYTES;

  constructor(random: Random) {
    this.random = random;
  }

  one<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  /** Small or large alike, each power of ten as likely. @param bytes - of each */
  count(bytes: number, most = 50_000): number {
    const room = Math.min(most, Math.floor(this.#left / bytes));
    const count = Math.max(1, Math.floor(Math.max(1, room) ** this.random()));
    this.#left -= count * bytes;
    return count;
  }

  text(most = 1_000_000): string {
    return this.one(LETTERS).repeat(this.count(6, most));
  }

  labels(): Record<string, string> {
    return record(this.count(20), (at) => [`k-${at}`, this.one(['', 'v', `v-${at}`])]);
  }

  number(): number {
    return this.one([0, 1, 7, 2 ** 31 - 1, 10_000, 500_000, 2 ** 20]);
  }
}

type Inflater = (draw: Draw) => object;

const selectorOf = (draw: Draw): object => ({
  matchExpressions: many(draw.count(40), (at) => ({ key: `k-${at}`, operator: draw.one(['Exists', 'DoesNotExist']) })),
});
const affinityTerm = (draw: Draw) => (at: number) => ({
  topologyKey: draw.one(['zone', `zone-${at}`, 'kubernetes.io/hostname']),
  labelSelector: { matchLabels: { app: draw.one(['a', `a-${at}`]) } },
});

/** Parts of a pod's spec. */
const podParts: readonly Inflater[] = [
  (draw) => ({ containers: [container({ env: [{ name: 'X', value: draw.text() }] })] }),
  (draw) => ({ containers: [container({ env: many(draw.count(30), (at) => ({ name: `N${at}`, value: 'v' })) })] }),
  (draw) => ({ containers: many(draw.count(300), (at) => ({ name: `c-${at}`, image: 'i' })) }),
  (draw) => ({ initContainers: many(draw.count(300), (at) => ({ name: `i-${at}`, image: 'i' })) }),
  (draw) => ({ nodeSelector: draw.labels() }),
  (draw) => ({ tolerations: many(draw.count(60), (at) => ({ key: `k-${at}`, operator: 'Exists' })) }),
  (draw) => ({ volumes: many(draw.count(40), (at) => ({ name: `v-${at}`, emptyDir: {} })) }),
  (draw) => ({
    volumes: many(draw.count(70), (at) => ({ name: `c-${at}`, persistentVolumeClaim: { claimName: `c-${at}` } })),
  }),
  (draw) => ({
    affinity: {
      [draw.one(['podAffinity', 'podAntiAffinity'])]: {
        requiredDuringSchedulingIgnoredDuringExecution: many(draw.count(100), affinityTerm(draw)),
      },
    },
  }),
  (draw) => ({
    affinity: {
      [draw.one(['podAffinity', 'podAntiAffinity'])]: {
        preferredDuringSchedulingIgnoredDuringExecution: many(draw.count(120), (at) => ({
          weight: 1 + (at % 100),
          podAffinityTerm: affinityTerm(draw)(at),
        })),
      },
    },
  }),
  (draw) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: many(draw.count(80), (at) => ({ matchExpressions: [{ key: `k-${at}`, operator: 'DoesNotExist' }] })),
        },
      },
    },
  }),
  (draw) => ({
    topologySpreadConstraints: many(draw.count(160), (at) => ({
      maxSkew: 1,
      topologyKey: `z-${at}`,
      whenUnsatisfiable: draw.one(['DoNotSchedule', 'ScheduleAnyway']),
      labelSelector: { matchLabels: { app: `a-${at}` } },
    })),
  }),
  (draw) => ({ unknown: nested(draw.count(10, 400)) }),
];
const metadataParts: readonly Inflater[] = [
  (draw) => ({ labels: draw.labels() }),
  (draw) => ({ annotations: { x: draw.text(40_000) } }),
  (draw) => ({ annotations: record(draw.count(40, 5_000), (at) => [`k-${at}`, 'v']) }),
  (draw) => ({
    annotations: record(1, () => [`dkc.dev/${draw.one(optIns)}`, draw.one([draw.text(40_000), 'true', '0-9999', '100%', '10m'])]),
  }),
  () => ({}),
];
const optIns = [
  'paused',
  'reserve-ordinals',
  'expand-claims',
  'max-unavailable',
  'partition',
  'rollout-node-selector',
  'progress-deadline',
];

interface Kind {
  resource: Resource;
  apiVersion: string;
  body: (draw: Draw, name: string) => object;
}

const some = (draw: Draw, parts: readonly Inflater[]): object =>
  Object.assign({}, ...many(1 + Math.floor(draw.random() * 3), () => draw.one(parts)(draw))) as object;
const podSpec = (draw: Draw): object => ({ containers: [container()], ...some(draw, podParts) });
const template = (draw: Draw, name: string): object => ({
  metadata: { labels: { ...(draw.random() < 0.3 ? draw.labels() : {}), app: name } },
  spec: { ...podSpec(draw), ...nobodys },
});
const claimSpec = (draw: Draw): object => ({
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: draw.one(['1Gi', '1', '9223372036854775807', '1m']) } },
  ...(draw.random() < 0.5 ? { selector: selectorOf(draw), storageClassName: '' } : {}),
});

const kinds: readonly Kind[] = [
  { resource: pods, apiVersion: 'v1', body: (draw) => ({ spec: podSpec(draw) }) },
  {
    resource: statefulSets,
    apiVersion: 'apps/v1',
    body: (draw, name) => ({
      spec: {
        serviceName: 's',
        replicas: draw.number(),
        podManagementPolicy: draw.one(['Parallel', 'OrderedReady']),
        selector: { matchLabels: { app: name } },
        template: template(draw, name),
        volumeClaimTemplates: many(draw.random() < 0.5 ? 0 : draw.count(200, 300), (at) => ({
          metadata: { name: `t${at}` },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        })),
      },
    }),
  },
  {
    resource: daemonSets,
    apiVersion: 'apps/v1',
    body: (draw, name) => ({ spec: { selector: { matchLabels: { app: name } }, template: template(draw, name) } }),
  },
  {
    resource: controllerRevisions,
    apiVersion: 'apps/v1',
    body: (draw) => ({
      revision: draw.number(),
      data: draw.one([(): object => nested(draw.count(10, 400)), (): object => ({ x: draw.text() }), (): object => draw.labels()])(),
    }),
  },
  {
    resource: nodes,
    apiVersion: 'v1',
    body: (draw) => ({
      spec: {
        taints: many(draw.count(60, 5_000), (at) => ({
          key: `k-${at}`,
          effect: draw.one(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
        })),
      },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        allocatable: { cpu: '8', memory: '32Gi', pods: '10', ...record(draw.count(40, 10_000), (at) => [`example.com/r-${at}`, '1']) },
        images: many(draw.count(40, 5_000), (at) => ({ names: [`i-${at}`], sizeBytes: draw.number() })),
      },
    }),
  },
  { resource: persistentVolumeClaims, apiVersion: 'v1', body: (draw) => ({ spec: claimSpec(draw) }) },
  {
    resource: persistentVolumes,
    apiVersion: 'v1',
    body: (draw) => ({
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        hostPath: { path: `/${'x'.repeat(draw.count(1, 100_000))}` },
        nodeAffinity: {
          required: { nodeSelectorTerms: many(draw.count(80), (at) => ({ matchExpressions: [{ key: `k-${at}`, operator: 'Exists' }] })) },
        },
      },
    }),
  },
  {
    resource: storageClasses,
    apiVersion: 'storage.k8s.io/v1',
    body: (draw) => ({ provisioner: 'p', parameters: { x: draw.text(100_000) }, volumeBindingMode: 'WaitForFirstConsumer' }),
  },
  { resource: services, apiVersion: 'v1', body: (draw) => ({ spec: { clusterIP: 'None', selector: draw.labels() } }) },
  { resource: namespaces, apiVersion: 'v1', body: () => ({}) },
  {
    resource: configMaps,
    apiVersion: 'v1',
    body: (draw) => ({ data: draw.random() < 0.5 ? { kubelet: draw.text() } : record(draw.count(20), (at) => [`k-${at}`, '']) }),
  },
  {
    resource: priorityClasses,
    apiVersion: 'scheduling.k8s.io/v1',
    body: (draw) => ({ value: draw.one([-(2 ** 31), -1, 0, 1_000_000_000]), description: draw.text() }),
  },
];

/** An object of some kind with something in it that is extreme: how large, how deep, how many, in which letters. The same seed gives the same object. */
export function randomHostile(seed: number): Hostile {
  const draw = new Draw(seededRandom(seed));
  const { resource, apiVersion, body } = draw.one(kinds);
  const name = `r-${seed}`;
  const object = named(name, apiVersion, resource.kind, body(draw, name), some(draw, metadataParts));
  return { why: `SEED=${seed} (a ${resource.kind})`, resource, objects: () => [object], refusedBy: 'perhaps' };
}
