import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { manifests } from '../../../deploy/manifests.ts';
import { ApiHttp, type HttpAnswer } from '../api-http.ts';
import { eventually } from '../eventually.ts';
import { table } from '../table.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

const accountGroups = ['system:serviceaccounts', 'system:serviceaccounts:dkc-system'];
/** The users that a server must know, each by its token. */
export const rightsTokens = [
  { token: 'kubelet', user: 'system:node:mine', groups: ['system:nodes'] },
  { token: 'other-kubelet', user: 'system:node:theirs', groups: ['system:nodes'] },
  { token: 'account', user: 'system:serviceaccount:dkc-system:mine', groups: accountGroups },
  { token: 'default-account', user: 'system:serviceaccount:dkc-system:default', groups: accountGroups },
  { token: 'assigner', user: 'assigner', groups: [] },
  { token: 'viewer', user: 'viewer', groups: [] },
];

export interface RightsHome {
  /** N of 1.N. */
  release: number;
  /** The embedded server evaluates no admission policies, and its node authorizer reads selectors as that of 1.32 does. */
  isReal: boolean;
  url: string;
  ca: string;
  adminToken: string;
  stop(): Promise<void>;
}

const NC = '/apis/dkc.dev/v1alpha1/nodeconfigs';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const paths: Readonly<Record<string, string>> = {
  NC,
  CMS: '/api/v1/namespaces/dkc-system/configmaps',
  NODES: '/api/v1/nodes',
  PODS: '/api/v1/namespaces/default/pods',
  LEASES: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  RBAC,
};
const spec = { spec: { configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' } } };
const status = { status: { error: 'failed to sync' } };
const nodeConfig = (name: string, more = {}) => ({ apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name }, ...more });
const event = { metadata: { generateName: 'mine.' }, involvedObject: { kind: 'Node', name: 'mine' }, reason: 'Tried' };
const pod = (name: string, nodeName: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }] } }); // prettier-ignore
const bodies: Readonly<Record<string, object>> = { SPEC: spec, STATUS: status, NEW: nodeConfig('third', spec), EVENT: event, POD: pod('stray', 'mine') }; // prettier-ignore

/**
 * What the identity of node `mine` may do, as its kubelet and as an account of its own, and what it may not; `theirs` is another node. Bodies are YAML, or a word of
 * `bodies`. It may do what is `unselected` where selectors do not count for the Node authorizer, and `unless policy` where there are no admission policies.
 */
