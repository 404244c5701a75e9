import { ActionError } from '../../base/errors.ts';
import { nodes, type KubeObject } from '../../kube/api/object.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { fleetNode, sameSpec, type FleetNode } from './fleet-node.ts';
import { watchNodes } from './watch-fleet.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
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

const PAGE = 500;

/** Upstream's field `Node.spec.configSource`. */
export function nodeFleet(deps: { client: FleetClient; clock: Clock; random: Random; log: Log }): FleetCarrier {
  const { client } = deps;
  return {
    list: async (signal, labelSelector) => {
      const found: FleetNode[] = [];
      let next: string | undefined;
      do {
        const query = { limit: PAGE, ...(next ? { continue: next } : {}), ...(labelSelector ? { labelSelector } : {}) };
        const page = await client.listEach(nodes, query, (node) => void found.push(fleetNode(node)), { signal });
        if (page.continue && page.continue === next) throw new ActionError('list', 'nodes', { hint: 'the API server keeps returning the same continue token' }); // prettier-ignore
        next = page.continue;
      } while (next);
      return found.sort((a, b) => (a.node < b.node ? -1 : 1));
    },
    read: async (node, signal) => fleetNode(await known(node, client.get(nodes, { name: node }, { signal }))),
    assign: async (node, source, signal, { dryRun = false } = {}) => {
      // A merge patch of null removes; of an object it writes member by member, and there is only one member.
      const patch = { spec: { configSource: source === null ? null : { configMap: { ...source } } } };
      const options = { type: 'merge', signal, ...(dryRun ? { dryRun } : {}) } as const;
      const kept = fleetNode(await known(node, client.patch(nodes, { name: node }, patch, options)));
      if (!sameSpec(kept.wanted, source)) throw dropped(node);
      return kept;
    },
    watch: (watched, onSeen, signal) => watchNodes(deps, watched, onSeen, signal),
  };
}

/** The API server says 200 and drops the field without a word where it does not know it any more (spec 13): only reading back shows it. */
function dropped(node: string): ActionError {
  return new ActionError('assign a ConfigMap to', `Node ${node}`, {
    hint:
      'the API server dropped spec.configSource without an error; it is 1.26 or later, or its feature gate DynamicKubeletConfig is off. ' +
      'Up to 1.25, turn the gate on at kube-apiserver; later servers keep the field only on Nodes that already have it',
  });
}

async function known(node: string, call: Promise<KubeObject>): Promise<KubeObject> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) throw new NodeNotFound(node);
    throw error;
  }
}

/** What the server says of it is no more than that. */
export class NodeNotFound extends Error {
  override name = 'NodeNotFound';
  constructor(node: string) {
    super(`Node ${JSON.stringify(node)} not found; \`dkc nodes\` lists them`);
  }
}
