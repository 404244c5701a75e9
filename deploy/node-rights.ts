import { EVENT_NAMESPACE, GROUP, LEASE_NAMESPACE, NODE_GROUP, NODE_USER_PREFIX, SYSTEM_NAMESPACE } from './names.ts';
import { binding, role, rule, type Rule, type Subject } from './rbac.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Role of what all agents have in common: ConfigMaps in {@link SYSTEM_NAMESPACE}, events in {@link EVENT_NAMESPACE}. */
const AGENT = 'dkc-agent';
/** Role to read the pods of the cluster: RBAC cannot restrict a list to the pods of one node. */
const PODS = 'dkc-agent-pods';

/** Whose credentials the agents use: those of their kubelet, or a ServiceAccount for each node. */
export const credentials = ['kubelet', 'service-account'] as const;
export type Credentials = (typeof credentials)[number];

export interface NodeRightsOptions {
  credentials: Credentials;
  /** Nodes that get their rights one by one, restricted to their own name. None: all members of the group system:nodes, alike. */
  nodes: readonly string[];
  /** Lets ServiceAccounts list pods, of all nodes. The node authorizer lets kubelets list their own pods anyway. */
  listsPods: boolean;
}

/**
 * Rights of the agents, and no more than they use. What the node authorizer grants a kubelet (its own Node and Lease, its pods, events) is not
 * granted again; a ServiceAccount gets it by name.
 */
export function nodeRights({ credentials, nodes, listsPods }: NodeRightsOptions): KubeObject[] {
  const reads = role(AGENT, [rule('', 'configmaps', 'get list watch')], SYSTEM_NAMESPACE);
  if (credentials === 'kubelet') {
    if (nodes.length > 0) return [reads, ...nodes.flatMap((name) => ownRights(name, kubelet(name), []))];
    const group: Subject = { kind: 'Group', name: NODE_GROUP };
    return [role(AGENT, configRules()), binding(AGENT, group), reads, binding(AGENT, group, SYSTEM_NAMESPACE)];
  }
  return [
    reads,
    role(AGENT, [rule('', 'events', 'create')], EVENT_NAMESPACE),
    ...(listsPods ? [role(PODS, [rule('', 'pods', 'list')])] : []),
    ...nodes.flatMap((name) => accountRights(name, listsPods)),
  ];
}

/** NodeConfigs, of one node or of all. */
const configRules = (names?: string[]): Rule[] => [
  rule(GROUP, 'nodeconfigs', 'get list watch', names),
  rule(GROUP, 'nodeconfigs/status', 'patch', names),
];

const kubelet = (node: string): Subject => ({ kind: 'User', name: `${NODE_USER_PREFIX}${node}` });

/** Name of the roles and bindings of one node. */
const roleOf = (node: string): string => `dkc:node:${node}`;

function ownRights(node: string, subject: Subject, more: readonly Rule[]): KubeObject[] {
  const name = roleOf(node);
  return [role(name, [...configRules([node]), ...more]), binding(name, subject), binding(name, subject, SYSTEM_NAMESPACE, AGENT)];
}

function accountRights(node: string, listsPods: boolean): KubeObject[] {
  const name = roleOf(node);
  const subject: Subject = { kind: 'ServiceAccount', name: node, namespace: SYSTEM_NAMESPACE };
  const ofNode = [
    rule('', 'nodes', 'get list watch', [node]),
    // The annotation that says that there is an agent, and status.config where the server keeps it.
    rule('', 'nodes/status', 'patch', [node]),
  ];
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: node, namespace: SYSTEM_NAMESPACE },
      automountServiceAccountToken: false,
    },
    ...ownRights(node, subject, ofNode),
    ...(listsPods ? [binding(`${name}:pods`, subject, undefined, PODS)] : []),
    binding(name, subject, EVENT_NAMESPACE, AGENT),
    role(name, [rule('coordination.k8s.io', 'leases', 'get', [node])], LEASE_NAMESPACE),
    binding(name, subject, LEASE_NAMESPACE),
    // It renews its own token before that expires.
    role(name, [rule('', 'serviceaccounts/token', 'create', [node])], SYSTEM_NAMESPACE),
    binding(`${name}:token`, subject, SYSTEM_NAMESPACE, name),
  ];
}