const rows = table('kubelet | account | do | body')(`
  yes        | yes | GET NC/mine                                           |
  yes        | yes | GET NC?fieldSelector=metadata.name%3Dmine&watch=1&timeoutSeconds=1 |
  yes        | no  | GET NC/theirs                                         |
  yes        | no  | GET NC                                                |
  yes        | yes | PATCH NC/mine/status                                  | STATUS
  unless policy | no | PATCH NC/theirs/status                              | STATUS
  no         | no  | PATCH NC/mine                                         | SPEC
  no         | no  | PATCH NC/theirs                                       | SPEC
  no         | no  | POST NC                                               | NEW
  no         | no  | DELETE NC/mine                                        |
  no         | no  | DELETE NC                                             |
  no         | no  | PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeconfigs.dkc.dev | {metadata: {labels: {a: b}}}
  yes        | yes | GET CMS/web                                           |
  yes        | yes | GET CMS?fieldSelector=metadata.name%3Dweb&watch=1&timeoutSeconds=1 |
  no         | no  | PATCH CMS/web                                         | {data: {kubelet: ''}}
  no         | no  | POST CMS                                              | {metadata: {name: x}}
  no         | no  | GET /api/v1/namespaces/default/configmaps/other       |
  no         | no  | GET /api/v1/configmaps                                |
  no         | no  | GET /api/v1/namespaces/dkc-system/secrets             |
  yes        | yes | GET NODES/mine                                        |
  yes        | yes | GET NODES?fieldSelector=metadata.name%3Dmine&watch=1&timeoutSeconds=1 |
  unselected | no  | GET NODES/theirs                                      |
  unselected | no  | GET NODES                                             |
  yes        | yes | PATCH NODES/mine/status                               | {metadata: {annotations: {dkc.dev/agent: '{}'}}}
  no         | no  | PATCH NODES/theirs/status                             | {metadata: {annotations: {a: b}}}
  no         | no  | PATCH NODES/theirs                                    | {metadata: {annotations: {a: b}}}
  no         | no  | DELETE NODES/theirs                                   |
  yes        | yes | GET LEASES/mine                                       |
  no         | no  | GET LEASES/theirs                                     |
  yes        | yes | POST /api/v1/namespaces/default/events                | EVENT
  no         | no  | GET /api/v1/namespaces/default/events                 |
  yes        | no  | GET /api/v1/pods?fieldSelector=spec.nodeName%3Dmine   |
  unselected | no  | GET /api/v1/pods?fieldSelector=spec.nodeName%3Dtheirs |
  unselected | no  | GET /api/v1/pods                                      |
  no         | no  | POST PODS                                             | POD
  no         | no  | POST PODS/theirs/binding                              | {metadata: {name: theirs}, target: {kind: Node, name: mine}}
  no         | no  | DELETE PODS/theirs                                    |
  no         | no  | POST /api/v1/namespaces/dkc-system/serviceaccounts/theirs/token | {spec: {}}
  no         | no  | POST RBAC/clusterrolebindings                         | {metadata: {name: x}, roleRef: {kind: ClusterRole, name: cluster-admin}}
`);

const hasPolicies = ({ isReal, release }: RightsHome): boolean => isReal && release >= 30;
const may = (home: RightsHome, word: string): boolean =>
  word === 'yes' || (word === 'unselected' && home.isReal && home.release < 32) || (word === 'unless policy' && !hasPolicies(home));

