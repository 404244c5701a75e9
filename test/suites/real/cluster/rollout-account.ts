import { binding, rolloutRights } from '../../../../deploy/rights.ts';
import { type KubeObject, pods, type Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';

/** The account that docs/rollouts.md binds the controller's roles to; its token too. */
export const ACCOUNT = 'dkc-controllers';
export const accountToken = { token: ACCOUNT, user: `system:serviceaccount:kube-system:${ACCOUNT}`, groups: [] };

const rbac = (resource: string, kind: string, namespaced: boolean): Resource => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource, kind, namespaced }); // prettier-ignore
const kinds = [
  rbac('clusterroles', 'ClusterRole', false),
  rbac('roles', 'Role', true),
  rbac('clusterrolebindings', 'ClusterRoleBinding', false),
  rbac('rolebindings', 'RoleBinding', true),
];

/** Creates the roles of the manifests, and binds the controller's as the documentation does. */
export async function allowRollouts(client: Pick<Client, 'create'>): Promise<void> {
  const account = { kind: 'ServiceAccount', name: ACCOUNT, namespace: 'kube-system' } as const;
  const roles = rolloutRights();
  const ours = roles.filter(({ metadata }) => metadata.name === 'dkc-rollout-controller');
  await allow(client, [...roles, ...ours.map(({ metadata: { name = '', namespace } }) => binding(name, account, namespace))]);
}

/** Creates what the objects have of roles and bindings. */
export async function allow(client: Pick<Client, 'create'>, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { namespace } = object.metadata;
    const resource = kinds.find(({ kind }) => kind === object.kind);
    if (resource !== undefined) await client.create(resource, object, namespace === undefined ? {} : { namespace });
  }
}

/** A pod that a drain evicts. No kubelet ends it: it goes as soon as that is asked. */
export async function addEvictable(client: Pick<Client, 'create'>, nodeName: string): Promise<void> {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'app', uid: 'uid-app', controller: true }];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'app', namespace: 'default', ownerReferences },
    spec: { nodeName, containers: [{ name: 'main', image: 'app' }], terminationGracePeriodSeconds: 0 },
  };
  await client.create<KubeObject>(pods, pod, { namespace: 'default' });
}
