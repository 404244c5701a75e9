import type { Affinity, PodSpec } from 'kubernetes-types/core/v1.js';
import { withClaim } from './claims.ts';
import type { Pod } from '../../scheduler/types.ts';

const APPS = 5;

export interface PodShape {
  cpu?: string;
  spec?: Partial<PodSpec>;
  /** Name of a PriorityClass, which must exist. */
  priorityClassName?: string;
}

/** A pod like that of a Deployment: requests, a probe, some environment. @param n - index of the pod */
export function benchPod(namespace: string, name: string, n: number, { cpu = '100m', spec = {}, priorityClassName }: PodShape = {}): Pod {
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { app: appOf(n), tier: 'web' } },
    spec: {
      containers: [
        {
          name: 'server',
          image: 'registry.example.com/server:v1.0.0',
          args: ['--listen=:8080'],
          env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          resources: { limits: { memory: '128Mi' }, requests: { cpu, memory: '128Mi' } },
          readinessProbe: probe,
          livenessProbe: probe,
        },
      ],
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      ...spec,
    },
  };
}

const appOf = (n: number): string => `app-${n % APPS}`;
const ofApp = (n: number, topologyKey: string) => ({ topologyKey, labelSelector: { matchLabels: { app: appOf(n) } } });
const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const withAffinity = (affinity: Affinity): PodShape => ({ spec: { affinity } });

/** Pods that run before a scheduler gets its pods. */
export interface Standing {
  /** Number of these pods, for a number of nodes and pods. */
  count: (nodes: number, pods: number) => number;
  shape: (n: number, nodes: readonly string[]) => PodShape;
  /** Created again for every turn: the scheduler's changes of them cannot be undone. */
  anew: boolean;
  /** Kubelets run, so that deleted pods are removed. */
  kubelets?: boolean;
}

/** Pods of one kind, for one scheduler after the other. */
export interface Workload {
  /** Description. */
  text: string;
  /** Share of the requested number of pods. */
  share: number;
  shape: (n: number, nodes: readonly string[]) => PodShape;
  /** Shape of the pods for the warm-up. @default shape */
  warmUp?: (n: number, nodes: readonly string[]) => PodShape;
  standing?: Standing;
  /** Each pod has a separate claim, created and bound before. */
  claims?: true;
}

export const PRIORITY_CLASS = 'bench-important';
const nameAt = (nodes: readonly string[], n: number): string => nodes[n % nodes.length] ?? '';

export const workloads = {
  basic: { text: 'basic', share: 1, shape: () => ({}) },
  'node-affinity': {
    text: 'node affinity',
    share: 0.5,
    shape: () =>
      withAffinity({
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: ['here-0', 'here-1'] }] }],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, preference: { matchExpressions: [{ key: ZONE, operator: 'In', values: ['here-1'] }] } },
          ],
        },
      }),
  },
  spread: {
    text: 'hard spread over zones',
    share: 0.5,
    shape: (n) => ({ spec: { topologySpreadConstraints: [{ ...ofApp(n, ZONE), maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] } }),
  },
  'anti-affinity': {
    text: 'required anti-affinity, hostname',
    share: 0.5,
    shape: (n) => withAffinity({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [ofApp(n, HOSTNAME)] } }),
  },
  'preferred-affinity': {
    text: 'preferred affinity, hostname',
    share: 0.5,
    shape: (n) =>
      withAffinity({
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: ofApp(n, HOSTNAME) }] },
      }),
  },
  affinity: {
    text: 'required affinity, zone',
    share: 0.5,
    shape: (n) => withAffinity({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [ofApp(n, ZONE)] } }),
  },
  preemption: {
    text: 'preemption',
    share: 0.5,
    shape: () => ({ cpu: '3', priorityClassName: PRIORITY_CLASS }),
    // Fits into the free resources.
    warmUp: () => ({ cpu: '10m', priorityClassName: PRIORITY_CLASS }),
    standing: {
      // Two pods use all but half a CPU of a node.
      count: (nodes) => 2 * nodes,
      shape: (n, nodes) => ({ cpu: '3750m', spec: { nodeName: nameAt(nodes, n) } }),
      anew: true,
      kubelets: true,
    },
  },
  unschedulable: {
    text: 'beside unschedulable pods',
    share: 0.5,
    shape: () => ({}),
    standing: { count: (_, pods) => 5 * pods, shape: () => ({ cpu: '100' }), anew: false },
  },
  pinned: {
    text: 'each for one node, as of a DaemonSet',
    share: 0.5,
    shape: (n, nodes) => {
      const here = { key: 'metadata.name', operator: 'In', values: [nameAt(nodes, n)] };
      return withAffinity({
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [here] }] } },
      });
    },
    warmUp: () => ({}),
  },
  volumes: {
    text: 'a bound claim each',
    share: 0.5,
    shape: (n) => withClaim('pod', n),
    warmUp: (n) => withClaim('warm', n),
    claims: true,
  },
} as const satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof workloads;

/** @param text - names separated by commas; undefined: all. @throws {RangeError} for an unknown name */
export function chosenWorkloads(text: string | undefined): WorkloadName[] {
  const all = Object.keys(workloads) as WorkloadName[];
  if (text === undefined || text === '') return all;
  return text.split(',').map((name) => {
    const found = all.find((one) => one === name.trim());
    if (found === undefined) throw new RangeError(`there is no workload ${name}; there are ${all.join(', ')}`);
    return found;
  });
}