/** Tries on a server with the manifests of `dkc deploy manifests` all that a node's identity must do, and must not. */
export function nodeRightsContract(name: string, start: () => Promise<RightsHome>): void {
  describe(name, () => {
    let home: RightsHome;
    let admin: ApiHttp;
    before(async () => {
      home = await start();
      admin = new ApiHttp({ url: home.url, ca: home.ca, token: home.adminToken });
      const { release } = home;
      await apply(admin, manifests({ release, credentials: 'kubelet', nodes: [], listsPods: false }));
      await apply(admin, manifests({ release, only: 'rbac', credentials: 'service-account', nodes: ['mine'], listsPods: false }));
      await apply(admin, [...world, bound('assigner', 'dkc-assign'), bound('viewer', 'dkc-view')]);
      await eventually('roles apply', async () => (await admin.as('viewer').get(NC)).code === 200);
      // A new policy is enforced a moment after it was created.
      if (hasPolicies(home)) await eventually('the policy applies', async () => (await tried('kubelet', 'PATCH NC/theirs/status', status)).code === 403); // prettier-ignore
    });
    after(() => home?.stop());

    const tried = async (who: string, what: string, body?: unknown): Promise<HttpAnswer> => {
      const [method = '', words = ''] = what.split(' ');
      const path = words.replace(/^[A-Z]+/, (word) => paths[word] ?? word);
      const dry = method === 'GET' ? '' : `${path.includes('?') ? '&' : '?'}dryRun=All`;
      return admin.as(who).call(method, `${path}${dry}`, body === undefined ? {} : { body });
    };
    const check = async (who: string, what: string, isAllowed: boolean, body?: unknown): Promise<void> => {
      const { code, text: said } = await tried(who, what, body);
      assert.equal(code === 403 ? 'forbidden' : code < 300 ? 'allowed' : said, isAllowed ? 'allowed' : 'forbidden', `${who}: ${what}`);
    };

    for (const { do: what, body, ...row } of rows)
      test(`a node: ${what} ${body}`, async () => {
        for (const who of ['kubelet', 'account'] as const)
          await check(who, what, may(home, row[who]), bodies[body] ?? (body === '' ? undefined : parse(body)));
      });

    for (const [who, what, isAllowed, body] of [
      ['default-account', 'GET NC/mine', false],
      ['default-account', 'GET CMS/web', false],
      ['viewer', 'PATCH NC/mine', false, spec],
      ['viewer', 'GET CMS/web', false],
      ['assigner', 'POST NC', true, nodeConfig('third', spec)],
      ['assigner', 'PATCH NC/mine', true, spec],
      ['assigner', 'PATCH NC/mine/status', false, status],
      ['assigner', 'DELETE NC/mine', false],
      ['assigner', 'DELETE NODES/mine', false],
    ] as const)
      test(`${who} ${isAllowed ? 'may' : 'may not'} ${what}`, () => check(who, what, isAllowed, body));

    test('by name, a kubelet reads and reports on its own NodeConfig alone', async () => {
      assert.equal((await admin.delete(`${RBAC}/clusterrolebindings/dkc-agent`)).code, 200);
      await apply(admin, manifests({ release: home.release, only: 'rbac', credentials: 'kubelet', nodes: ['theirs'], listsPods: false }));
      await eventually('the group lost its role', async () => (await tried('kubelet', 'GET NC/mine')).code === 403);
      await eventually('the node has its own', async () => (await tried('other-kubelet', 'GET NC/theirs')).code === 200);
      await check('other-kubelet', 'PATCH NC/theirs/status', true, status);
      await check('other-kubelet', 'GET NC/mine', false);
      await check('other-kubelet', 'PATCH NC/mine/status', false, status);
    });

    test('where a role gives nodes too much, the admission policy still keeps them to their own status', async (t) => {
      if (!hasPolicies(home)) return t.skip('no admission policies before 1.30');
      await apply(admin, [bound('kubelet-too', 'cluster-admin', { kind: 'Group', name: 'system:nodes' })]);
      await eventually('it applies', async () => (await tried('kubelet', 'GET /api/v1/secrets')).code === 200);
      await check('kubelet', 'PATCH NC/mine/status', true, status);
      for (const [what, body] of [['PATCH NC/theirs/status', status], ['PATCH NC/mine', spec], ['POST NC', nodeConfig('third')], ['DELETE NC/mine'], ['DELETE NC']] as const) await check('kubelet', what, false, body); // prettier-ignore
    });
  });
}

const object = (apiVersion: string, kind: string, name: string, namespace?: string, more: object = {}): KubeObject => ({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) }, ...more }); // prettier-ignore
const world: readonly KubeObject[] = [
  ...['mine', 'theirs'].flatMap((name) => [
    object('v1', 'Node', name),
    object('coordination.k8s.io/v1', 'Lease', name, 'kube-node-lease', { spec: {} }),
    nodeConfig(name),
  ]),
  object('v1', 'ConfigMap', 'web', 'dkc-system'),
  object('v1', 'ConfigMap', 'other', 'default'),
  pod('theirs', 'theirs'),
];

function bound(name: string, role: string, subject = { kind: 'User', name }): KubeObject {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }];
  return object('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', name, undefined, { roleRef, subjects });
}

/** Creates objects in their order; those that are there already stay as they are, and a definition is waited for. */
export async function apply(admin: ApiHttp, objects: readonly KubeObject[]): Promise<void> {
  for (const made of objects) {
    const { apiVersion = '', kind = '', metadata } = made;
    const at = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    const answer = await admin.post(`${at}${within}/${kind.toLowerCase().replace(/y$/, 'ie')}s`, made);
    assert.ok([201, 409].includes(answer.code), `${kind} ${metadata.name}: ${answer.text}`);
    if (kind === 'CustomResourceDefinition') await eventually('NodeConfigs are served', async () => (await admin.get(NC)).code === 200);
  }
}
