import { binding, role, rule, type Subject, SYSTEM_NAMESPACE } from './rights.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** UID of the user in the image. */
const USER = 65_532;
/** The first release (1.N) that serves policy/v1. */
const FIRST_WITH_BUDGETS = 21;

/** A process of dkc with leader election by a lease in {@link SYSTEM_NAMESPACE}, and the objects that belong to it. */
export interface Workload {
  /** Name of the Deployment and of all objects that belong to it. */
  name: string;
  /** Label value that only its pods have. */
  component: string;
  /** Arguments of `dkc`. */
  args: readonly string[];
  /** Port of metrics and probes. */
  port: number;
  lease: string;
  requests: { cpu: string; memory: string };
  memoryLimit: string;
  /** PriorityClass, for workloads that other pods wait for: their pods are scheduled first. */
  priorityClass?: string;
  /** Uses the network of the node: for controllers that the pods of a pod network's DaemonSet wait for. @default false */
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

/** The ServiceAccount of the process. */
export const account = (of: Workload): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: metadataOf(of),
  automountServiceAccountToken: false,
});

/** The rights for leader election. */
export function leaseRights(of: Workload): KubeObject[] {
  const name = `${of.name}-lease`;
  return [
    role(
      name,
      [
        // RBAC cannot restrict a creation to a name.
        rule('coordination.k8s.io', 'leases', 'create'),
        rule('coordination.k8s.io', 'leases', 'get update', [of.lease]),
        // Leader election records events in the namespace of the Lease.
        rule('', 'events', 'create patch'),
      ],
      SYSTEM_NAMESPACE,
    ),
    binding(name, accountOf(of), SYSTEM_NAMESPACE),
  ];
}

/** Flags of every such process: its lease, and the address of metrics and probes. */
export const commonFlags = ({ lease, port }: Pick<Workload, 'lease' | 'port'>): string[] => [
  `--leader-elect-resource-namespace=${SYSTEM_NAMESPACE}`,
  `--leader-elect-resource-name=${lease}`,
  `--metrics-bind-address=:${port}`,
];

/** The Deployment, and the objects around its pods. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
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
    // Without policy/v1 there is no budget: both pods may be evicted at once.
    ...(release >= FIRST_WITH_BUDGETS
      ? [{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { maxUnavailable: 1, selector: { matchLabels: labels } } }]
      : []),
    // Ingress: only metrics and probes. Egress is open: the addresses of the API server, and of the servers of gates and extenders, are unknown here.
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

/** What the Pod Security Standard `restricted` requires of a container. */
export const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
/** What it requires of a pod. */
export const restrictedPod = { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } };

/** All workloads tolerate the first taint; the others are on nodes whose pod network is not ready yet. */
const tolerated = ['node-role.kubernetes.io/control-plane', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/network-unavailable'];

/** Two pods, on two nodes if there are two: one leads, the other stands by. Meets the Pod Security Standard `restricted`, except for hostNetwork. */
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
    // No CPU limit: when throttled, the process could miss the renewal of its lease.
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
      // Only one pod per node can have the port: without a spare node, the old pod must be deleted first.
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
