import { stringify } from 'yaml';
import { binding, CONTROLLER, GROUP, NODE_GROUP, role, rule, type Rule, type Subject, SYSTEM_NAMESPACE } from './rights.ts';
import { account, accountOf, commonFlags, labelsOf, leaseRights, running, type Workload } from './workload.ts';
import { EVENT_NAMESPACE, type KubeObject } from '../kube/api/object.ts';

/** Name of the Deployment of the rollout controller, and of the objects that belong to it. */
export const WORKLOAD = 'dkc-rollout-controller';
/** The Lease, in {@link SYSTEM_NAMESPACE}; DaemonSet and StatefulSet controllers have another one. */
export const LEASE = 'dkc-rollout';

/** Starts the controller when none runs: since both use the same Lease, the later one stands by. */
export const RUN_CONTROLLER = `dkc controllers run --controllers=rollout --leader-elect-resource-namespace=${SYSTEM_NAMESPACE} --leader-elect-resource-name=${LEASE}`;

const rolloutAt = { lease: LEASE, port: 10_461 };

export const rolloutWorkload: Workload = {
  ...rolloutAt,
  name: WORKLOAD,
  component: 'controllers',
  // The page listens on loopback only and needs no token there: port-forward reaches it.
  args: [
    'controllers',
    'run',
    '--controllers=rollout',
    `--rollout-namespace=${SYSTEM_NAMESPACE}`,
    ...commonFlags(rolloutAt),
    '--page-bind-address=127.0.0.1:10463',
    '--log-format=json',
  ],
  requests: { cpu: '100m', memory: '200Mi' },
  memoryLimit: '1Gi',
};

/** The rollout controller in the cluster. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
export function controllers(image: string, release: number): KubeObject[] {
  const subject = accountOf(rolloutWorkload);
  return [
    account(rolloutWorkload),
    binding(WORKLOAD, subject, undefined, CONTROLLER),
    binding(WORKLOAD, subject, SYSTEM_NAMESPACE, CONTROLLER),
    binding(WORKLOAD, subject, EVENT_NAMESPACE, CONTROLLER),
    ...leaseRights(rolloutWorkload),
    ...flowControl(subject, release),
    ...running(rolloutWorkload, image, release),
  ];
}

/** Name of the Deployment of the DaemonSet and StatefulSet controllers, and of the objects that belong to it. */
export const SETS = 'dkc-controllers';

const setsAt = { lease: SETS, port: 10_461 };

export const setsWorkload: Workload = {
  ...setsAt,
  name: SETS,
  component: 'sets',
  args: ['controllers', 'run', '--controllers=daemonset,statefulset', ...commonFlags(setsAt), '--log-format=json'],
  requests: { cpu: '100m', memory: '200Mi' },
  memoryLimit: '2Gi',
  priorityClass: 'system-cluster-critical',
  hostNetwork: true,
};

const setsRules: readonly Rule[] = [
  rule('apps', 'controllerrevisions', 'get list watch create patch delete'),
  rule('', 'pods', 'get list watch create patch delete'),
  rule('', 'events', 'create patch'),
  ...['daemonsets', 'statefulsets'].flatMap((kind) => [
    rule('apps', kind, 'get list watch'),
    rule('apps', `${kind}/status`, 'update'),
    // Pods, revisions and claims set blockOwnerDeletion, which requires the right to update the owner's finalizers.
    rule('apps', `${kind}/finalizers`, 'update'),
  ]),
  rule('', 'nodes', 'list watch'),
  rule('', 'pods/finalizers', 'update'),
  // The controller deletes no claim, but OwnerReferencesPermissionEnforcement requires this right to change owners.
  rule('', 'persistentvolumeclaims', 'list watch create update delete'),
  rule('storage.k8s.io', 'storageclasses', 'list watch'),
];

/** The controllers that take over from kube-controller-manager. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
export function sets(image: string, release: number): KubeObject[] {
  return [...withRights(setsWorkload, setsRules, release), ...running(setsWorkload, image, release)];
}

/** The account of a Deployment that replaces a part of the control plane, and its rights. */
function withRights(workload: Workload, rules: readonly Rule[], release: number): KubeObject[] {
  const subject = accountOf(workload);
  return [
    account(workload),
    role(workload.name, rules),
    binding(workload.name, subject),
    ...leaseRights(workload),
    ...asControlPlane(subject, release),
  ];
}

