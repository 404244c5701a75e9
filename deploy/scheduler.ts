import { stringify } from 'yaml';
import { asControlPlane } from './flow-control.ts';
import { SYSTEM_NAMESPACE } from './names.ts';
import { binding, role, type Rule } from './rights.ts';
import { account, accountOf, commonFlags, labelsOf, leaseRights, running, type Workload } from './workload.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Name of the Deployment, of what belongs to it, and what pods say in `spec.schedulerName`. */
export const SCHEDULER = 'dkc-scheduler';

const FOLDER = '/etc/dkc-scheduler';
const at = { lease: SCHEDULER, port: 10_462 };

/** Beside kube-scheduler: pods that name no scheduler stay with that. */
export const schedulerConfigText = stringify({ profiles: [{ schedulerName: SCHEDULER }] });

export const schedulerWorkload: Workload = {
  ...at,
  name: SCHEDULER,
  component: 'scheduler',
  args: ['scheduler', 'run', `--config=${FOLDER}/config.yaml`, ...commonFlags(at), '--log-format=json'],
  requests: { cpu: '100m', memory: '200Mi' },
  memoryLimit: '2Gi',
  priorityClass: 'system-cluster-critical',
  files: { configMap: SCHEDULER, mountPath: FOLDER },
};

const rules: readonly Rule[] = [
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

/** The scheduler in the cluster, under a name of its own. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
export function scheduler(image: string, release: number): KubeObject[] {
  const subject = accountOf(schedulerWorkload);
  const metadata = { name: SCHEDULER, namespace: SYSTEM_NAMESPACE, labels: labelsOf(schedulerWorkload) };
  return [
    account(schedulerWorkload),
    role(SCHEDULER, rules),
    binding(SCHEDULER, subject),
    ...leaseRights(schedulerWorkload),
    ...asControlPlane(subject, release),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.yaml': schedulerConfigText } },
    ...running(schedulerWorkload, image, release),
  ];
}
