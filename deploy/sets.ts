import { asControlPlane } from './flow-control.ts';
import { binding, role, rule, type Rule } from './rights.ts';
import { account, accountOf, commonFlags, leaseRights, running, type Workload } from './workload.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Name of the Deployment of the DaemonSet and StatefulSet controllers, and of what belongs to it. */
export const SETS = 'dkc-controllers';

const at = { lease: SETS, port: 10_461 };

export const setsWorkload: Workload = {
  ...at,
  name: SETS,
  component: 'sets',
  args: ['controllers', 'run', '--controllers=daemonset,statefulset', ...commonFlags(at), '--log-format=json'],
  requests: { cpu: '100m', memory: '200Mi' },
  memoryLimit: '2Gi',
  priorityClass: 'system-cluster-critical',
  hostNetwork: true,
};

const rules: readonly Rule[] = [
  rule('apps', 'controllerrevisions', 'get list watch create patch delete'),
  rule('', 'pods', 'get list watch create patch delete'),
  rule('', 'events', 'create patch'),
  ...['daemonsets', 'statefulsets'].flatMap((kind) => [
    rule('apps', kind, 'get list watch'),
    rule('apps', `${kind}/status`, 'update'),
    // Pods, revisions and claims block the deletion of their owner, which only who may change its finalizers can ask for.
    rule('apps', `${kind}/finalizers`, 'update'),
  ]),
  rule('', 'nodes', 'list watch'),
  rule('', 'pods/finalizers', 'update'),
  // None is deleted: servers that check it let nobody else change the owner of a claim.
  rule('', 'persistentvolumeclaims', 'list watch create update delete'),
  rule('storage.k8s.io', 'storageclasses', 'list watch'),
];

/** The controllers that take over from kube-controller-manager. @param image - such as `dkc:0.1.0` @param release - N of the API server's release 1.N */
export function sets(image: string, release: number): KubeObject[] {
  const subject = accountOf(setsWorkload);
  return [
    account(setsWorkload),
    role(SETS, rules),
    binding(SETS, subject),
    ...leaseRights(setsWorkload),
    ...asControlPlane(subject, release),
    ...running(setsWorkload, image, release),
  ];
}
