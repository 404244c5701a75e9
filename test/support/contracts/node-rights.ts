import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { manifests } from '../../../deploy/manifests.ts';
import { ApiHttp, text, type HttpAnswer } from '../api-http.ts';
import { eventually } from '../eventually.ts';
import { CONFIG_MAPS, hasPolicies, NC, rightsRows, nodeConfig, pod, spec, status, type RightsOf } from './node-rights-rows.ts';
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

export interface RightsHome extends RightsOf {
  url: string;
  ca: string;
  adminToken: string;
  stop(): Promise<void>;
}

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
      await apply(admin, world);
      for (const [user, role] of [['assigner', 'dkc-assign'], ['viewer', 'dkc-view']] as const) await apply(admin, [bound(user, role)]); // prettier-ignore
      await eventually('roles apply', async () => (await admin.as('viewer').get(NC)).code === 200);
      if (hasPolicies(home)) await policyApplies(admin);
    });
    after(() => home?.stop());

    const tried = async (who: string, what: string, body?: unknown): Promise<HttpAnswer> => {
      const [method = '', path = ''] = what.split(' ');
      const dry = method === 'GET' ? '' : `${path.includes('?') ? '&' : '?'}dryRun=All`;
      return admin.as(who).call(method, `${path}${dry}`, body === undefined ? {} : { body });
    };
    const check = (who: string, what: string, { code, text: said }: HttpAnswer, isAllowed: boolean): void =>
      assert.equal(code === 403 ? 'forbidden' : code < 300 ? 'allowed' : said, isAllowed ? 'allowed' : 'forbidden', `${who}: ${what}`);

    for (const { why, do: what, body, realOnly, ...may } of rightsRows)
      test(`node: ${why}`, async (t) => {
        if (realOnly && !home.isReal) return t.skip('the embedded server does not serve it');
        for (const who of ['kubelet', 'account'] as const) {
          const allowed = typeof may[who] === 'boolean' ? may[who] : may[who](home);
          check(who, what, await tried(who, what, body), allowed);
        }
      });

    const people = [
      { who: 'default-account', what: `GET ${NC}/mine`, may: false },
      { who: 'default-account', what: `GET ${CONFIG_MAPS}/web`, may: false },
      { who: 'viewer', what: `GET ${NC}`, may: true },
      { who: 'viewer', what: `PATCH ${NC}/mine`, body: spec, may: false },
      { who: 'viewer', what: `GET ${CONFIG_MAPS}/web`, may: false },
      { who: 'assigner', what: `POST ${NC}`, body: nodeConfig('third', spec), may: true },
      { who: 'assigner', what: `PATCH ${NC}/mine`, body: spec, may: true },
      { who: 'assigner', what: `PATCH ${NC}/mine/status`, body: status, may: false },
      { who: 'assigner', what: `DELETE ${NC}/mine`, may: false },
      { who: 'assigner', what: 'DELETE /api/v1/nodes/mine', may: false },
    ];
    for (const { who, what, body, may } of people)
      test(`${who} ${may ? 'may' : 'may not'} ${what}`, async () => check(who, what, await tried(who, what, body), may));

    test('a status patch changes nothing of the spec', async () => {
      const { json } = await tried('kubelet', `PATCH ${NC}/mine/status`, { ...status, ...spec });
      assert.deepEqual([json['spec'], json['status']], [undefined, status.status]);
    });

    test('a ServiceAccount renews its token with the one that it has', async (t) => {
      if (!home.isReal) return t.skip('the embedded server does not serve it');
      const path = '/api/v1/namespaces/dkc-system/serviceaccounts/mine/token';
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
      const first = text((await admin.post(path, request)).json['status']?.['token']);
      const second = text((await admin.as(first).post(path, request)).json['status']?.['token']);
      assert.equal((await admin.as(second).get(`${NC}/mine`)).code, 200);
      assert.equal((await admin.as(second).get(`${NC}/theirs`)).code, 403);
    });

    test('by name, a kubelet reads and reports on its own NodeConfig alone', async () => {
      assert.equal((await admin.delete('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/dkc-agent')).code, 200);
      await apply(admin, manifests({ release: home.release, only: 'rbac', credentials: 'kubelet', nodes: ['theirs'], listsPods: false }));
      await eventually('the group lost its role', async () => (await tried('kubelet', `GET ${NC}/mine`)).code === 403);
      await eventually('the node has its own', async () => (await tried('other-kubelet', `GET ${NC}/theirs`)).code === 200);
      check('by name', 'own status', await tried('other-kubelet', `PATCH ${NC}/theirs/status`, status), true);
      check('by name', 'other', await tried('other-kubelet', `GET ${NC}/mine`), false);
      check('by name', 'other status', await tried('other-kubelet', `PATCH ${NC}/mine/status`, status), false);
    });

    test('where a role gives nodes too much, the admission policy still keeps them to their own status', async (t) => {
      if (!hasPolicies(home)) return t.skip('no admission policies before 1.30');
      await apply(admin, [bound('kubelet-too', 'cluster-admin', { kind: 'Group', name: 'system:nodes' })]);
      await eventually('it applies', async () => (await tried('kubelet', 'GET /api/v1/secrets')).code === 200);
      check('policy', 'own status', await tried('kubelet', `PATCH ${NC}/mine/status`, status), true);
      for (const [what, body] of [
        [`PATCH ${NC}/theirs/status`, status],
        [`PATCH ${NC}/mine`, spec],
        [`POST ${NC}`, nodeConfig('third')],
        [`DELETE ${NC}/mine`],
        [`DELETE ${NC}`],
      ] as const)
        check('policy', what, await tried('kubelet', what, body), false);
    });
  });
}

const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
const configMap = (namespace: string, name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: {} });
const lease = (name: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace: 'kube-node-lease' },
  spec: {},
});
const world: readonly KubeObject[] = [
  ...['mine', 'theirs'].flatMap((name) => [node(name), lease(name), nodeConfig(name)]),
  configMap('dkc-system', 'web'),
  configMap('default', 'other'),
  pod('theirs', 'theirs'),
];

function bound(name: string, role: string, subject = { kind: 'User', name }): KubeObject {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }];
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects };
}

const plurals: Readonly<Record<string, string>> = { ValidatingAdmissionPolicy: 'validatingadmissionpolicies' };

/** Creates what is not there yet; a definition is waited for. */
/** Creates objects in their order; those that are there already stay as they are. */
export async function apply(admin: ApiHttp, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { apiVersion = '', kind = '', metadata } = object;
    const at = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    const answer = await admin.post(`${at}${within}/${plurals[kind] ?? `${kind.toLowerCase()}s`}`, object);
    assert.ok([201, 409].includes(answer.code), `${kind} ${metadata.name}: ${answer.text}`);
    if (kind === 'CustomResourceDefinition') await eventually('NodeConfigs are served', async () => (await admin.get(NC)).code === 200);
  }
}

/** A new policy is enforced a moment after it was created. */
async function policyApplies(admin: ApiHttp): Promise<void> {
  await eventually('the admission policy applies', async () => {
    const { code } = await admin.as('kubelet').patch(`${NC}/theirs/status?dryRun=All`, status);
    return code === 403;
  });
}
