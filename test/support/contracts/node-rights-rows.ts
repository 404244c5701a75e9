/** What differs between API servers. */
export interface RightsOf {
  /** N of 1.N. */
  release: number;
  /** The embedded server evaluates no admission policies, and its node authorizer reads selectors as that of 1.32 does. */
  isReal: boolean;
}
/** Whether it is allowed; where that depends on the server, how. */
type May = boolean | ((home: RightsOf) => boolean);

export interface RightsRow {
  /** Finishes "the identity of node `mine` ...". */
  why: string;
  /** Method and path; writes are dry runs. */
  do: string;
  body?: unknown;
  kubelet: May;
  account: May;
  /** The embedded server does not serve it. */
  realOnly?: true;
}

export const NC = '/apis/dkc.dev/v1alpha1/nodeconfigs';
export const CONFIG_MAPS = '/api/v1/namespaces/dkc-system/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const source = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
export const spec = { spec: { configMap: source } };
export const status = { status: { error: 'failed to sync' } };
export const nodeConfig = (name: string, more = {}) => ({
  apiVersion: 'dkc.dev/v1alpha1',
  kind: 'NodeConfig',
  metadata: { name },
  ...more,
});
const event = (namespace: string) => ({
  metadata: { generateName: 'mine.', namespace },
  involvedObject: { kind: 'Node', name: 'mine', ...(namespace === 'default' ? {} : { namespace }) },
  reason: 'Tried',
});
export const pod = (name: string, nodeName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
});

const withoutSelectors: May = ({ isReal, release }) => isReal && release < 32;
export const hasPolicies = ({ isReal, release }: RightsOf): boolean => isReal && release >= 30;
const withoutPolicies: May = (home) => !hasPolicies(home);

