import type { TestContext } from 'node:test';
import { NAMESPACE } from '../../../../cli/demo/stage.ts';
import { rollouts } from '../../../../controllers/rollout/types.ts';
import { definitions } from '../../../../deploy/manifests.ts';
import { binding, rolloutRights } from '../../../../deploy/rights.ts';
import { type KubeObject, namespaces, pods, type Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { eventually } from '../../../support/eventually.ts';
import { adminClient } from '../../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../../support/real-parts/control-plane.ts';
import type { Release } from '../../../support/real-parts/release.ts';

/** The account that docs/rollouts.md binds the controller's roles to; its token too. */
const ACCOUNT = 'dkc-controllers';
const accountToken = { token: ACCOUNT, user: `system:serviceaccount:kube-system:${ACCOUNT}`, groups: [] };

const rbac = (resource: string, kind: string, namespaced: boolean): Resource => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource, kind, namespaced }); // prettier-ignore
const kinds = [
  rbac('clusterroles', 'ClusterRole', false),
  rbac('roles', 'Role', true),
  rbac('clusterrolebindings', 'ClusterRoleBinding', false),
  rbac('rolebindings', 'RoleBinding', true),
];

const crds: Resource = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions', kind: 'CustomResourceDefinition', namespaced: false }; // prettier-ignore

/** Of simulated agents. */
export const pace = { trialDuration: 1_000, unhealthyDeadline: 120_000, maxKubeletExits: 3, syncInterval: 1_000, restartMs: 100 };

/** A control plane with what rollouts need, and how to become its clients. */
export async function rolloutPlane(t: TestContext, release: Release) {
  const plane = await startControlPlane({ release, extraTokens: [accountToken] });
  t.after(() => plane.stop());
  const connect = (): Client => {
    const one = adminClient(plane);
    t.after(() => one.close());
    return one;
  };
  const client = connect();
  for (const definition of definitions({ cel: release.minor >= 28 })) await client.create(crds, definition);
  await eventually('NodeConfigRollouts are served', () => client.list(rollouts).then(() => true as const, () => undefined), 30_000); // prettier-ignore
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await allowRollouts(client);
  const ending = new AbortController();
  t.after(() => ending.abort());
  return { plane, connect, client, signal: ending.signal, byRole: { ...plane, kubeconfig: () => plane.kubeconfig(ACCOUNT) } };
}

/** Creates the roles of the manifests, and binds the controller's as the documentation does. */
async function allowRollouts(client: Pick<Client, 'create'>): Promise<void> {
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
