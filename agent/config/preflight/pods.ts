import type { Preflight } from '../rules/validation.ts';
import { isAddress } from './addresses.ts';

/** Rules about what the kubelet takes and pods suffer from, on any machine. */
export const POD_RULES: ReadonlySet<string> = new Set(['cgroup-driver', 'cluster-dns', 'eviction-share']);

/** A threshold above which a node evicts pods nearly always; 100% switches a signal off. */
const HIGH_SHARE = 80;

/** What the kubelet starts with, and its pods do not. Only warnings: it is healthy under all of it. */
export function checkPods(flight: Preflight): void {
  const driver = flight.text('cgroupDriver');
  if (driver !== '' && driver !== 'systemd' && driver !== 'cgroupfs')
    flight.warn(
      'cgroupDriver',
      'cgroup-driver',
      'is neither systemd nor cgroupfs: the kubelet takes it for cgroupfs, and pods fail where the runtime uses systemd',
    );
  if (flight.texts('clusterDNS').some((address) => !isAddress(address)))
    flight.warn(
      'clusterDNS',
      'cluster-dns',
      'holds an entry that is not an IP address: the kubelet leaves it out, and pods have no DNS server from it',
    );
  for (const field of ['evictionHard', 'evictionSoft'])
    for (const [signal, given] of flight.entries(field)) {
      const share = typeof given === 'string' && given.endsWith('%') ? Number(given.slice(0, -1)) : Number.NaN;
      if (share >= HIGH_SHARE && share < 100)
        flight.warn(
          `${field}.${signal}`,
          'eviction-share',
          `is ${HIGH_SHARE}% or more: the node evicts pods unless nearly all of it is free`,
        );
    }
}
