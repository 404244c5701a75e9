import { portsConflict, type HostPort } from '../../kube/api/pod-requests.ts';
import type { Rejection } from './rejection.ts';

const rejection: Rejection = {
  plugin: 'NodePorts',
  resolvable: true,
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
};

export function nodePorts(wanted: readonly HostPort[], used: readonly HostPort[]): Rejection | undefined {
  for (const port of wanted) for (const other of used) if (portsConflict(port, other)) return rejection;
  return undefined;
}
