import { ActionError } from '../../base/errors.ts';
import { nodes, type KubeObject } from '../../kube/api/object.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { fleetNode, sameSpec, type FleetNode } from './fleet-node.ts';
import { watchNodes } from './watch-nodes.ts';
import type { FleetCarrier, FleetClient } from './carrier.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';

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
