import { type Quantity, quantity } from '../../../kube/api/quantity.ts';
import type { Json } from '../contract.ts';
import { parseCpuset } from '../rules/cpuset.ts';
import { words } from '../decode/document.ts';
import type { Preflight } from './host-validation.ts';

const KINDS = ['cpu', 'memory', 'ephemeral-storage', 'pid'];
const UNIT = 1_000_000_000n;

/** What is reserved for the system and the kubelet, in itself and against what the host has. */
export function judgeReserved(flight: Preflight): void {
  const sums = new Map<string, bigint>();
  for (const field of FIELDS) {
    for (const [kind, given] of flight.entries(field)) {
      const path = `${field}.${kind}`;
      const amount = amountOf(given);
      if (!KINDS.includes(kind)) flight.add(path, 'reserved-kind', `cannot be reserved; the kinds are ${KINDS.join(', ')}`);
      if (amount === undefined) flight.add(path, 'quantity', 'must be a quantity such as "100m" or "1Gi"');
      else if (amount.nanos < 0n) flight.add(path, 'quantity', 'must not be negative');
      else sums.set(kind, (sums.get(kind) ?? 0n) + amount.nanos);
    }
  }
  capacity(flight, sums);
  cpus(flight);
  qos(flight);
  logSize(flight);
}

function amountOf(given: Json): Quantity | undefined {
  return typeof given === 'string' || typeof given === 'number' ? quantity(words(given)) : undefined;
}

const FIELDS = ['kubeReserved', 'systemReserved'];

/** Each kind against what the host has, under the name of the field that asks for most of it. */
function capacity(flight: Preflight, sums: ReadonlyMap<string, bigint>): void {
  const { memoryBytes, onlineCpus } = flight.host;
  if (memoryBytes !== undefined) compareWith(flight, 'memory', 'memory', sums.get('memory') ?? 0n, memoryBytes * UNIT);
  if (onlineCpus !== undefined && flight.text('reservedSystemCPUs') === '')
    compareWith(flight, 'cpu', 'CPU', sums.get('cpu') ?? 0n, BigInt(onlineCpus.length) * UNIT);
}

function compareWith(flight: Preflight, kind: string, what: string, sum: bigint, has: bigint): void {
  if (sum < has || sum === 0n) return;
  const asked = FIELDS.map((field) => {
    const given = flight.entries(field).find(([name]) => name === kind)?.[1];
    return { field: `${field}.${kind}`, nanos: (given === undefined ? undefined : amountOf(given)?.nanos) ?? 0n };
  }).filter(({ nanos }) => nanos > 0n);
  const [most, other] = asked.toSorted((a, b) => (a.nanos < b.nanos ? 1 : a.nanos > b.nanos ? -1 : 0));
  if (most === undefined) return;
  const together = other !== undefined && most.nanos <= has ? `together with ${other.field} ` : '';
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
