import { type Quantity, quantity } from '../../../kube/api/quantity.ts';
import type { Json } from '../contract.ts';
import { parseCpuset } from '../rules/resources.ts';
import { words } from '../decode/document.ts';
import type { Preflight } from '../rules/validation.ts';
import { keptFree } from './eviction.ts';

const KINDS = ['cpu', 'memory', 'ephemeral-storage', 'pid'];
const UNIT = 1_000_000_000n;

/** What is reserved for the system and the kubelet, in itself and against what the host has. */
export function checkReserved(flight: Preflight): void {
  for (const field of FIELDS) {
    for (const [kind, given] of flight.entries(field)) {
      const path = `${field}.${kind}`;
      const amount = amountOf(given);
      if (!KINDS.includes(kind)) flight.add(path, 'reserved-kind', `cannot be reserved; the kinds are ${KINDS.join(', ')}`);
      if (amount === undefined) flight.add(path, 'quantity', 'must be a quantity such as "100m" or "1Gi"');
      else if (amount.nanos < 0n) flight.add(path, 'quantity', 'must not be negative');
    }
  }
  capacity(flight);
  cpus(flight);
  qos(flight);
  logSize(flight);
}

function amountOf(given: Json): Quantity | undefined {
  return typeof given === 'string' || typeof given === 'number' ? quantity(words(given)) : undefined;
}

const FIELDS = ['kubeReserved', 'systemReserved'];

interface Asked {
  field: string;
  /** In 10^-9 of a byte or CPU. */
  nanos: bigint;
}

/**
 * Each kind against what the host has, under the name of the field that asks for most of it. The kubelet keeps free what evictionHard
 * says besides: its sum counts.
 */
function capacity(flight: Preflight): void {
  const { memoryBytes, diskBytes, onlineCpus } = flight.host;
  if (memoryBytes !== undefined)
    compareWith(flight, 'memory', [...reserved(flight, 'memory'), ...kept(flight, 'memory.available', memoryBytes)], memoryBytes * UNIT);
  if (onlineCpus !== undefined && flight.text('reservedSystemCPUs') === '')
    compareWith(flight, 'CPU', reserved(flight, 'cpu'), BigInt(onlineCpus.length) * UNIT);
  // Without isolation the kubelet does not count it.
  if (diskBytes !== undefined && flight.value('localStorageCapacityIsolation') !== false)
    compareWith(
      flight,
      'disk space',
      [...reserved(flight, 'ephemeral-storage'), ...kept(flight, 'nodefs.available', diskBytes)],
      diskBytes * UNIT,
    );
}

function reserved(flight: Preflight, kind: string): Asked[] {
  return FIELDS.map((field) => {
    const given = flight.entries(field).find(([name]) => name === kind)?.[1];
    return { field: `${field}.${kind}`, nanos: (given === undefined ? undefined : amountOf(given)?.nanos) ?? 0n };
  });
}

function kept(flight: Preflight, signal: string, bytes: bigint): Asked[] {
  return [{ field: `evictionHard.${signal}`, nanos: keptFree(flight, signal, bytes) ?? 0n }];
}

function compareWith(flight: Preflight, what: string, parts: readonly Asked[], has: bigint): void {
  const asked = parts.filter(({ nanos }) => nanos > 0n).toSorted((a, b) => (a.nanos < b.nanos ? 1 : a.nanos > b.nanos ? -1 : 0));
  const sum = asked.reduce((total, { nanos }) => total + nanos, 0n);
  const [most, ...others] = asked;
  if (most === undefined || sum < has) return;
  const together = others.length > 0 && most.nanos <= has ? `together with ${others.map(({ field }) => field).join(' and ')} ` : '';
  if (sum === has)
    flight.warn(most.field, 'reserved-capacity', `${together}reserves all ${what} that this node has: none is left for pods`);
  else flight.add(most.field, 'reserved-capacity', `${together}reserves more ${what} than this node has`);
}

function cpus(flight: Preflight): void {
  const field = 'reservedSystemCPUs';
  const parsed = parseCpuset(flight.text(field), false)?.parts ?? [];
  if (parsed.length === 0) return;
  const { onlineCpus } = flight.host;
  if (onlineCpus === undefined) flight.warn(field, 'cpuset-host', 'must name CPUs that the node has');
  else {
    const most = Math.max(-1, ...onlineCpus);
    // How many are online below each number: a thousand ranges then cost no more than a thousand looks.
    const below = [0];
    const online = new Set(onlineCpus);
    for (let cpu = 0; cpu <= most; cpu++) below.push((below[cpu] ?? 0) + (online.has(cpu) ? 1 : 0));
    const there = parsed.every(([from, to]) => from >= 0 && to <= most && (below[to + 1] ?? 0) - (below[from] ?? 0) === to - from + 1);
    if (!there) flight.add(field, 'cpuset-host', 'names a CPU that is not on this node');
  }
}

function qos(flight: Preflight): void {
  if (!flight.gate('QOSReserved')) return;
  for (const [kind, given] of flight.entries('qosReserved')) {
    const share = /^([+-]?\d{1,15})%$/.exec(words(given))?.[1];
    if (kind !== 'memory') flight.add(`qosReserved.${kind}`, 'qos-kind', 'cannot be reserved; only memory can');
    if (share === undefined || Number(share) < 0 || Number(share) > 100)
      flight.add(`qosReserved.${kind}`, 'qos-percent', 'must be a percentage from 0% to 100%');
  }
}

function logSize(flight: Preflight): void {
  const size = quantity(flight.text('containerLogMaxSize'));
  if (size === undefined) flight.add('containerLogMaxSize', 'quantity', 'must be a quantity such as "10Mi"');
  else if (size.nanos < 0n) flight.warn('containerLogMaxSize', 'log-size', 'is negative: logs are never rotated');
  if (flight.minor < 33 && flight.number('containerLogMaxFiles') <= 1) flight.add('containerLogMaxFiles', 'log-files', 'must be 2 or more');
}