/** Name of the Deployment, of the objects that belong to it, and of the scheduler in `spec.schedulerName` of pods. */
export const SCHEDULER = 'dkc-scheduler';

const SCHEDULER_FOLDER = '/etc/dkc-scheduler';
const schedulerAt = { lease: SCHEDULER, port: 10_462 };

/** For running beside kube-scheduler, which keeps the pods that name no scheduler. */
export const schedulerConfigText = stringify({ profiles: [{ schedulerName: SCHEDULER }] });

export const schedulerWorkload: Workload = {
  ...schedulerAt,
  name: SCHEDULER,
  component: 'scheduler',
  args: ['scheduler', 'run', `--config=${SCHEDULER_FOLDER}/config.yaml`, ...commonFlags(schedulerAt), '--log-format=json'],
  requests: { cpu: '100m', memory: '200Mi' },
  memoryLimit: '2Gi',
  priorityClass: 'system-cluster-critical',
  files: { configMap: SCHEDULER, mountPath: SCHEDULER_FOLDER },
};

const schedulerRules: readonly Rule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
  { apiGroups: [''], resources: ['pods/binding'], verbs: ['create'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['nodes', 'namespaces', 'services', 'replicationcontrollers'], verbs: ['list', 'watch'] },
  { apiGroups: ['apps'], resources: ['replicasets', 'statefulsets', 'controllerrevisions'], verbs: ['list', 'watch'] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['persistentvolumes', 'persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: ['resource.k8s.io'], resources: ['deviceclasses'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['storage.k8s.io'],
    resources: ['storageclasses', 'csinodes', 'csidrivers', 'csistoragecapacities', 'volumeattachments'],
    verbs: ['list', 'watch'],
  },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];

/** The scheduler in the cluster, under its own name. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
export function scheduler(image: string, release: number): KubeObject[] {
  const metadata = { name: SCHEDULER, namespace: SYSTEM_NAMESPACE, labels: labelsOf(schedulerWorkload) };
  return [
    ...withRights(schedulerWorkload, schedulerRules, release),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.yaml': schedulerConfigText } },
    ...running(schedulerWorkload, image, release),
  ];
}

const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1';
const AGENTS = 'dkc-agents';

/** Before `system-nodes` (500), which covers the requests of kubelets. */
const AGENT_PRECEDENCE = 450;
/** Before `service-accounts` (9000), and before the agents. */
const CONTROLLER_PRECEDENCE = 440;
/** First release (1.N) that serves flowcontrol.apiserver.k8s.io/v1. */
const FIRST_WITH_FLOW_CONTROL = 29;

const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'], clusterScope: true, namespaces: ['*'] };

/**
 * Agents get separate seats for requests to `dkc.dev`: when all agents reconnect at once, heartbeats of kubelets are not delayed.
 * The controller shares the seats of the control plane, as kube-controller-manager does.
 * @param release - N of the API server's release 1.N
 */
function flowControl(controller: Subject, release: number): KubeObject[] {
  if (release < FIRST_WITH_FLOW_CONTROL) return [];
  return [
    {
      apiVersion: FLOW_CONTROL,
      kind: 'PriorityLevelConfiguration',
      metadata: { name: AGENTS },
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 10,
          lendablePercent: 50,
          limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
        },
      },
    },
    schema(AGENTS, AGENTS, AGENT_PRECEDENCE, { kind: 'Group', group: { name: NODE_GROUP } }, { ...everything, apiGroups: [GROUP] }),
    ...asControlPlane(controller, release),
  ];
}

/** Assigns requests of a ServiceAccount to `workload-high`, as for components of the control plane. @param release - N of 1.N */
function asControlPlane(subject: Subject, release: number): KubeObject[] {
  if (release < FIRST_WITH_FLOW_CONTROL) return [];
  const { name, namespace } = subject as Extract<Subject, { kind: 'ServiceAccount' }>;
  const who = { kind: 'ServiceAccount', serviceAccount: { name, namespace } };
  return [schema(name, 'workload-high', CONTROLLER_PRECEDENCE, who, everything)];
}

function schema(name: string, level: string, matchingPrecedence: number, subject: object, resources: object): KubeObject {
  return {
    apiVersion: FLOW_CONTROL,
    kind: 'FlowSchema',
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: [subject], resourceRules: [resources] }],
    },
  };
}
