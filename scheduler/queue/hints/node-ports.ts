import { portsConflict } from '../../../kube/api/pod-requests.ts';
import type { Hint } from '../contract.ts';

export const nodePorts: Hint = ({ ports }, event) => {
  if (event.kind === 'node-added') return true;
  return event.kind === 'assigned-pod-deleted' && ports.some((port) => event.before.ports.some((freed) => portsConflict(port, freed)));
};
