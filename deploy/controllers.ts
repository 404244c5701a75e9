import { EVENT_NAMESPACE, SYSTEM_NAMESPACE } from './names.ts';
import { binding, CONTROLLER } from './rights.ts';
import { flowControl } from './flow-control.ts';
import { account, accountOf, commonFlags, leaseRights, running, type Workload } from './workload.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Name of the Deployment of the rollout controller, and of what belongs to it. */
export const WORKLOAD = 'dkc-rollout-controller';
/** The Lease, in {@link SYSTEM_NAMESPACE}: another one than that of DaemonSet and StatefulSet controllers. */
export const LEASE = 'dkc-rollout';

const at = { lease: LEASE, port: 10_461 };

export const rolloutWorkload: Workload = {
  ...at,
  name: WORKLOAD,
  component: 'controllers',
  // The page stays on loopback, where it asks for no token: port-forward reaches it.
  args: [
    'controllers',
    'run',
    '--controllers=rollout',
    `--rollout-namespace=${SYSTEM_NAMESPACE}`,
    ...commonFlags(at),
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
