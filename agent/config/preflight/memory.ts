import { quantity } from '../../../kube/api/quantity.ts';
import type { Json } from '../contract.ts';
import { isObject, own, words } from '../decode/document.ts';
import type { Preflight } from './host-validation.ts';

const UNIT = 1_000_000_000n;
/** evictionHard's default, which comes back where mergeDefaultEvictionSettings is on. */
const DEFAULT_EVICTION = '100Mi';
/** A deprecated switch: eviction thresholds are then not reserved. */
const IGNORES_EVICTION = /^--experimental[-_]allocatable[-_]ignore[-_]eviction(?:=(?:1|t|T|true|TRUE|True))?$/;

/**
 * What the memory manager's policy Static asks of reservedMemory. It looks at nothing of this under the policy None.
 * Huge pages are not judged: what of them is reserved is not in the configuration.
 */
export function judgeReservedMemory(flight: Preflight): void {
  const entries = flight.list('reservedMemory');
  if (entries.length === 0) {
    flight.add('memoryManagerPolicy', 'memory-manager-reserved', 'Static needs reservedMemory for every NUMA node');
    return;
  }
  numa(flight, entries);
  sum(flight, entries);
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
  const eviction = evictionMemory(flight);
  if (reserved === undefined || others === undefined) return; // no quantities: an error of its own
  const rule = 'memory-manager-sum';
  const text = 'must add up to the memory of kubeReserved, systemReserved and evictionHard together: the kubelet does not start otherwise';
  if (eviction === undefined) flight.warn('reservedMemory', rule, `${text}; what evictionHard keeps free is not known here`);
  else if (reserved !== others + eviction) flight.add('reservedMemory', rule, text);
}

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

/** What evictionHard keeps free, in 10^-9 bytes; undefined where only the host can tell, or nobody. */
function evictionMemory(flight: Preflight): bigint | undefined {
  if (flight.kubelet.args.some((arg) => IGNORES_EVICTION.test(arg))) return 0n;
  const given = flight.entries('evictionHard').find(([signal]) => signal === 'memory.available')?.[1];
  const text = given === undefined && flight.flag('mergeDefaultEvictionSettings') ? DEFAULT_EVICTION : words(given);
  if (text === '' || text === '0%' || text === '100%') return 0n; // these switch the signal off
  if (!text.endsWith('%')) return quantity(text)?.nanos;
  const { memoryBytes } = flight.host;
  // The kubelet keeps shares as 32 bit floats, and drops what is below a byte.
  const share = Math.fround(Math.fround(Number(text.slice(0, -1))) / 100);
  return memoryBytes === undefined || !Number.isFinite(share) ? undefined : BigInt(Math.trunc(Number(memoryBytes) * share)) * UNIT;
}
