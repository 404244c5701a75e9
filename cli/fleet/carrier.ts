import { nodeFleet } from './node-carrier.ts';
import type { FleetNode } from './fleet-node.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';
import type { Client } from '../../kube/client/client.ts';

/** The objects that carry assignments, as an admin reads and writes them. */
export interface FleetCarrier {
  /** By name. Reads page by page, so that of each Node only what is listed here is kept. */
  list(signal: AbortSignal, labelSelector?: string): Promise<FleetNode[]>;
  /** @throws ActionError when there is none */
  read(node: string, signal: AbortSignal): Promise<FleetNode>;
  /** source null: local. @returns the node as the server keeps it now @throws ActionError when the server drops what was written */
  assign(node: string, source: SpecSource | null, signal: AbortSignal, how?: { dryRun?: boolean }): Promise<FleetNode>;
  /** Reports the present state of these nodes and every change of one (undefined: it is gone), until the signal aborts; then resolves. */
  watch(nodes: Watched, onSeen: (name: string, seen: FleetNode | undefined) => void, signal: AbortSignal): Promise<void>;
}

/** Names, or all that a selector matches. */
export type Watched = readonly string[] | { labelSelector?: string };

/** The carrier that this API server supports. Only `Node` for now; the object of our own for servers from 1.26 on is chosen here. */
export function fleetCarrier(...deps: Parameters<typeof nodeFleet>): FleetCarrier {
  return nodeFleet(...deps);
}

export type FleetClient = Pick<Client, 'get' | 'list' | 'listEach' | 'patch' | 'watch'>;
