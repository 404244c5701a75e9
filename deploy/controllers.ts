import { EVENT_NAMESPACE, SYSTEM_NAMESPACE } from './names.ts';
import { binding, role, rule, type Subject } from './rbac.ts';
import { flowControl } from './flow-control.ts';
import { CONTROLLER } from './rollout-rights.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Name of the Deployment of the rollout controller, and of what belongs to it. */
export const WORKLOAD = 'dkc-rollout-controller';
/** The Lease, in {@link SYSTEM_NAMESPACE}: another one than that of DaemonSet and StatefulSet controllers. */
export const LEASE = 'dkc-rollout';
const METRICS_PORT = 10_461;
/** Number of the user in the image, which has no name for it. */
const USER = 65_532;
/** First release (1.N) that serves flowcontrol.apiserver.k8s.io/v1. */
const FIRST_WITH_FLOW_CONTROL = 29;

const labels = { 'app.kubernetes.io/name': 'dkc', 'app.kubernetes.io/component': 'controllers' };
export const controllerLabels: Readonly<Record<string, string>> = labels;
const metadata = { name: WORKLOAD, namespace: SYSTEM_NAMESPACE, labels };
const account: Subject = { kind: 'ServiceAccount', name: WORKLOAD, namespace: SYSTEM_NAMESPACE };

/** What `dkc` is started with. The page stays on loopback, where it asks for no token: port-forward reaches it. */
const args = [
  'controllers',
  'run',
  '--controllers=rollout',
  `--rollout-namespace=${SYSTEM_NAMESPACE}`,
  `--leader-elect-resource-namespace=${SYSTEM_NAMESPACE}`,
  `--leader-elect-resource-name=${LEASE}`,
  `--metrics-bind-address=:${METRICS_PORT}`,
  '--page-bind-address=127.0.0.1:10463',
  '--log-format=json',
];

/** The rollout controller in the cluster. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
export function controllers(image: string, release: number): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    binding(WORKLOAD, account, undefined, CONTROLLER),
    binding(WORKLOAD, account, SYSTEM_NAMESPACE, CONTROLLER),
    binding(WORKLOAD, account, EVENT_NAMESPACE, CONTROLLER),
    role(
      `${WORKLOAD}-lease`,
      [
        // A creation has no name yet that a role could hold it to.
        rule('coordination.k8s.io', 'leases', 'create'),
        rule('coordination.k8s.io', 'leases', 'get update', [LEASE]),
        // Who leads is said beside the Lease.
        rule('', 'events', 'create patch'),
      ],
      SYSTEM_NAMESPACE,
    ),
    binding(`${WORKLOAD}-lease`, account, SYSTEM_NAMESPACE),
    ...(release >= FIRST_WITH_FLOW_CONTROL ? flowControl(account) : []),
    deployment(image),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ name: 'metrics', port: METRICS_PORT, protocol: 'TCP', targetPort: 'metrics' }] },
    },
    // policy/v1 is served from 1.21 on; before that one of two pods may be evicted with the other.
    ...(release >= 21
      ? [{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { maxUnavailable: 1, selector: { matchLabels: labels } } }]
      : []),
    // Only metrics and probes come in. What goes out is the API server and what gates ask, whose addresses nobody here knows.
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata,
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ['Ingress'],
        ingress: [{ ports: [{ port: METRICS_PORT, protocol: 'TCP' }] }],
      },
    },
  ];
}

/** Two pods on two nodes where there are two: one works, the other stands by. Fits the Pod Security Standard `restricted`. */
function deployment(image: string): KubeObject {
  const probe = (path: string) => ({ httpGet: { path, port: 'metrics' } });
  const container = {
    name: 'controllers',
    image,
    args,
    ports: [{ name: 'metrics', containerPort: METRICS_PORT, protocol: 'TCP' }],
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10, timeoutSeconds: 5 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 5 },
    // No limit of CPU: throttled, it would miss the renewal of its lease.
    resources: { requests: { cpu: '100m', memory: '200Mi' }, limits: { memory: '1Gi' } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  };
  const spread = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: WORKLOAD,
          automountServiceAccountToken: true,
          securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
          tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
          affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: spread }] } },
          containers: [container],
        },
      },
    },
  };
}
