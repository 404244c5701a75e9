import type { Rejection } from './names.ts';
import { type HostPort, portsConflict } from '../../kube/api/pod-requests.ts';

export const portsTaken: Rejection = {
  plugin: 'NodePorts',
  resolvable: true,
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
};

/** Requested ports by number, cached because every node is checked for the same ones. */
const byNumber = new WeakMap<readonly HostPort[], ReadonlyMap<number, readonly HostPort[]>>();

/** Whether one of the requested host ports is in use. */
export function isAnyTaken(wanted: readonly HostPort[], used: readonly HostPort[]): boolean {
  if (wanted.length === 0 || used.length === 0) return false;
  let index = byNumber.get(wanted);
  if (index === undefined) byNumber.set(wanted, (index = Map.groupBy(wanted, ({ port }) => port)));
  for (const other of used) if (index.get(other.port)?.some((port) => portsConflict(port, other)) === true) return true;
  return false;
}
