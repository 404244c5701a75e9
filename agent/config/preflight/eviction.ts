import { goDuration } from '../../../base/go-duration.ts';
import { quantity } from '../../../kube/api/quantity.ts';
import { words } from '../decode/document.ts';
import type { Preflight } from '../rules/validation.ts';

const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];
/** Came with the split of image and container file systems. */
const NEWER = ['containerfs.available', 'containerfs.inodesFree'];
const SINCE_NEWER = 29;

/** Eviction thresholds: the kubelet reads them when it starts, and gives up on one that it cannot read. */
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

const UNIT = 1_000_000_000n;
/** Of evictionHard: these come back where mergeDefaultEvictionSettings is on. */
const DEFAULTS: Readonly<Record<string, string>> = { 'memory.available': '100Mi', 'nodefs.available': '10%' };
/** A deprecated switch: eviction thresholds are then not reserved. */
const IGNORES_EVICTION = /^--experimental[-_]allocatable[-_]ignore[-_]eviction(?:=(?:1|t|T|true|TRUE|True))?$/;

/**
 * What evictionHard keeps free of memory or disk, and the kubelet therefore does not offer to pods.
 * @param bytes - what the host has of it
 * @returns in 10^-9 bytes; undefined where it is a share of what nobody knows, or no quantity
 */
export function keptFree(flight: Preflight, signal: string, bytes: bigint | undefined): bigint | undefined {
  if (flight.kubelet.args.some((arg) => IGNORES_EVICTION.test(arg))) return 0n;
  const given = flight.entries('evictionHard').find(([name]) => name === signal)?.[1];
  const text = given === undefined && flight.flag('mergeDefaultEvictionSettings') ? (DEFAULTS[signal] ?? '') : words(given);
  if (text === '' || text === '0%' || text === '100%') return 0n; // these switch the signal off
  if (!text.endsWith('%')) return quantity(text)?.nanos;
  // The kubelet keeps shares as 32 bit floats, and drops what is below a byte.
  const share = Math.fround(Math.fround(Number(text.slice(0, -1))) / 100);
  return bytes === undefined || !Number.isFinite(share) ? undefined : BigInt(Math.trunc(Number(bytes) * share)) * UNIT;
}
