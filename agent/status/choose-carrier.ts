import type { Wanted } from '../sync/plan.ts';

/** What is known of the two objects that may assign a configuration to this node, and of the server that keeps them. */
export interface CarrierFacts {
  nodeName: string;
  /** `auto` follows either; `nodeconfig` reads nothing in the Node. */
  mode: 'auto' | 'nodeconfig';
  /** What the Node says; undefined before it was listed. */
  node: Wanted | undefined;
  /** What the NodeConfig says; `absent`: there is no such object. undefined before the server answered. */
  nodeConfig: Wanted | 'unserved' | 'forbidden' | undefined;
  /** Whether the server keeps `Node.spec.configSource` where it was not set before. */
  native: Native;
  /** As the server says it: `v1.36.3`; '' where it did not. */
  serverVersion: string;
  /** The object that assigned something last, over restarts of the agent. */
  assignedBy: 'node' | 'nodeconfig' | undefined;
}

export type Native = 'kept' | 'dropped' | 'unknown';

/** Which object assigns, why that one, and what it says. */
export interface Choice {
  /** null: none can. */
  carrier: 'node' | 'nodeconfig' | null;
  why: string;
  wanted: Wanted;
  /** What the cluster lacks: one sentence that names the command that brings it. */
  missing?: string;
}

/** From this minor version on a server takes what is printed without `--kubernetes-version`. */
const TAKES_ALL_FROM = 30;

/**
 * The command that brings what a server lacks. kubectl applies nothing at all where an older server does not know a field.
 * @param serverVersion - as the server says it; '' or what is no version: as for a new one
 * @param only - one part @default all
 */
export function installCommand(serverVersion: string, only?: 'crds' | 'rbac'): string {
  const [, minor] = /^v?1\.(\d{1,3})(?!\d)/.exec(serverVersion) ?? [];
  const part = only === undefined ? '' : ` --only=${only}`;
  const version = minor !== undefined && Number(minor) < TAKES_ALL_FROM ? ` --kubernetes-version=1.${minor}` : '';
  return `dkc deploy manifests${part}${version} | kubectl apply -f -`;
}

const kept = { at: 'absent' } as const;

/**
 * A NodeConfig goes before the Node, so that a cluster moves by creating NodeConfigs. An object that is absent is no unassignment: a deleted
 * definition takes every NodeConfig with it, and servers from 1.26 on lose `spec.configSource` of a Node that is created again.
 * @returns undefined while something that decides is not known yet
 */
export function chooseCarrier(facts: CarrierFacts): Choice | undefined {
  const { nodeName, mode, node, nodeConfig } = facts;
  if (nodeConfig === undefined) return undefined;
  const forced = mode === 'nodeconfig' ? '--assignment=nodeconfig' : undefined;
  if (typeof nodeConfig === 'object' && nodeConfig.at !== 'absent') {
    return { carrier: 'nodeconfig', why: forced ?? `NodeConfig ${nodeName} exists`, wanted: nodeConfig };
  }
  if (forced !== undefined) return withoutNode(facts, `${forced}, but the API server`);
  if (node === undefined) return undefined;
  if (node.at !== 'local' && (node.at !== 'invalid' || facts.native !== 'dropped')) return byNode(facts, node);
  switch (facts.native) {
    case 'kept':
      if (facts.assignedBy !== 'nodeconfig')
        return { carrier: 'node', why: `the API server${versionOf(facts)} keeps Node.spec.configSource`, wanted: { at: 'local' } };
      return goneAgain(facts);
    case 'dropped':
      return withoutNode(facts, `the API server${versionOf(facts)} drops Node.spec.configSource and`);
    case 'unknown':
      return {
        carrier: nodeConfig === 'unserved' ? 'node' : 'nodeconfig',
        why: `it is not known yet whether the API server${versionOf(facts)} keeps Node.spec.configSource`,
        wanted: kept,
      };
  }
}

/** The Node assigns, and no NodeConfig does. */
function byNode(facts: CarrierFacts, wanted: Wanted): Choice {
  const rest =
    facts.native === 'dropped' ? `, which the API server${versionOf(facts)} keeps on Nodes that have it and drops on all others` : '';
  return { carrier: 'node', why: `Node.spec.configSource${rest}`, wanted };
}

/** A NodeConfig assigned before, and the Node would now say local. Who means that says so in the NodeConfig, or has the Node assign first. */
function goneAgain({ nodeName, nodeConfig }: CarrierFacts): Choice {
  const gone =
    nodeConfig === 'forbidden'
      ? 'may not be read any more'
      : nodeConfig === 'unserved'
        ? 'was deleted with its CustomResourceDefinition'
        : 'was deleted';
  const why = `NodeConfig ${nodeName}, which had assigned the configuration, ${gone}; the node keeps the configuration until an object assigns one`;
  return { carrier: 'nodeconfig', why, wanted: kept };
}

/** @param head - what to say of the API server before what it lacks */
function withoutNode({ nodeName, nodeConfig, serverVersion }: CarrierFacts, head: string): Choice {
  if (nodeConfig === 'unserved') {
    const why = `${head} does not serve nodeconfigs.dkc.dev`;
    return {
      carrier: null,
      why,
      wanted: kept,
      missing: `no object can assign a configuration to this node: ${why}; run: ${installCommand(serverVersion, 'crds')}`,
    };
  }
  if (nodeConfig === 'forbidden') {
    const why = `${head} does not let this agent read NodeConfig ${nodeName}`;
    return {
      carrier: 'nodeconfig',
      why,
      wanted: kept,
      missing: `the assignment of this node is not known: ${why}; run: ${installCommand(serverVersion, 'rbac')}`,
    };
  }
  const why = `${head} has no NodeConfig ${nodeName}; the node keeps its configuration until dkc assign creates it`;
  return { carrier: 'nodeconfig', why, wanted: kept };
}

const versionOf = ({ serverVersion }: CarrierFacts): string => (serverVersion === '' ? '' : ` (${serverVersion})`);

/** Servers from this minor version on drop `spec.configSource` and `status.config` of Nodes that did not have them (spec 13). */
const DROPS_FROM = 26;

/**
 * Whether the server keeps `spec.configSource` on a Node that has none.
 * @param probed - whether this server kept a `status.config` that this Node did not have; undefined: not tried on this Node
 */
export function nativeSupport(serverVersion: string, hasStatusConfig: boolean, probed: boolean | undefined): Native {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(serverVersion) ?? [];
  if (major !== '' && (Number(major) > 1 || Number(minor) >= DROPS_FROM)) return 'dropped';
  if (probed !== undefined) return probed ? 'kept' : 'dropped';
  return hasStatusConfig ? 'kept' : 'unknown';
}
