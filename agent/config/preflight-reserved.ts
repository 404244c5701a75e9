import { type Quantity, quantity } from '../../kube/api/quantity.ts';
import type { Json } from './contract.ts';
import { parseCpuset } from './cpuset.ts';
import { words } from './document.ts';
import type { Preflight } from './preflight-judge.ts';

const KINDS = ['cpu', 'memory', 'ephemeral-storage', 'pid'];
const UNIT = 1_000_000_000n;

/** What is reserved for the system and the kubelet, in itself and against what the host has. */
export function judgeReserved(flight: Preflight): void {
  const sums = new Map<string, bigint>();
  for (const field of ['kubeReserved', 'systemReserved']) {
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

function capacity(flight: Preflight, sums: ReadonlyMap<string, bigint>): void {
  const { memoryBytes, onlineCpus } = flight.host;
  const memory = sums.get('memory') ?? 0n;
  if (memoryBytes !== undefined && memory > memoryBytes * UNIT) {
    flight.add(
      flight.entries('systemReserved').length > 0 ? 'systemReserved' : 'kubeReserved',
      'reserved-capacity',
      'reserves more memory than this node has',
    );
  }
  const cpu = sums.get('cpu') ?? 0n;
  if (onlineCpus !== undefined && flight.text('reservedSystemCPUs') === '' && cpu > BigInt(onlineCpus.length) * UNIT) {
    flight.add(
      flight.entries('systemReserved').length > 0 ? 'systemReserved' : 'kubeReserved',
      'reserved-capacity',
      'reserves more CPU than this node has',
    );
  }
}

function cpus(flight: Preflight): void {
  const field = 'reservedSystemCPUs';
  const parsed = parseCpuset(flight.text(field), false)?.parts ?? [];
  if (parsed.length === 0) return;
  const { onlineCpus } = flight.host;
  if (onlineCpus === undefined) flight.warn(field, 'cpuset-host', 'must name CPUs that the node has');
  else {
    const online = new Set(onlineCpus);
    const most = Math.max(-1, ...onlineCpus);
    const there = parsed.every(
      ([from, to]) => from >= 0 && to <= most && Array.from({ length: to - from + 1 }, (_, n) => from + n).every((cpu) => online.has(cpu)),
    );
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
