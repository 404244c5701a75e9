import type { KubeObject } from '../../kube/api/object.ts';

const SETS = 200;
const NODES = 5_000;

/** A realistic pod: two containers, probes, volumes, tolerations, conditions and managedFields; about 6 KB of JSON. */
export function benchPod(n: number): KubeObject {
  const set = `app-${n % SETS}`;
  const name = `${set}-${n.toString(36).padStart(6, '0')}`;
  const at = '2026-03-01T00:00:00Z';
  const probe = {
    httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  };
  const container = (of: string) => ({
    name: of,
    image: `registry.example.com/team-${n % 20}/${of}:v1.${n % 7}.0`,
    args: ['--log-level=info', `--set=${set}`, '--listen=:8080'],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      { name: 'GOMAXPROCS', value: '2' },
    ],
    resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '250m', memory: '256Mi' } },
    volumeMounts: [{ name: 'token', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
    livenessProbe: probe,
    readinessProbe: probe,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  });
  const condition = (type: string) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: at });
  const state = (of: string) => ({
    name: of,
    state: { running: { startedAt: at } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image: `registry.example.com/team-${n % 20}/${of}:v1.${n % 7}.0`,
    imageID: `registry.example.com/${of}@sha256:${n.toString(16).padStart(64, '0')}`,
    containerID: `containerd://${(n * 7).toString(16).padStart(64, '0')}`,
    started: true,
  });
  const managed = (manager: string, fields: readonly string[]) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: at,
    fieldsType: 'FieldsV1',
    fieldsV1: Object.fromEntries(fields.map((field) => [`f:${field}`, { '.': {}, 'f:a': {}, 'f:b': {}, 'f:c': {} }])),
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `${set}-`,
      namespace: 'default',
      uid: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
      creationTimestamp: at,
      labels: { app: set, 'pod-template-hash': `${n % 1_000}`, tier: ['web', 'db', 'cache'][n % 3] ?? '' },
      annotations: { 'example.com/at': '0', 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: set,
          uid: `10000000-0000-4000-8000-${(n % SETS).toString(16).padStart(12, '0')}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        managed('kube-controller-manager', [
          'metadata',
          'labels',
          'ownerReferences',
          'spec',
          'containers',
          'env',
          'image',
          'ports',
          'resources',
          'volumes',
        ]),
        managed('kubelet', ['status', 'conditions', 'containerStatuses', 'hostIP', 'phase', 'podIP', 'podIPs', 'startTime']),
      ],
    },
    spec: {
      volumes: [{ name: 'token', secret: { secretName: `${set}-token`, defaultMode: 420 } }],
      containers: [container('server'), container('proxy')],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: set,
      serviceAccount: set,
      nodeName: `node-${n % NODES}`,
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: ['not-ready', 'unreachable'].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
      hostIP: `10.${n % 200}.${n % 250}.1`,
      podIP: `10.${Math.floor(n / 62_500)}.${Math.floor(n / 250) % 250}.${n % 250}`,
      podIPs: [{ ip: `10.${Math.floor(n / 62_500)}.${Math.floor(n / 250) % 250}.${n % 250}` }],
      startTime: at,
      containerStatuses: [state('server'), state('proxy')],
      qosClass: 'Burstable',
    },
  };
}

/** Fields of a pod that controllers and the scheduler read. */
export const podFields: readonly string[] = [
  'metadata.labels',
  'metadata.annotations',
  'metadata.creationTimestamp',
  'metadata.deletionGracePeriodSeconds',
  'spec.nodeName',
  'spec.schedulerName',
  'spec.priority',
  'spec.preemptionPolicy',
  'spec.nodeSelector',
  'spec.affinity',
  'spec.tolerations',
  'spec.topologySpreadConstraints',
  'spec.hostNetwork',
  'spec.overhead',
  'spec.schedulingGates',
  'spec.terminationGracePeriodSeconds',
  'spec.hostname',
  'spec.subdomain',
  'spec.volumes',
  'spec.containers.name',
  'spec.containers.image',
  'spec.containers.ports',
  'spec.containers.resources',
  'spec.initContainers.name',
  'spec.initContainers.resources',
  'status.phase',
  'status.reason',
  'status.conditions',
  'status.nominatedNodeName',
  'status.startTime',
];