/** What the identity of node `mine` may do, and what it may not. `theirs` is another node. */
export const rightsRows: readonly RightsRow[] = [
  { why: 'reads its NodeConfig', do: `GET ${NC}/mine`, kubelet: true, account: true },
  { why: 'lists its NodeConfig', do: `GET ${NC}?fieldSelector=metadata.name%3Dmine`, kubelet: true, account: true },
  {
    why: 'watches its NodeConfig',
    do: `GET ${NC}?fieldSelector=metadata.name%3Dmine&watch=1&timeoutSeconds=1`,
    kubelet: true,
    account: true,
  },
  {
    why: 'reads the NodeConfig of another node: RBAC cannot restrict a group to names',
    do: `GET ${NC}/theirs`,
    kubelet: true,
    account: false,
  },
  { why: 'lists all NodeConfigs', do: `GET ${NC}`, kubelet: true, account: false },
  { why: 'reports its status', do: `PATCH ${NC}/mine/status`, body: status, kubelet: true, account: true },
  { why: 'reports for another node', do: `PATCH ${NC}/theirs/status`, body: status, kubelet: withoutPolicies, account: false },
  { why: 'replaces its status', do: `PUT ${NC}/mine/status`, body: nodeConfig('mine', status), kubelet: false, account: false },
  { why: 'assigns itself another config', do: `PATCH ${NC}/mine`, body: spec, kubelet: false, account: false },
  { why: 'replaces its NodeConfig', do: `PUT ${NC}/mine`, body: nodeConfig('mine', spec), kubelet: false, account: false },
  { why: 'assigns a config to another node', do: `PATCH ${NC}/theirs`, body: spec, kubelet: false, account: false },
  { why: 'creates a NodeConfig', do: `POST ${NC}`, body: nodeConfig('third'), kubelet: false, account: false },
  { why: 'deletes its NodeConfig', do: `DELETE ${NC}/mine`, kubelet: false, account: false },
  { why: 'deletes the NodeConfig of another node', do: `DELETE ${NC}/theirs`, kubelet: false, account: false },
  { why: 'deletes all NodeConfigs', do: `DELETE ${NC}`, kubelet: false, account: false },
  { why: 'changes the definition', do: 'PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeconfigs.dkc.dev', body: { metadata: { labels: { a: 'b' } } }, kubelet: false, account: false }, // prettier-ignore

  { why: 'reads a ConfigMap in dkc-system', do: `GET ${CONFIG_MAPS}/web`, kubelet: true, account: true },
  { why: 'watches a ConfigMap in dkc-system', do: `GET ${CONFIG_MAPS}?fieldSelector=metadata.name%3Dweb&watch=1&timeoutSeconds=1`, kubelet: true, account: true }, // prettier-ignore
  {
    why: 'changes a ConfigMap in dkc-system',
    do: `PATCH ${CONFIG_MAPS}/web`,
    body: { data: { kubelet: '' } },
    kubelet: false,
    account: false,
  },
  {
    why: 'creates a ConfigMap in dkc-system',
    do: `POST ${CONFIG_MAPS}`,
    body: { metadata: { name: 'x' } },
    kubelet: false,
    account: false,
  },
  { why: 'reads a ConfigMap elsewhere', do: 'GET /api/v1/namespaces/default/configmaps/other', kubelet: false, account: false },
  { why: 'lists ConfigMaps elsewhere', do: 'GET /api/v1/namespaces/default/configmaps', kubelet: false, account: false },
  { why: 'lists all ConfigMaps', do: 'GET /api/v1/configmaps', kubelet: false, account: false },
  { why: 'lists Secrets beside the ConfigMaps', do: 'GET /api/v1/namespaces/dkc-system/secrets', kubelet: false, account: false },
  { why: 'reads a Secret', do: 'GET /api/v1/namespaces/kube-system/secrets/any', kubelet: false, account: false },

  { why: 'reads its Node', do: 'GET /api/v1/nodes/mine', kubelet: true, account: true },
  {
    why: 'watches its Node',
    do: 'GET /api/v1/nodes?fieldSelector=metadata.name%3Dmine&watch=1&timeoutSeconds=1',
    kubelet: true,
    account: true,
  },
  { why: 'reads another Node', do: 'GET /api/v1/nodes/theirs', kubelet: withoutSelectors, account: false },
  { why: 'lists all Nodes', do: 'GET /api/v1/nodes', kubelet: withoutSelectors, account: false },
  { why: 'reports on its Node', do: 'PATCH /api/v1/nodes/mine/status', body: { metadata: { annotations: { 'dkc.dev/agent': '{}' } } }, kubelet: true, account: true }, // prettier-ignore
  {
    why: 'reports on another Node',
    do: 'PATCH /api/v1/nodes/theirs/status',
    body: { metadata: { annotations: { a: 'b' } } },
    kubelet: false,
    account: false,
  },
  {
    why: 'changes another Node',
    do: 'PATCH /api/v1/nodes/theirs',
    body: { metadata: { annotations: { a: 'b' } } },
    kubelet: false,
    account: false,
  },
  { why: 'deletes another Node', do: 'DELETE /api/v1/nodes/theirs', kubelet: false, account: false },
  { why: 'reads its Lease', do: `GET ${LEASES}/mine`, kubelet: true, account: true },
  { why: 'reads the Lease of another node', do: `GET ${LEASES}/theirs`, kubelet: false, account: false },
  { why: 'writes an event', do: 'POST /api/v1/namespaces/default/events', body: event('default'), kubelet: true, account: true },
  {
    why: 'writes an event elsewhere',
    do: 'POST /api/v1/namespaces/kube-system/events',
    body: event('kube-system'),
    kubelet: true,
    account: false,
  },
  { why: 'lists events', do: 'GET /api/v1/namespaces/default/events', kubelet: false, account: false },

  { why: 'lists its pods', do: 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dmine', kubelet: true, account: false },
  {
    why: 'lists the pods of another node',
    do: 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dtheirs',
    kubelet: withoutSelectors,
    account: false,
  },
  { why: 'lists all pods', do: 'GET /api/v1/pods', kubelet: withoutSelectors, account: false },
  { why: 'creates a pod', do: `POST ${PODS}`, body: pod('stray', 'mine'), kubelet: false, account: false },
  { why: 'binds a pod', do: `POST ${PODS}/theirs/binding`, body: { metadata: { name: 'theirs' }, target: { kind: 'Node', name: 'mine' } }, kubelet: false, account: false }, // prettier-ignore
  { why: 'deletes a pod of another node', do: `DELETE ${PODS}/theirs`, kubelet: false, account: false },
  { why: 'requests a token for itself', do: 'POST /api/v1/namespaces/dkc-system/serviceaccounts/mine/token', body: { spec: {} }, kubelet: false, account: true, realOnly: true }, // prettier-ignore
  { why: 'requests a token of another node', do: 'POST /api/v1/namespaces/dkc-system/serviceaccounts/theirs/token', body: { spec: {} }, kubelet: false, account: false }, // prettier-ignore
  { why: 'gives itself a role', do: 'POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings', body: { metadata: { name: 'x' }, roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } }, kubelet: false, account: false }, // prettier-ignore
];
