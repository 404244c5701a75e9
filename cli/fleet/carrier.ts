import { ActionError } from '../../base/errors.ts';
import { installCommand } from '../../agent/status/choose-carrier.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import { type KubeObject, nodes } from '../../kube/api/object.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../kube/client/errors.ts';
import { type FleetNode, newNodeConfig, ownerPatch, sameSpec } from '../../controllers/fleet/fleet-node.ts';
import { type Client, listPages } from '../../kube/client/client.ts';
import { fleetNode, keptOfConfig, wantedOf } from '../../controllers/fleet/read-fleet-node.ts';
import { factsText, NoCarrierError, serverFacts, type ServerFacts } from '../../controllers/fleet/server-facts.ts';
import { type WatchProblem, watchNodes } from './watch-nodes.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';

/** Reads and writes the objects that carry assignments, for an admin. */
export interface FleetCarrier {
  /** Which objects can carry assignments on this API server. */
  facts: ServerFacts;
  /** All nodes, by name. Reads page by page, and keeps only the fields of FleetNode of each object. */
  list(signal: AbortSignal, labelSelector?: string): Promise<FleetNode[]>;
  /** @throws ActionError if the Node does not exist */
  read(node: string, signal: AbortSignal): Promise<FleetNode>;
  /**
   * Writes an assignment; source null: local.
   * @param before - the node as it was read
   * @param how - `carrier`: the object to write to. @default that of `before`
   * @returns the node with the assignment that the server stored @throws NoCarrierError; ActionError when the server drops what was written
   */
  assign(before: FleetNode, source: SpecSource | null, signal: AbortSignal, how?: How): Promise<FleetNode>;
  /**
   * Reports the current state of these nodes and every change (undefined: the node was deleted), until the signal aborts; then resolves.
   * @param onStart - receives a function that returns the current problem of the watches
   */
  watch(
    nodes: Watched,
    onSeen: (name: string, seen: FleetNode | undefined) => void,
    signal: AbortSignal,
    onStart?: (problem: WatchProblem) => void,
  ): Promise<void>;
}

interface How {
  dryRun?: boolean;
  carrier?: 'node' | 'nodeconfig' | undefined;
}

/** Names, or all that a selector matches. */
export type Watched = readonly string[] | { labelSelector?: string };

type FleetClient = Pick<Client, 'create' | 'get' | 'list' | 'listEach' | 'patch' | 'raw' | 'watch'>;

/** Asks the API server which objects can carry assignments. The carrier is chosen per node: see {@link fleetNode}. @throws ApiError, TransportError */
export async function fleetCarrier(
  deps: { client: FleetClient; clock: Clock; random: Random; log: Log },
  signal: AbortSignal,
): Promise<FleetCarrier> {
  const { client } = deps;
  const facts = await serverFacts(client, signal);
  deps.log.debug('assignment carrier', { why: factsText(facts) });
  const configOf = async (name: string): Promise<KubeObject | undefined> =>
    facts.servesNodeConfigs ? orNone(client.get(nodeConfigs, { name }, { signal })) : undefined;
  return {
    facts,
    list: async (signal, labelSelector) => {
      const configs = new Map<string, KubeObject>();
      if (facts.servesNodeConfigs)
        await listPages(client, nodeConfigs, {}, (one) => void configs.set(one.metadata.name ?? '', keptOfConfig(one)), signal);
      const found: FleetNode[] = [];
      const add = (node: KubeObject): void => {
        found.push(fleetNode(node, configs.get(node.metadata.name ?? ''), facts));
      };
      await listPages(client, nodes, labelSelector ? { labelSelector } : {}, add, signal);
      return found.sort((a, b) => (a.node < b.node ? -1 : 1));
    },
    read: async (name, signal) => {
      const [node, config] = await Promise.all([orNone(client.get(nodes, { name }, { signal })), configOf(name)]);
      if (!node) throw new NodeNotFound(name);
      return fleetNode(node, config, facts);
    },
    assign: async (seen, source, signal, { dryRun = false, carrier = seen.carrier } = {}) => {
      if (carrier === 'nodeconfig' && !facts.servesNodeConfigs) throw new NoCarrierError(facts);
      if (carrier === 'node' && seen.owners) throw hidden(seen);
      const before = { ...seen, carrier };
      const wanted = await write(client, before, source, { signal, ...(dryRun ? { dryRun } : {}) }, facts);
      if (!sameSpec(wanted, source)) throw dropped(before, facts);
      return { ...before, wanted };
    },
    watch: (watched, onSeen, signal, onStart) => watchNodes(deps, facts, watched, onSeen, signal, onStart),
  };
}

