import { ActionError } from '../../base/errors.ts';
import { nodes, type KubeObject } from '../../kube/api/object.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { watchObject } from '../../kube/client/watch-object.ts';
import { fleetNode, sameSpec, type FleetNode } from './fleet-node.ts';
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
        const page = await client.list(nodes, query, { signal });
        found.push(...page.items.map(fleetNode));
        next = page.metadata.continue;
      } while (next);
      return found.sort((a, b) => (a.node < b.node ? -1 : 1));
    },
    read: async (node, signal) => fleetNode(await known(node, client.get(nodes, { name: node }, { signal }))),
    assign: async (node, source, signal) => {
      // A merge patch of null removes; of an object it writes member by member, and there is only one member.
      const patch = { spec: { configSource: source === null ? null : { configMap: { ...source } } } };
      const kept = fleetNode(await known(node, client.patch(nodes, { name: node }, patch, { type: 'merge', signal })));
      if (!sameSpec(kept.wanted, source)) throw dropped(node);
      return kept;
    },
    watch: (node, onSeen, signal) =>
      watchObject(deps, nodes, { name: node }, { onSeen: ({ object }) => onSeen(object && fleetNode(object)) }, signal),
  };
}

/** The API server says 200 and drops the field without a word where it does not know it any more (spec 13): only reading back shows it. */
function dropped(node: string): ActionError {
  return new ActionError('assign a ConfigMap to', `Node ${node}`, {
    hint:
      'the API server dropped spec.configSource without an error; it is 1.26 or later, or its feature gate DynamicKubeletConfig is off. ' +
      'Up to 1.25 turn the gate on at kube-apiserver; later servers keep the field only for Nodes that had it before',
  });
}

async function known(node: string, call: Promise<KubeObject>): Promise<KubeObject> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error))
      throw new ActionError('find', `Node ${node}`, { hint: 'the API server has none of that name; `dkc nodes` lists them', cause: error });
    throw error;
  }
}
