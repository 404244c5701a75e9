/** Namespace of the ConfigMaps that agents read, and of the ServiceAccounts of nodes. */
export const SYSTEM_NAMESPACE = 'dkc-system';
/** Where kubelets renew the Lease of their Node. */
export const LEASE_NAMESPACE = 'kube-node-lease';
/** Where events of Nodes, which have no namespace, are stored. */
export const EVENT_NAMESPACE = 'default';
/** API group of our own kinds. */
export const GROUP = 'dkc.dev';
/** The user of a kubelet's client certificate is this prefix and the name of its Node. */
export const NODE_USER_PREFIX = 'system:node:';
/** Every kubelet's client certificate names this group. */
export const NODE_GROUP = 'system:nodes';

/** The ServiceAccount of a node has the name of its Node. */
export const accountUser = (name: string): string => `system:serviceaccount:${SYSTEM_NAMESPACE}:${name}`;