/** @returns the assignment that the server stored */
async function write(
  client: FleetClient,
  before: FleetNode,
  source: SpecSource | null,
  how: { signal: AbortSignal; dryRun?: boolean },
  facts: ServerFacts,
): Promise<SpecSource | null> {
  const name = before.node;
  // A merge patch removes a member that is null, and merges one that is an object: it has only one member.
  const configMap = source === null ? null : { ...source };
  switch (before.carrier) {
    case 'node': {
      const patch = { spec: { configSource: configMap && { configMap } } };
      const node = await orNone(client.patch(nodes, { name }, patch, { type: 'merge', ...how }));
      if (!node) throw new NodeNotFound(name);
      return wantedOf(node, 'node');
    }
    case 'nodeconfig': {
      const config = await writeNodeConfig(client, before, configMap, how);
      // A terminating NodeConfig is deleted with its last finalizer, together with the new assignment.
      if (config?.metadata.deletionTimestamp !== undefined && source !== null)
        throw new ActionError('assign a ConfigMap to', `NodeConfig ${name}`, {
          hint: `it is being deleted and waits for its finalizers (${(config.metadata.finalizers ?? []).join(', ')}); assign again once it is gone`,
        });
      return config ? wantedOf(config, 'nodeconfig') : null;
    }
    case null:
      if (source === null) return null;
      throw new NoCarrierError(facts);
  }
}

/** Maximum number of consecutive conflicts of one write. */
const MAX_CONFLICTS = 5;

/**
 * Patches the NodeConfig, or creates a missing one. For `local` it creates none, except if the node still uses a configuration of a deleted NodeConfig:
 * only a NodeConfig without `spec.configMap` reverts it.
 */
async function writeNodeConfig(
  client: FleetClient,
  before: FleetNode,
  configMap: SpecSource | null,
  how: { signal: AbortSignal; dryRun?: boolean },
): Promise<KubeObject | undefined> {
  const { node: name, owners } = before;
  let exists = owners !== undefined;
  let conflicts = 0;
  for (let isAgain = false; ;) {
    if (!exists && configMap === null && before.assigned === null && before.active === null) return undefined;
    try {
      if (!exists) return await client.create(nodeConfigs, newNodeConfig(before, configMap), how);
      return await client.patch(nodeConfigs, { name }, { ...ownerPatch(before), spec: { configMap } }, { type: 'merge', ...how });
    } catch (error) {
      // The patch has no resourceVersion, so the conflict is between the server's own read and write: just retry.
      if (isConflict(error) && conflicts++ < MAX_CONFLICTS) continue;
      // Another client created or deleted the NodeConfig since it was read.
      if (isAgain || !(exists ? isNotFound(error) : isAlreadyExists(error))) {
        // The error of a create request does not name the object: add the node.
        if (exists || !(error instanceof ApiError)) throw error;
        throw new ActionError('create', `NodeConfig ${name}`, { hint: error.message, cause: error });
      }
      isAgain = true;
      exists = !exists;
    }
  }
}

/** An API server that no longer knows the field responds 200 and silently drops it: only reading back shows this. */
function dropped({ node, carrier }: FleetNode, { version }: ServerFacts): ActionError {
  if (carrier === 'nodeconfig')
    return new ActionError('assign a ConfigMap to', `NodeConfig ${node}`, { hint: `the API server dropped spec.configMap, because its CustomResourceDefinition is not that of dkc; update it with: ${installCommand(version)}` }); // prettier-ignore
  return new ActionError('assign a ConfigMap to', `Node ${node}`, {
    hint:
      'the API server dropped spec.configSource without an error: its feature gate DynamicKubeletConfig is off. ' +
      `Turn the gate on at kube-apiserver, or let it serve NodeConfigs: ${installCommand(version)}`,
  });
}

function hidden({ node }: FleetNode): ActionError {
  return new ActionError('assign a ConfigMap to', `Node ${node}`, {
    hint: `its NodeConfig takes precedence; delete it first: kubectl delete nodeconfig ${node}`,
  });
}

async function orNone(call: Promise<KubeObject>): Promise<KubeObject | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The response of the server has no further detail. */
class NodeNotFound extends Error {
  override name = 'NodeNotFound';
  constructor(node: string) {
    super(`Node ${JSON.stringify(node)} not found; \`dkc nodes\` lists them`);
  }
}

/** The fleet of a command. With `-v` a line on stderr says which objects carry assignments, and why. */
export async function fleetOf(context: Context, args: Args, client: Client): Promise<FleetCarrier> {
  const { clock, random, log, signal } = context;
  const fleet = await fleetCarrier({ client, clock, random, log }, signal);
  if (isVerbose(args)) noteFacts(context, fleet);
  return fleet;
}

/** Prints the remedy if the API server cannot store assignments; the command continues. */
export function noteMissingCarrier(context: Context, args: Args, fleet: FleetCarrier): void {
  const { servesNodeConfigs, hasConfigSource } = fleet.facts;
  if (!servesNodeConfigs && !hasConfigSource && !isVerbose(args)) noteFacts(context, fleet);
}

const isVerbose = (args: Args): boolean => (args.number('verbose') ?? 0) > 0;

function noteFacts({ stderr }: Context, { facts }: FleetCarrier): void {
  stderr.write(`dkc: note: ${factsText(facts)}\n`);
}
