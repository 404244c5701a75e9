import { quantity } from '../../../kube/api/quantity.ts';
import type { Json } from '../contract.ts';
import { isObject, own, words } from '../decode/document.ts';
import type { Preflight } from '../rules/validation.ts';
import { keptFree } from './eviction.ts';

/** What the memory manager's policy Static asks of reservedMemory. It looks at nothing of this under the policy None. */
export function checkReservedMemory(flight: Preflight): void {
  const entries = flight.list('reservedMemory');
  if (entries.length === 0) {
    flight.add('memoryManagerPolicy', 'memory-manager-reserved', 'Static needs reservedMemory for every NUMA node');
    return;
  }
  numa(flight, entries);
  sum(flight, entries);
  hugePages(flight, entries);
  unchanged(flight, entries);
}

function numa(flight: Preflight, entries: readonly Json[]): void {
  const field = 'reservedMemory';
  const { numaNodes } = flight.host;
  if (numaNodes === undefined) {
    flight.warn(field, 'numa', 'must name NUMA nodes that the node has');
    return;
  }
  const missing = entries.some((entry) => isObject(entry) && !numaNodes.includes(Number(own(entry, 'numaNode') ?? 0)));
  if (missing) flight.add(field, 'numa', 'names a NUMA node that is not on this node');
}

/** Over all NUMA nodes, exactly what the kubelet takes off the node's memory before it offers it to pods. */
function sum(flight: Preflight, entries: readonly Json[]): void {
  const limits = entries.map((entry) => own(isObject(entry) ? entry : {}, 'limits')).filter((limit) => isObject(limit));
  const reserved = total(limits.map((limit) => own(limit, 'memory')));
  const others = total(['kubeReserved', 'systemReserved'].map((field) => flight.entries(field).find(([kind]) => kind === 'memory')?.[1]));
  const eviction = keptFree(flight, 'memory.available', flight.host.memoryBytes);
  if (reserved === undefined || others === undefined) return; // no quantities: another error
  const rule = 'memory-manager-sum';
  const text = 'must add up to the memory of kubeReserved, systemReserved and evictionHard together: the kubelet does not start otherwise';
  if (eviction === undefined) flight.warn('reservedMemory', rule, `${text}; what evictionHard keeps free is not known here`);
  else if (reserved !== others + eviction) flight.add('reservedMemory', rule, text);
}

/** Pages of a size that the host has not set aside cannot be reserved. */
function hugePages(flight: Preflight, entries: readonly Json[]): void {
  const sizes = new Set(
    entries.flatMap((entry) => {
      const limits = own(isObject(entry) ? entry : {}, 'limits');
      return isObject(limits) ? Object.keys(limits).filter((kind) => kind.startsWith('hugepages-')) : [];
    }),
  );
  if (sizes.size === 0) return;
  const { hugePages: there } = flight.host;
  const [field, rule] = ['reservedMemory', 'huge-pages'];
  if (there === undefined) flight.warn(field, rule, 'reserves huge pages: the kubelet does not start on a node without them');
  else if (![...sizes].every((size) => there.includes(size)))
    flight.add(field, rule, 'reserves huge pages of a size that this node has none of');
}

/** The state file keeps what was reserved per NUMA node, and the policy refuses to start on anything else. */
function unchanged(flight: Preflight, entries: readonly Json[]): void {
  const state = flight.host.memoryManagerState;
  if (state?.policyName !== 'Static' || state.reserved === undefined) return;
  const now = new Map<string, bigint>();
  for (const entry of entries.filter((one) => isObject(one))) {
    const limits = own(entry, 'limits');
    const amount = quantity(words(isObject(limits) ? own(limits, 'memory') : undefined));
    if (amount !== undefined) now.set(words(own(entry, 'numaNode') ?? 0), amount.nanos / UNIT);
  }
  const differs = Object.entries(state.reserved).some(([node, bytes]) => (now.get(node) ?? 0n) !== bytes);
  if (differs)
    flight.add(
      'reservedMemory',
      'memory-manager-state',
      'is not what the state file of this node was written with: drain the node, then remove /var/lib/kubelet/memory_manager_state',
    );
}

const UNIT = 1_000_000_000n;

/** @returns in 10^-9 bytes; absent ones count nothing, undefined where one is no quantity */
function total(amounts: readonly (Json | undefined)[]): bigint | undefined {
  let nanos = 0n;
  for (const amount of amounts) {
    if (amount === undefined) continue;
    const read = quantity(words(amount));
    if (read === undefined) return undefined;
    nanos += read.nanos;
  }
  return nanos;
}
