/**
 * What a check of a pod against a node can fail by. Our own simulation yields some; the others are those that checks of that time could yield, so that what
 * follows from them is said in one place.
 */
export type Failure =
  | { failed: 'node-selector' | 'host-name' | 'host-ports' }
  | { failed: 'label-presence' }
  /** evicts: a NoExecute taint is among those that are not tolerated. */
  | { failed: 'taints'; evicts: boolean }
  | { failed: 'disk-conflict' | 'volume-zone' | 'volume-count' | 'memory-pressure' | 'disk-pressure' }
  | { failed: 'resource'; resource: string; requested: bigint; used: bigint; capacity: bigint }
  | { failed: 'pod-affinity' | 'service-affinity' }
  | { failed: 'other'; says: string };

const words = {
  'node-selector': "node(s) didn't match node selector",
  'host-name': "node(s) didn't match the requested hostname",
  'label-presence': "node(s) didn't have the requested labels",
  'host-ports': "node(s) didn't have free ports for the requested pod ports",
  taints: "node(s) had taints that the pod didn't tolerate",
  'disk-conflict': 'node(s) had no available disk',
  'volume-zone': 'node(s) had no available volume zone',
  'volume-count': 'node(s) exceed max volume count',
  'memory-pressure': 'node(s) had memory pressure',
  'disk-pressure': 'node(s) had disk pressure',
  'pod-affinity': "node(s) didn't match pod affinity/anti-affinity",
  'service-affinity': "node(s) didn't match service affinity",
} as const satisfies Record<Exclude<Failure['failed'], 'resource' | 'other'>, string>;

/** In the words that kube-scheduler had for it. */
export function wordsOf(failure: Failure): string {
  if (failure.failed === 'other') return failure.says;
  if (failure.failed !== 'resource') return words[failure.failed];
  const { resource, requested, used, capacity } = failure;
  return `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
}
