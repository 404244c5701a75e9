import { kubeletCover } from '../../../../support/real-parts/real-kubelet.ts';
import { localConfig } from '../../inside/configs.ts';
import { KUBECONFIG, KUBELET_KUBECONFIG, NODE } from '../../inside/names.ts';
import { runtimeFlags } from '../../machine.ts';
import type { NodeName } from './steps.ts';

/** What the native kubelet sees as /var/lib/kubelet. */
export const nativeDir = '/var/lib/kubelet-native';
export const nativeIp = '10.200.0.2';
const nativeKubeconfig = '/etc/kubernetes/native.conf';

/** The Node's name. */
export const nodeOf: Readonly<Record<NodeName, string>> = { native: 'native', ours: NODE };
export const kubeletUnitOf: Readonly<Record<NodeName, string>> = { native: 'kubelet-native.service', ours: 'kubelet.service' };
export const kubeconfigsOf: Readonly<Record<NodeName, readonly string[]>> = {
  native: [nativeKubeconfig],
  ours: [KUBECONFIG, KUBELET_KUBECONFIG],
};

const flags = [
  '--config=/etc/kubernetes/native.yaml',
  `--kubeconfig=${nativeKubeconfig}`,
  '--hostname-override=native',
  `--node-ip=${nativeIp}`,
  // Inside of its cover.
  '--dynamic-config-dir=/var/lib/kubelet/dynamic',
  // Flags beat a config, so that both kubelets of the machine can be given the very same.
  '--port=10260 --healthz-port=10258',
  ...runtimeFlags,
];

/** What stands beside the usual node: a kubelet with a dynamic configuration of its own. */
export const nativeNode: Readonly<Record<string, string>> = {
  '/etc/kubernetes/native.yaml': localConfig,
  '/etc/systemd/system/kubelet-native.service': `[Unit]
StartLimitIntervalSec=0
Wants=fake-runtime.service
After=fake-runtime.service
[Service]
ExecStart=${kubeletCover} --kubelet-dir ${nativeDir} --pod-logs /var/log/pods-native -- /usr/lib/kubelet/kubelet ${flags.join(' ')}
Restart=always
RestartSec=1
`,
};
