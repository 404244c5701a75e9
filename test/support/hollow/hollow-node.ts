import type { NodeSystemInfo, Taint } from 'kubernetes-types/core/v1.js';
import type { Node } from './next.ts';

/** Every hollow node has it, so that whoever plays the kubelets finds them again. */
export const hollowLabel = 'hollow.dkc.dev/node';

export interface HollowNode {
  name: string;
  labels?: Record<string, string>;
  taints?: Taint[];
  /** @default 8 cpus, 32Gi, 250 pods */
  allocatable?: Record<string, string>;
  /** Such as `v1.36.3`. @default it does not say */
  kubeletVersion?: string;
}

/** `count` nodes called `PREFIX-0` and so on, all alike. */
export function hollowNodes(count: number, prefix = 'hollow', like: Omit<HollowNode, 'name'> = {}): HollowNode[] {
  return Array.from({ length: count }, (_, n) => ({ ...like, name: `${prefix}-${n}` }));
}

/** The Node object that its kubelet would register. @param at - now, as the API writes times */
export function nodeObject({ name, labels = {}, taints, allocatable, kubeletVersion }: HollowNode, at: string): Node {
  const room = { cpu: '8', memory: '32Gi', pods: '250', ...allocatable };
  const conditions = [
    { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
    { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure' },
    { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID' },
    { type: 'Ready', status: 'True', reason: 'KubeletReady' },
  ].map((condition) => ({ ...condition, lastHeartbeatTime: at, lastTransitionTime: at }));
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [hollowLabel]: 'true', 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...labels } },
    spec: taints === undefined ? {} : { taints },
    status: {
      capacity: room,
      allocatable: room,
      conditions,
      ...(kubeletVersion === undefined ? {} : { nodeInfo: { kubeletVersion } as NodeSystemInfo }),
    },
  };
}
