import { nodeFleet } from './node-carrier.ts';
import type { FleetNode } from './fleet-node.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';
import type { Client } from '../../kube/client/client.ts';

/** The objects that carry assignments, as an admin reads and writes them. */
export interface FleetCarrier {
  /** By name. */
  list(signal: AbortSignal, labelSelector?: string): Promise<FleetNode[]>;
  read(node: string, signal: AbortSignal): Promise<FleetNode>;
  /** null: local. @returns the node as it was before and as the server keeps it now @throws ActionError when the server drops what was written */
  assign(node: string, source: SpecSource | null, signal: AbortSignal): Promise<FleetNode>;
  /** Tells every change of one node, the first state included, until the signal aborts. */
  watch(node: string, onSeen: (seen: FleetNode | undefined) => void, signal: AbortSignal): Promise<void>;
}

/** The carrier that this API server supports. Only `Node` for now; the object of our own for servers from 1.26 on is chosen here. */
export function fleetCarrier(...deps: Parameters<typeof nodeFleet>): FleetCarrier {
  return nodeFleet(...deps);
}

export type FleetClient = Pick<Client, 'get' | 'list' | 'patch' | 'watch'>;
