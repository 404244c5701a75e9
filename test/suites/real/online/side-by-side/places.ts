import { KUBECONFIG, KUBELET_KUBECONFIG, NODE, NODE_IP } from '../../inside/names.ts';
import type { NodeName } from './steps.ts';

/** What the machine and the scenario on it call things. */
export const PLAIN_KUBECONFIG = '/etc/kubernetes/plain.conf';
/** What the native kubelet sees as /var/lib/kubelet. */
export const nativeDir = '/var/lib/kubelet-native';

/** The Node's name. */
export const nodeOf: Readonly<Record<NodeName, string>> = { native: 'native', plain: 'plain', ours: NODE };
export const kubeletUnitOf: Readonly<Record<NodeName, string>> = {
  native: 'kubelet-native.service',
  plain: 'kubelet-plain.service',
  ours: 'kubelet.service',
};
export const nodeIps: Readonly<Record<NodeName, string>> = { native: '10.200.0.2', plain: '10.200.0.3', ours: NODE_IP };
export const kubeconfigsOf: Readonly<Record<NodeName, readonly string[]>> = {
  native: ['/etc/kubernetes/native.conf'],
  plain: [PLAIN_KUBECONFIG],
  ours: [KUBECONFIG, KUBELET_KUBECONFIG],
};
