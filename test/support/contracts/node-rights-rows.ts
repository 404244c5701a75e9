import { parse } from 'yaml';
import { table } from '../table.ts';

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

/**
 * In `do`, words stand for the paths below. Bodies are YAML, or SPEC and STATUS of a NodeConfig, `NC NAME`, `POD NAME NODE`, `EVENT NAMESPACE`. An identity may do
 * what is `unselected` where selectors do not count for the Node authorizer, and `unless policy` where there are no admission policies.
 */
const rows = table('kubelet | account | do | body | why')(`
  yes | yes | GET NC/mine | | reads its NodeConfig
  yes | yes | GET NC?fieldSelector=metadata.name%3Dmine | | lists its NodeConfig
  yes | yes | GET NC?fieldSelector=metadata.name%3Dmine&watch=1&timeoutSeconds=1 | | watches its NodeConfig
  yes | no | GET NC/theirs | | reads the NodeConfig of another node: RBAC cannot restrict a group to names
  yes | no  | GET NC                                    |                                   | lists all NodeConfigs
  yes | yes | PATCH NC/mine/status                      | STATUS                            | reports its status
  unless policy | no | PATCH NC/theirs/status | STATUS | reports for another node
  no  | no  | PUT NC/mine/status                        | NC mine STATUS           | replaces its status
  no  | no  | PATCH NC/mine                             | SPEC                              | assigns itself another config
  no  | no  | PUT NC/mine                               | NC mine SPEC             | replaces its NodeConfig
  no  | no  | PATCH NC/theirs                           | SPEC                              | assigns a config to another node
  no  | no  | POST NC                                   | NC third                 | creates a NodeConfig
  no  | no  | DELETE NC/mine                            |                                   | deletes its NodeConfig
  no  | no  | DELETE NC/theirs                          |                                   | deletes the NodeConfig of another node
  no  | no  | DELETE NC                                 |                                   | deletes all NodeConfigs
  no | no | PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeconfigs.dkc.dev | {metadata: {labels: {a: b}}}
    | changes the definition
  yes | yes | GET CONFIG_MAPS/web                       |                                   | reads a ConfigMap in dkc-system
  yes | yes | GET CONFIG_MAPS?fieldSelector=metadata.name%3Dweb&watch=1&timeoutSeconds=1 | | watches a ConfigMap in dkc-system
  no  | no  | PATCH CONFIG_MAPS/web                     | {data: {kubelet: ''}}             | changes a ConfigMap in dkc-system
  no  | no  | POST CONFIG_MAPS                          | {metadata: {name: x}}             | creates a ConfigMap in dkc-system
  no | no | GET /api/v1/namespaces/default/configmaps/other | | reads a ConfigMap elsewhere
  no  | no  | GET /api/v1/namespaces/default/configmaps |                                   | lists ConfigMaps elsewhere
  no  | no  | GET /api/v1/configmaps                    |                                   | lists all ConfigMaps
  no  | no  | GET /api/v1/namespaces/dkc-system/secrets |                                   | lists Secrets beside the ConfigMaps
  no | no | GET /api/v1/namespaces/kube-system/secrets/any | | reads a Secret
  yes | yes | GET /api/v1/nodes/mine                    |                                   | reads its Node
  yes | yes | GET /api/v1/nodes?fieldSelector=metadata.name%3Dmine&watch=1&timeoutSeconds=1 | | watches its Node
  unselected | no | GET /api/v1/nodes/theirs | | reads another Node
  unselected | no | GET /api/v1/nodes | | lists all Nodes
  yes | yes | PATCH /api/v1/nodes/mine/status | {metadata: {annotations: {dkc.dev/agent: '{}'}}} | reports on its Node
  no  | no  | PATCH /api/v1/nodes/theirs/status         | {metadata: {annotations: {a: b}}} | reports on another Node
  no  | no  | PATCH /api/v1/nodes/theirs                | {metadata: {annotations: {a: b}}} | changes another Node
  no  | no  | DELETE /api/v1/nodes/theirs               |                                   | deletes another Node
  yes | yes | GET LEASES/mine                           |                                   | reads its Lease
  no  | no  | GET LEASES/theirs                         |                                   | reads the Lease of another node
  yes | yes | POST /api/v1/namespaces/default/events    | EVENT default                     | writes an event
  yes | no | POST /api/v1/namespaces/kube-system/events | EVENT kube-system | writes an event elsewhere
  no  | no  | GET /api/v1/namespaces/default/events     |                                   | lists events
  yes | no | GET /api/v1/pods?fieldSelector=spec.nodeName%3Dmine | | lists its pods
  unselected | no | GET /api/v1/pods?fieldSelector=spec.nodeName%3Dtheirs | | lists the pods of another node
  unselected | no | GET /api/v1/pods | | lists all pods
  no  | no  | POST PODS                                 | POD stray mine                    | creates a pod
  no | no | POST PODS/theirs/binding | {metadata: {name: theirs}, target: {kind: Node, name: mine}} | binds a pod
  no  | no  | DELETE PODS/theirs                        |                                   | deletes a pod of another node
  no | no | POST /api/v1/namespaces/dkc-system/serviceaccounts/theirs/token | {spec: {}} | requests a token of another node
  no | no | POST RBAC/clusterrolebindings | {metadata: {name: x}, roleRef: {kind: ClusterRole, name: cluster-admin}} | gives itself a role
`);

const may: Readonly<Record<string, May>> = { yes: true, no: false, unselected: withoutSelectors, 'unless policy': withoutPolicies };
const paths: Readonly<Record<string, string>> = { NC, CONFIG_MAPS, PODS, LEASES, RBAC: '/apis/rbac.authorization.k8s.io/v1' };

function bodyOf(text: string): unknown {
  const [what = '', name = '', more = ''] = text.split(' ');
  if (what === 'NC') return nodeConfig(name, more === '' ? {} : (bodyOf(more) as object));
  if (what === 'POD') return pod(name, more);
  if (what === 'EVENT') return event(name);
  return { SPEC: spec, STATUS: status }[what] ?? (text === '' ? undefined : parse(text));
}

/** What the identity of node `mine` may do, and what it may not. `theirs` is another node. */
export const rightsRows: readonly RightsRow[] = [
  ...rows.map(({ why, do: what, ...row }) => ({
    why,
    do: what.replace(/[A-Z_]+(?=[/?]|$)/, (word) => paths[word] ?? word),
    body: bodyOf(row.body),
    kubelet: may[row.kubelet] ?? false,
    account: may[row.account] ?? false,
  })),
  { why: 'requests a token for itself', do: 'POST /api/v1/namespaces/dkc-system/serviceaccounts/mine/token', body: { spec: {} }, kubelet: false, account: true, realOnly: true }, // prettier-ignore
];
