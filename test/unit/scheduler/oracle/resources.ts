import { amountOf } from '../../../../kube/api/pod-requests.ts';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Place } from './cluster.ts';

/* Amounts are whole numbers of any size: thousandths of a cpu, bytes, pieces. */

export function allocatable({ node }: Place, resource: string): bigint {
  return amountOf(resource, node.status?.allocatable?.[resource]) ?? 0n;
}

/** What a pod asks for. */
export function asked({ requests }: PodInfo, resource: string): bigint {
  switch (resource) {
    case 'cpu':
      return BigInt(requests.cpu);
    case 'memory':
      return BigInt(requests.memory);
    case 'ephemeral-storage':
      return BigInt(requests.ephemeral);
    default:
      return BigInt(requests.scalars.get(resource) ?? 0);
  }
}

/** What a pod counts for in scores of how full a node is: containers that do not say are taken to need a little. */
export function guessed(pod: PodInfo, resource: string): bigint {
  if (resource === 'cpu') return BigInt(pod.requests.scoredCpu);
  if (resource === 'memory') return BigInt(pod.requests.scoredMemory);
  return asked(pod, resource);
}

export function total(pods: readonly PodInfo[], amount: (pod: PodInfo) => bigint): bigint {
  return pods.reduce((sum, pod) => sum + amount(pod), 0n);
}

/** cpu, memory and storage on disk are every node's; the rest only some nodes have. */
export function isScalar(resource: string): boolean {
  return !['cpu', 'memory', 'ephemeral-storage'].includes(resource);
}

/** `example.com/gpu`: neither built in nor of Kubernetes' own domain. */
export function isExtended(resource: string): boolean {
  return resource.includes('/') && !resource.includes('kubernetes.io/');
}
