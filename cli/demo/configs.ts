import type { KubeObject } from '../../kube/api/object.ts';

/** Everything the demo's cluster holds. */
export const NODE = 'demo-node';
export const NAMESPACE = 'dkc-system';
export const KEY = 'kubelet';
export const KUBELET_VERSION = 'v1.30.0';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

export const localConfig = `${head}maxPods: 110\n`;

/** What the admin tries, in the order of the story. */
export const payloads = {
  good: `${head}maxPods: 120\n`,
  invalid: `${head}maxPods: -5\nimageGCHighThresholdPercent: 120\n`,
  deadly: `${head}maxPods: 130\nkubeReservedCgroup: /kubelet.slice\nenforceNodeAllocatable: [pods, kube-reserved]\nkubeReserved: {memory: 200Mi}\n`,
  later: `${head}maxPods: 140\n`,
} as const;
export type PayloadName = keyof typeof payloads;

export function configMap(name: PayloadName): KubeObject {
  // The admin has been told that these fields are dangerous, and knows better.
  const annotations = name === 'deadly' ? { 'dkc.dev/allow': 'kubeReservedCgroup,enforceNodeAllocatable' } : {};
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE, annotations }, data: { [KEY]: payloads[name] } };
}

/** So that a scheduler and DaemonSets find room there. */
const room = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '20Gi', pods: '110' };

export const node: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: NODE },
  // As a kubelet would say it, for those who look with kubectl.
  status: {
    capacity: room,
    allocatable: room,
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    nodeInfo: { kubeletVersion: KUBELET_VERSION },
  },
};
