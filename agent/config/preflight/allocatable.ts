import { type Quantity, quantity } from '../../../kube/api/quantity.ts';
import type { Json } from '../contract.ts';
import { parseCpuset } from '../rules/resources.ts';
import { scalarText } from '../decode/document.ts';
import type { Preflight } from '../rules/validation.ts';
import { goDuration } from '../../../base/go-duration.ts';

const KINDS = ['cpu', 'memory', 'ephemeral-storage', 'pid'];
const UNIT = 1_000_000_000n;

/** Reservations for the system and the kubelet: their syntax, and their sum against the capacity of the host. */
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
  return typeof given === 'string' || typeof given === 'number' ? quantity(scalarText(given)) : undefined;
}

const FIELDS = ['kubeReserved', 'systemReserved'];

interface ReservedAmount {
  field: string;
  /** In units of 10^-9 byte or CPU. */
  nanos: bigint;
}

/**
 * Compares each resource with the capacity of the host and reports the field that reserves most of it. The kubelet adds the threshold of
 * evictionHard, so the sum counts.
 */
function capacity(flight: Preflight): void {
  const { memoryBytes, diskBytes, onlineCpus } = flight.host;
  if (memoryBytes !== undefined)
    compareWith(flight, 'memory', [...reserved(flight, 'memory'), ...kept(flight, 'memory.available', memoryBytes)], memoryBytes * UNIT);
  if (onlineCpus !== undefined && flight.text('reservedSystemCPUs') === '')
    compareWith(flight, 'CPU', reserved(flight, 'cpu'), BigInt(onlineCpus.length) * UNIT);
  // Without localStorageCapacityIsolation the kubelet does not count ephemeral storage.
  if (diskBytes !== undefined && flight.value('localStorageCapacityIsolation') !== false)
    compareWith(
      flight,
      'disk space',
      [...reserved(flight, 'ephemeral-storage'), ...kept(flight, 'nodefs.available', diskBytes)],
      diskBytes * UNIT,
    );
}

function reserved(flight: Preflight, kind: string): ReservedAmount[] {
  return FIELDS.map((field) => {
    const given = flight.entries(field).find(([name]) => name === kind)?.[1];
    return { field: `${field}.${kind}`, nanos: (given === undefined ? undefined : amountOf(given)?.nanos) ?? 0n };
  });
}

function kept(flight: Preflight, signal: string, bytes: bigint): ReservedAmount[] {
  return [{ field: `evictionHard.${signal}`, nanos: keptFree(flight, signal, bytes) ?? 0n }];
}

function compareWith(flight: Preflight, what: string, parts: readonly ReservedAmount[], has: bigint): void {
  const reservedParts = parts.filter(({ nanos }) => nanos > 0n).toSorted((a, b) => (a.nanos < b.nanos ? 1 : a.nanos > b.nanos ? -1 : 0));
  const sum = reservedParts.reduce((total, { nanos }) => total + nanos, 0n);
  const [most, ...others] = reservedParts;
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
    // Prefix sums of the online CPUs, so that a range costs one lookup.
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
    const share = /^([+-]?\d{1,15})%$/.exec(scalarText(given))?.[1];
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

const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];
/** Signals that came with the split of image and container file systems. */
const NEWER = ['containerfs.available', 'containerfs.inodesFree'];
const SINCE_NEWER = 29;

/** Eviction thresholds: the kubelet parses them at its start, and exits when one is invalid. */
export function checkEviction(flight: Preflight): void {
  thresholds(flight, 'evictionHard', false);
  thresholds(flight, 'evictionSoft', false);
  thresholds(flight, 'evictionMinimumReclaim', true);
  for (const [signal, given] of flight.entries('evictionSoftGracePeriod')) {
    const field = `evictionSoftGracePeriod.${signal}`;
    const period = typeof given === 'string' ? goDuration(given) : undefined;
    known(flight, field, signal);
    if (period === undefined) flight.add(field, 'duration', 'must be a duration such as "1m30s"');
    else if (period < 0n) flight.add(field, 'eviction-grace', 'must not be negative');
  }
  const periods = new Set(flight.entries('evictionSoftGracePeriod').map(([signal]) => signal));
  for (const [signal] of flight.entries('evictionSoft')) {
    if (!periods.has(signal)) flight.add(`evictionSoft.${signal}`, 'eviction-grace', 'needs a grace period in evictionSoftGracePeriod');
  }
}

function known(flight: Preflight, field: string, signal: string): void {
  if (SIGNALS.includes(signal) || (flight.minor >= SINCE_NEWER && NEWER.includes(signal))) return;
  const signals = flight.minor >= SINCE_NEWER ? [...SIGNALS, ...NEWER] : SIGNALS;
  flight.add(field, 'eviction-signal', `is not an eviction signal; use ${signals.join(', ')}`);
}

/** @param zero - zero is allowed */
function thresholds(flight: Preflight, name: string, zero: boolean): void {
  for (const [signal, given] of flight.entries(name)) {
    const field = `${name}.${signal}`;
    const text = typeof given === 'string' ? given : '';
    known(flight, field, signal);
    if (text.endsWith('%')) {
      const share = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN;
      if (!(share >= 0 && share <= 100)) flight.add(field, 'eviction-percent', 'must be a percentage from 0% to 100%');
      continue;
    }
    const amount = quantity(text);
    if (amount === undefined) flight.add(field, 'quantity', 'must be a quantity such as "100Mi", or a percentage');
    else if (amount.nanos < 0n || (amount.nanos === 0n && !zero)) flight.add(field, 'eviction-positive', 'must be positive');
  }
}

/** Defaults of evictionHard that apply to absent signals where mergeDefaultEvictionSettings is on. */
const DEFAULTS: Readonly<Record<string, string>> = { 'memory.available': '100Mi', 'nodefs.available': '10%' };
/** A deprecated switch: eviction thresholds are then not reserved. */
const IGNORES_EVICTION = /^--experimental[-_]allocatable[-_]ignore[-_]eviction(?:=(?:1|t|T|true|TRUE|True))?$/;

/**
 * The amount of memory or disk that evictionHard keeps free, which the kubelet subtracts from allocatable.
 * @param bytes - capacity of the host
 * @returns in units of 10^-9 byte; undefined where it is a percentage of an unknown capacity, or not a quantity
 */
export function keptFree(flight: Preflight, signal: string, bytes: bigint | undefined): bigint | undefined {
  if (flight.kubelet.args.some((arg) => IGNORES_EVICTION.test(arg))) return 0n;
  const given = flight.entries('evictionHard').find(([name]) => name === signal)?.[1];
  const text = given === undefined && flight.flag('mergeDefaultEvictionSettings') ? (DEFAULTS[signal] ?? '') : scalarText(given);
  if (text === '' || text === '0%' || text === '100%') return 0n; // these switch the signal off
  if (!text.endsWith('%')) return quantity(text)?.nanos;
  // The kubelet stores percentages as 32 bit floats, and truncates to whole bytes.
  const share = Math.fround(Math.fround(Number(text.slice(0, -1))) / 100);
  return bytes === undefined || !Number.isFinite(share) ? undefined : BigInt(Math.trunc(Number(bytes) * share)) * UNIT;
}
