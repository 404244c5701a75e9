import { FIRST_WITH_POLICIES, LAST_WITH_CONFIG_SOURCE, minorOf } from '../../kube/api/release.ts';
import type { Wanted } from '../sync/plan.ts';

/** Facts about the two objects that may assign a configuration to this node, and about their API server. */
export interface CarrierFacts {
  nodeName: string;
  /** `auto` follows Node and NodeConfig; `nodeconfig` ignores the Node's configSource. */
  mode: 'auto' | 'nodeconfig';
  /** The Node's assignment; undefined before the Node was listed. */
  node: Wanted | undefined;
  /** The NodeConfig's assignment; `absent`: no such object exists. undefined before the server answered. */
  nodeConfig: Wanted | 'unserved' | 'forbidden' | undefined;
  /** Whether the server keeps `Node.spec.configSource` where it was not set before. */
  native: Native;
  /** `gitVersion` of the API server, as `v1.36.3`; '' where unknown. */
  serverVersion: string;
  /** The kind of object that assigned a config last, over restarts of the agent. */
  assignedBy: 'node' | 'nodeconfig' | undefined;
}

export type Native = 'kept' | 'dropped' | 'unknown';

/** Which object assigns, why, and its assignment. */
export interface Choice {
  /** null: none can. */
  carrier: 'node' | 'nodeconfig' | null;
  why: string;
  wanted: Wanted;
  /** What the cluster lacks: one sentence with the command that installs it. */
  missing?: string;
}

/**
 * The command that installs what a server lacks. It names the version for an older server, where kubectl rejects manifests with unknown fields.
 * @param serverVersion - `gitVersion` of the server; '' or an invalid version: treated as new
 * @param only - install one part only @default all
 */
export function installCommand(serverVersion: string, only?: 'crds' | 'rbac'): string {
  const minor = minorOf(serverVersion);
  const part = only === undefined ? '' : ` --only=${only}`;
  const version = minor !== undefined && minor < FIRST_WITH_POLICIES ? ` --kubernetes-version=1.${minor}` : '';
  return `dkc deploy manifests${part}${version} | kubectl apply -f -`;
}

const kept = { at: 'absent' } as const;

/**
 * A NodeConfig takes precedence over the Node, so that a cluster migrates by creating NodeConfigs. An absent object does not unassign: deleting the
 * CustomResourceDefinition deletes every NodeConfig, and servers from 1.26 on drop `spec.configSource` of a Node that is created again.
 * @returns undefined while a fact that decides is not known yet
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
      return keepAfterDeletion(facts);
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

/** A NodeConfig assigned before and is gone; the Node has no configSource. Keep the config: for local, write that in a NodeConfig. */
function keepAfterDeletion({ nodeName, nodeConfig }: CarrierFacts): Choice {
  const gone =
    nodeConfig === 'forbidden'
      ? 'may not be read any more'
      : nodeConfig === 'unserved'
        ? 'was deleted with its CustomResourceDefinition'
        : 'was deleted';
  const why = `NodeConfig ${nodeName}, which had assigned the configuration, ${gone}; the node keeps the configuration until an object assigns one`;
  return { carrier: 'nodeconfig', why, wanted: kept };
}

/** @param head - start of the sentence, up to what the API server lacks */
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

/**
 * Whether the server keeps `spec.configSource` on a Node that has none.
 * @param probed - whether this server kept a `status.config` when this Node had none; undefined: not tried on this Node
 */
export function nativeSupport(serverVersion: string, hasStatusConfig: boolean, probed: boolean | undefined): Native {
  if ((minorOf(serverVersion) ?? 0) > LAST_WITH_CONFIG_SOURCE) return 'dropped';
  if (probed !== undefined) return probed ? 'kept' : 'dropped';
  return hasStatusConfig ? 'kept' : 'unknown';
}
