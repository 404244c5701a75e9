import { EVENT_NAMESPACE, type KubeObject, LEASE_NAMESPACE } from '../kube/api/object.ts';

/** Namespace of the ConfigMaps that agents read, and of the ServiceAccounts of nodes. */
export const SYSTEM_NAMESPACE = 'dkc-system';
/** API group of our own kinds. */
export const GROUP = 'dkc.dev';
/** The user of a kubelet's client certificate is this prefix and the name of its Node. */
export const NODE_USER_PREFIX = 'system:node:';
/** Every kubelet's client certificate names this group. */
export const NODE_GROUP = 'system:nodes';

/** The ServiceAccount of a node has the name of its Node. */
export const accountUser = (name: string): string => `system:serviceaccount:${SYSTEM_NAMESPACE}:${name}`;

const API_GROUP = 'rbac.authorization.k8s.io';
const API_VERSION = `${API_GROUP}/v1`;

/** A rule of a role. */
export interface Rule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

/** Who a binding is for. */
export type Subject = { kind: 'Group' | 'User'; name: string } | { kind: 'ServiceAccount'; name: string; namespace: string };

/** `verbs` are separated by blanks; `names` restricts the rule to these objects. */
export function rule(apiGroup: string, resource: string, verbs: string, names?: string[]): Rule {
  return { apiGroups: [apiGroup], resources: [resource], ...(names ? { resourceNames: names } : {}), verbs: verbs.split(' ') };
}

/** @param namespace - absent: creates a ClusterRole */
export function role(name: string, rules: readonly Rule[], namespace?: string): KubeObject {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  return { apiVersion: API_VERSION, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, rules };
}

/** Binds the role of the same name and namespace. @param role - another role to bind. @param namespace - absent: creates a ClusterRoleBinding */
export function binding(name: string, subject: Subject, namespace?: string, role = name): KubeObject {
  const [kind, roleKind] = namespace === undefined ? ['ClusterRoleBinding', 'ClusterRole'] : ['RoleBinding', 'Role'];
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: API_GROUP, kind: roleKind, name: role },
    subjects: [subject.kind === 'ServiceAccount' ? subject : { apiGroup: API_GROUP, ...subject }],
  };
}

/** A user who may assign is root on every node: the role has no binding, and no default role includes it. */
const ASSIGN = 'dkc-assign';
/** Reads what `dkc nodes` shows. */
const VIEW = 'dkc-view';

/** Roles for people, without bindings. @param hasConfigSource - the server keeps `Node.spec.configSource` (up to 1.25) */
export function adminRights(hasConfigSource: boolean): KubeObject[] {
  const reads = [
    rule(GROUP, 'nodeconfigs', 'get list watch'),
    rule(GROUP, 'nodeconfigrollouts', 'get list watch'),
    rule('', 'nodes', 'get list watch'),
  ];
  return [
    role(VIEW, reads),
    role(ASSIGN, [...reads, rule(GROUP, 'nodeconfigs', 'create patch'), ...(hasConfigSource ? [rule('', 'nodes', 'patch')] : [])]),
    role(ASSIGN, [rule('', 'configmaps', 'get list watch create update patch delete')], SYSTEM_NAMESPACE),
    // Agents report rejected configurations as events.
    role(ASSIGN, [rule('', 'events', 'list')], EVENT_NAMESPACE),
  ];
}

/** Role of `dkc controllers run --controllers=rollout`. */
export const CONTROLLER = 'dkc-rollout-controller';
/** Role that creates, approves, pauses, aborts and undoes rollouts. */
const ADMIN = 'dkc-rollout';

/** Roles of rollouts, without bindings: a user who may change a rollout is root on every node that it selects. */
export function rolloutRights(): KubeObject[] {
  return [
    role(CONTROLLER, [
      rule(GROUP, 'nodeconfigrollouts', 'get list watch'),
      rule(GROUP, 'nodeconfigrollouts/status', 'update'),
      // Servers that check it require this right to set the owner of a revision.
      rule(GROUP, 'nodeconfigrollouts/finalizers', 'update'),
      rule(GROUP, 'nodeconfigs', 'list watch create patch'),
      rule('', 'nodes', 'get list watch patch'),
      // Conditions of a node during its change and its drain.
      rule('', 'nodes/status', 'patch'),
      rule('', 'pods', 'list'),
      rule('', 'pods/eviction', 'create'),
    ]),
    role(CONTROLLER, [rule('', 'configmaps', 'list watch create patch delete')], SYSTEM_NAMESPACE),
    // The fleet page lists the events of the node that a user opens.
    role(CONTROLLER, [rule('', 'events', 'list create patch')], EVENT_NAMESPACE),
    role(ADMIN, [
      rule(GROUP, 'nodeconfigrollouts', 'get list watch create update patch delete'),
      // An approval is written to the status.
      rule(GROUP, 'nodeconfigrollouts/status', 'update'),
      rule(GROUP, 'nodeconfigs', 'get list watch'),
      rule('', 'nodes', 'get list watch'),
    ]),
    role(ADMIN, [rule('', 'configmaps', 'get list watch create update patch delete')], SYSTEM_NAMESPACE),
  ];
}

/** Role with the rights that all agents share: ConfigMaps in {@link SYSTEM_NAMESPACE}, events in {@link EVENT_NAMESPACE}. */
const AGENT = 'dkc-agent';
/** Role to read the pods of the cluster: RBAC cannot restrict a list to the pods of one node. */
const PODS = 'dkc-agent-pods';

/** Which credentials the agents use: those of their kubelet, or a ServiceAccount for each node. */
export const credentials = ['kubelet', 'service-account'] as const;
type Credentials = (typeof credentials)[number];

export interface NodeRightsOptions {
  credentials: Credentials;
  /** Nodes that get separate rights, restricted to their own name. Empty: the same rights for all members of the group system:nodes. */
  nodes: readonly string[];
  /** Lets ServiceAccounts list pods, of all nodes. The node authorizer lets kubelets list their own pods anyway. */
  listsPods: boolean;
}

/**
 * Rights of the agents, only those that they use. What the node authorizer grants a kubelet (its own Node and Lease, its pods, events) is not granted
 * again; a ServiceAccount gets these rights by name.
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
    // The annotation of the agent, and status.config on servers that keep it.
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
    // The agent renews its own token before it expires.
    role(name, [rule('', 'serviceaccounts/token', 'create', [node])], SYSTEM_NAMESPACE),
    binding(`${name}:token`, subject, SYSTEM_NAMESPACE, name),
  ];
}
