import { SYSTEM_NAMESPACE } from './names.ts';
import { binding, role, rule, type Subject } from './rights.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Number of the user in the image. */
const USER = 65_532;
/** The first release (1.N) that serves policy/v1. */
const FIRST_WITH_BUDGETS = 21;

/** A process of dkc that leads by a lease in {@link SYSTEM_NAMESPACE}, and what belongs to it. */
export interface Workload {
  /** Of the Deployment and of all that belongs to it. */
  name: string;
  /** Label of its pods that no others have. */
  component: string;
  /** What `dkc` is started with. */
  args: readonly string[];
  /** Of metrics and probes. */
  port: number;
  lease: string;
  requests: { cpu: string; memory: string };
  memoryLimit: string;
  /** Pods without a place are started before others; of what other pods wait for. */
  priorityClass?: string;
  /** On the network of its node: for what pods of a DaemonSet wait for, such as those of the pod network. @default false */
  hostNetwork?: true;
  /** Name of a ConfigMap, and where the container finds its files. */
  files?: { configMap: string; mountPath: string };
}

export const labelsOf = ({ component }: Pick<Workload, 'component'>): Record<string, string> => ({
  'app.kubernetes.io/name': 'dkc',
  'app.kubernetes.io/component': component,
});

export const accountOf = ({ name }: Pick<Workload, 'name'>): Subject => ({ kind: 'ServiceAccount', name, namespace: SYSTEM_NAMESPACE });

const metadataOf = (of: Workload) => ({ name: of.name, namespace: SYSTEM_NAMESPACE, labels: labelsOf(of) });

/** What the process runs as. */
export const account = (of: Workload): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: metadataOf(of),
  automountServiceAccountToken: false,
});

/** The rights to lead. */
export function leaseRights(of: Workload): KubeObject[] {
  const name = `${of.name}-lease`;
  return [
    role(
      name,
      [
        // A creation has no name yet that a role could hold it to.
        rule('coordination.k8s.io', 'leases', 'create'),
        rule('coordination.k8s.io', 'leases', 'get update', [of.lease]),
        // Who leads is said beside the Lease.
        rule('', 'events', 'create patch'),
      ],
      SYSTEM_NAMESPACE,
    ),
    binding(name, accountOf(of), SYSTEM_NAMESPACE),
  ];
}

/** Flags of every such process: its lease, and where it is scraped and probed. */
export const commonFlags = ({ lease, port }: Pick<Workload, 'lease' | 'port'>): string[] => [
  `--leader-elect-resource-namespace=${SYSTEM_NAMESPACE}`,
  `--leader-elect-resource-name=${lease}`,
  `--metrics-bind-address=:${port}`,
];

/** The Deployment, and what surrounds its pods. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
export function running(of: Workload, image: string, release: number): KubeObject[] {
  const [metadata, labels] = [metadataOf(of), labelsOf(of)];
  return [
    deployment(of, image),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ name: 'metrics', port: of.port, protocol: 'TCP', targetPort: 'metrics' }] },
    },
    // Before policy/v1 one of two pods may be evicted with the other.
    ...(release >= FIRST_WITH_BUDGETS
      ? [{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { maxUnavailable: 1, selector: { matchLabels: labels } } }]
      : []),
    // Only metrics and probes come in. What goes out is the API server and what gates and extenders ask, whose addresses nobody here knows.
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata,
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ['Ingress'],
        ingress: [{ ports: [{ port: of.port, protocol: 'TCP' }] }],
      },
    },
  ];
}

/** What the Pod Security Standard `restricted` asks of a container. */
export const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
/** And of a pod. */
export const restrictedPod = { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } };

/** The first one everywhere; the others are on a node whose pod network is not there yet. */
const tolerated = ['node-role.kubernetes.io/control-plane', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/network-unavailable'];

/** Two pods on two nodes where there are two: one works, the other stands by. Fits the Pod Security Standard `restricted`, but for the network of the node. */
function deployment(of: Workload, image: string): KubeObject {
  const { files, priorityClass, hostNetwork } = of;
  const labels = labelsOf(of);
  const probe = (path: string) => ({ httpGet: { path, port: 'metrics' } });
  const container = {
    name: of.component,
    image,
    args: [...of.args],
    ports: [{ name: 'metrics', containerPort: of.port, protocol: 'TCP' }],
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10, timeoutSeconds: 5 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 5 },
    // No limit of CPU: throttled, it would miss the renewal of its lease.
    resources: { requests: of.requests, limits: { memory: of.memoryLimit } },
    securityContext: restricted,
    ...(files ? { volumeMounts: [{ name: 'files', mountPath: files.mountPath, readOnly: true }] } : {}),
  };
  const spread = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(of),
    spec: {
      replicas: 2,
      // A node has the port once: where there are no more nodes than pods, the old one has to go first.
      ...(hostNetwork ? { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } : {}),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...(hostNetwork ? { hostNetwork, dnsPolicy: 'ClusterFirstWithHostNet' } : {}),
          serviceAccountName: of.name,
          automountServiceAccountToken: true,
          ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
          securityContext: restrictedPod,
          tolerations: tolerated.slice(0, hostNetwork ? undefined : 1).map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' })),
          affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: spread }] } },
          containers: [container],
          ...(files ? { volumes: [{ name: 'files', configMap: { name: files.configMap } }] } : {}),
        },
      },
    },
  };
}
