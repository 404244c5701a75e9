import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, known, type Row } from './rows.ts';
import { controllerChecks, type ControllerFacts } from '../../../../cli/doctor/cluster/controllers.ts';
import { definitionChecks, type DefinitionFacts, differenceOf } from '../../../../cli/doctor/cluster/definitions.ts';
import { fleetChecks, type FleetFacts } from '../../../../cli/doctor/cluster/fleet.ts';
import { type Pair, roleChecks, type RoleFacts } from '../../../../cli/doctor/cluster/roles.ts';
import type { FleetNode } from '../../../../controllers/fleet/fleet-node.ts';
import { nodeConfigDefinition } from '../../../../deploy/nodeconfig-crd.ts';
import { rolloutDefinition } from '../../../../deploy/rollout-crd.ts';
import { manifests } from '../../../../deploy/manifests.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

test('two values differ in what one has and the other has not, by path', () => {
  const expected = { a: { b: 1, list: ['x', 'y'] }, c: { description: 'old', type: 'string' } };
  assert.deepEqual(differenceOf(expected, { a: { b: 2, list: ['x'] }, d: 1 }), { lacks: ['a.b', 'a.list', 'c'], adds: ['d'] });
  assert.deepEqual(differenceOf({ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] }), { lacks: [], adds: [] });
});

const there = (object: KubeObject, over: object = {}) => known({ ...object, status: { conditions: [{ type: 'Established', status: 'True' }] }, ...over }); // prettier-ignore
const [nodeConfig, rollout] = [nodeConfigDefinition({ cel: true }), rolloutDefinition({ cel: true })];
const server = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
const old = { version: 'v1.20.2', servesNodeConfigs: false, hasConfigSource: true };
const definitions: DefinitionFacts = { server, namespace: known({ metadata: {} }), nodeConfigs: { expected: nodeConfig, actual: there(nodeConfig) }, rollouts: { expected: rollout, actual: there(rollout) }, byNodeSpec: known([]) }; // prettier-ignore
const of = (actual: DefinitionFacts['rollouts']['actual']): Partial<DefinitionFacts> => ({ rollouts: { expected: rollout, actual } });
const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const versions = (edit: (version: Record<string, unknown>) => object) => {
  const spec = rollout['spec'] as { versions: Record<string, unknown>[] };
  return of(there(rollout, { spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, ...edit(version) })) } }));
};
check(definitionChecks, definitions, [
  { check: 'server-version', where: 'it is older', facts: { server: { ...server, version: 'v1.19.0' } }, is: 'failed', says: 'older than 1.20', todo: 'upgrade the API server' },
  { check: 'server-version', where: 'it is newer', facts: { server: { ...server, version: 'v1.38.0' } }, is: 'warning', says: 'newer', todo: 'upgrade dkc' },
  { check: 'namespace', where: 'it is not', facts: { namespace: known(undefined) }, is: 'failed', says: 'no namespace dkc-system', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'namespace', where: 'it goes', facts: { namespace: known({ metadata: gone }) }, is: 'failed', says: 'being deleted', todo: 'wait until it is gone' },
  { check: 'crd-nodeconfigs', where: 'it has the patterns for older servers', facts: { nodeConfigs: { expected: nodeConfig, actual: there(nodeConfigDefinition({ cel: false })) } }, is: 'failed', says: 'spec.configMap.namespace.x-kubernetes-validations', todo: 'with the newest version of dkc' },
  { check: 'crd-nodeconfigs', where: 'it is missing, and the Node can assign', facts: { server: old, nodeConfigs: { expected: nodeConfig, actual: known(undefined) } }, is: 'warning', says: 'can only be assigned in Node.spec.configSource', todo: 'dkc deploy manifests --kubernetes-version=1.20 |' },
  { check: 'crd-rollouts', where: 'it is missing', facts: of(known(undefined)), is: 'failed', says: 'there is no CustomResourceDefinition nodeconfigrollouts.dkc.dev', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'crd-rollouts', where: 'it goes', facts: of(there(rollout, { metadata: { name: 'x', ...gone } })), is: 'failed', says: 'being deleted', todo: 'wait until it is gone' },
  { check: 'crd-rollouts', where: 'its name is taken', facts: of(there(rollout, { status: { conditions: [{ type: 'NamesAccepted', status: 'False', message: 'ncr is in use' }] } })), is: 'failed', says: 'not established: ncr is in use', todo: 'kubectl describe crd' },
  { check: 'crd-rollouts', where: 'it serves another version', facts: versions(() => ({ name: 'v1' })), is: 'failed', says: 'does not serve v1alpha1', todo: 'with the newest version of dkc' },
  { check: 'crd-rollouts', where: 'a field is missing', facts: versions(() => ({ schema: {} })), is: 'failed', says: 'differs in its schema', todo: 'with the newest version of dkc' },
  { check: 'crd-rollouts', where: 'it has more', facts: versions(({ subresources }) => ({ subresources: { ...(subresources as object), scale: {} } })), is: 'warning', says: 'also has subresources.scale', todo: 'use that version of dkc' },
  { check: 'assigned-by', where: 'a new server has no definition', facts: { server: { ...server, servesNodeConfigs: false } }, is: 'failed', says: 'serves no NodeConfigs', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'assigned-by', where: 'a node is left behind', facts: { byNodeSpec: known(['node-a']) }, is: 'warning', says: '1 node is assigned by Node.spec.configSource: node-a', todo: 'move them before the API server is upgraded' },
] satisfies (Row & { facts: Partial<DefinitionFacts> })[]); // prettier-ignore

const expected = manifests({ release: 36, credentials: 'kubelet', nodes: [], listsPods: false });
const pairs = (kinds: RegExp, names: RegExp, actual: (object: KubeObject) => KubeObject | undefined = (object) => object): Pair[] =>
  expected
    .filter(({ kind, metadata }) => kinds.test(kind ?? '') && names.test(metadata.name ?? ''))
    .map((object) => ({ expected: object, actual: known(actual(object)) }));
const agents = (actual?: (object: KubeObject) => KubeObject | undefined) => pairs(/Role/, /^dkc-agent$/, actual);
const people = (actual?: (object: KubeObject) => KubeObject | undefined) => pairs(/Role$/, /^dkc-(?!agent)/, actual);
const policies = (actual?: (object: KubeObject) => KubeObject | undefined) => pairs(/Policy/, /./, actual);
const roles: RoleFacts = { agents: agents(), byName: known([]), nodes: known(['node-a', 'node-b']), people: people(), admission: policies(), missing: known([]) }; // prettier-ignore
const none = () => undefined;
const star = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
check(roleChecks, roles, [
  { check: 'agent-roles', where: 'each node has its own', facts: { agents: agents(none), byName: known(['dkc:node:node-a', 'dkc:node:node-b']) }, is: 'ok', says: '2 nodes, each' },
  { check: 'agent-roles', where: 'one node has its own', facts: { agents: agents(none), byName: known(['dkc:node:node-a']) }, is: 'failed', says: 'agents of 1 node have no rights: node-b', todo: 'dkc deploy manifests --only=rbac --nodes=' },
  { check: 'agent-roles', where: 'there are none', facts: { agents: agents(none) }, is: 'failed', says: 'the roles for agents do not exist', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'agent-roles', where: 'a role is missing', facts: { agents: agents((one) => (one.kind === 'Role' ? undefined : one)) }, is: 'failed', says: 'there is no Role dkc-system/dkc-agent', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'agent-roles', where: 'a binding binds nobody', facts: { agents: agents((one) => ({ ...one, subjects: [] })) }, is: 'failed', says: 'does not bind Group system:nodes', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'agent-roles', where: 'a role is for some names alone', facts: { agents: agents((one) => (one['rules'] ? { ...one, rules: [{ ...star, resourceNames: ['node-a'] }] } : one)) }, is: 'failed', says: 'does not grant get nodeconfigs', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'roles', where: 'one is missing', facts: { people: people((one) => (one.metadata.name === 'dkc-view' ? undefined : one)) }, is: 'failed', says: 'there is no ClusterRole dkc-view', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'admission-policy', where: 'it is missing', facts: { admission: policies(none) }, is: 'failed', says: "a node can write the status of other nodes' NodeConfigs", todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'admission-policy', where: 'it is missing, and rights are by name', facts: { admission: policies(none), agents: agents(none) }, is: 'warning', says: 'there is no', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'admission-policy', where: 'it says something else', facts: { admission: policies((one) => ({ ...one, spec: {} })) }, is: 'warning', says: 'differs from that of this version of dkc', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'admission-policy', where: 'an old server has none', facts: { admission: [] }, is: 'warning', says: 'before 1.30', todo: 'give each node its rights by name' },
  { check: 'caller-rights', where: 'you may not', facts: { missing: known([{ verb: 'create', group: '', resource: 'configmaps', namespace: 'dkc-system', vital: true }]) }, is: 'warning', says: 'create configmaps in namespace dkc-system', todo: 'dkc-assign' },
] satisfies (Row & { facts: Partial<RoleFacts> })[]); // prettier-ignore

const node = (name: string, over: Partial<FleetNode> = {}): FleetNode => ({ node: name, carrier: 'nodeconfig', wanted: null, reports: true, agent: { version: '1.2.3', trial: null }, assigned: null, active: null, lastKnownGood: null, error: null, ready: true, kubeletVersion: 'v1.36.1', ...over }); // prettier-ignore
const fleet = (...nodes: FleetNode[]): Partial<FleetFacts> => ({ nodes: known(nodes) });
const [a, b] = [node('a'), node('b')];
const without = { reports: false, agent: null };
check(fleetChecks, { nodes: known([a, b]), serverVersion: 'v1.36.3', version: '1.2.3' }, [
  { check: 'agents', where: 'one has none', facts: fleet(a, node('b', without)), is: 'warning', says: '1 of 2 nodes: b', todo: 'install dkc' },
  { check: 'agents', where: 'one has not answered', facts: fleet(a, node('b', { isBehind: true })), is: 'warning', says: 'have not processed the latest assignment of their node: b', todo: 'run this again in a minute' },
  { check: 'agents', where: 'a node is down', facts: fleet(a, node('b', { ready: null })), is: 'warning', says: 'not Ready: b', todo: 'dkc doctor' },
  { check: 'agent-versions', where: 'one is another', facts: fleet(a, node('b', { agent: { version: '1.2.2', trial: null } })), is: 'warning', says: '1 with 1.2.2 (b)', todo: 'install the same version' },
  { check: 'kubelet-versions', where: 'one is newer', facts: fleet(a, node('b', { kubeletVersion: 'v1.37.0' })), is: 'failed', says: 'the kubelet of b is 1.37, newer', todo: 'upgrade the API server' },
  { check: 'kubelet-versions', where: 'one is too old', facts: fleet(a, node('b', { kubeletVersion: 'v1.30.0' })), is: 'warning', says: 'the kubelet of b is 1.30, too old', todo: 'upgrade the kubelet' },
  { check: 'kubelet-versions', where: 'dkc does not know one yet', facts: { serverVersion: 'v1.39.0', ...fleet(node('b', { kubeletVersion: 'v1.38.0' })) }, is: 'warning', says: 'newer than the versions that this dkc supports', todo: 'upgrade dkc' },
] satisfies (Row & { facts: Partial<FleetFacts> })[]); // prettier-ignore

const now = Date.parse('2026-03-01T00:10:00Z');
const lease = (holderIdentity: string, ageS: number) => known({ metadata: {}, spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new Date(now - ageS * 1000).toISOString() } }); // prettier-ignore
const [noLease, held, stale] = [known(undefined), lease('pod-a', 2), lease('pod-a', 31)];
const manager = (controllers: string): Partial<ControllerFacts> => ({
  controllersLease: held,
  managers: known([{ pod: 'kcm-a', controllers }]),
});
const flows = (actual?: (object: KubeObject) => KubeObject | undefined): Partial<ControllerFacts> => ({ flowControl: known(manifests({ release: 36, credentials: 'kubelet', nodes: [], listsPods: false, image: 'x' }).filter(({ kind }) => kind === 'FlowSchema').map((object) => ({ expected: object, actual: known(actual ? actual(object) : object) }))) }); // prettier-ignore
const controllers: ControllerFacts = { rolloutLease: held, controllersLease: noLease, setsLease: noLease, hasRollouts: known(true), managers: known([]), flowControl: known([]), now }; // prettier-ignore
check(controllerChecks, controllers, [
  { check: 'rollout-controller', where: 'nobody renews the Lease', facts: { rolloutLease: stale }, is: 'failed', says: 'was renewed 31 s ago', todo: '--leader-elect-resource-name=dkc-rollout' },
  { check: 'rollout-controller', where: 'there is none', facts: { rolloutLease: noLease }, is: 'failed', says: 'no rollout controller has ever held its Lease', todo: 'dkc controllers run' },
  { check: 'rollout-controller', where: 'nobody needs one', facts: { rolloutLease: noLease, hasRollouts: known(false) }, is: 'skipped', says: 'there are no rollouts' },
  { check: 'set-controllers', where: 'kube-controller-manager leaves them alone', facts: manager('*,-daemonset,-statefulset'), is: 'ok', says: 'runs neither of the two controllers' },
  { check: 'set-controllers', where: 'both have DaemonSets', facts: manager('*,-statefulset'), is: 'warning', says: 'kcm-a runs the daemonset or statefulset controller', todo: '-daemonset,-statefulset' },
  { check: 'set-controllers', where: 'kube-controller-manager has no such flag', facts: manager(''), is: 'warning', says: 'unless dkc runs the rollout controller alone there', todo: '-daemonset,-statefulset' },
  { check: 'set-controllers', where: 'both have them for sure', facts: { setsLease: held, managers: known([{ pod: 'kcm-a', controllers: '*' }]) }, is: 'failed', says: 'pod-a holds Lease dkc-system/dkc-controllers: both create', todo: '-daemonset,-statefulset' },
  { check: 'set-controllers', where: 'nobody has them', facts: { setsLease: stale, managers: known([{ pod: 'kcm-a', controllers: '*,-daemonset,-statefulset' }]) }, is: 'failed', says: 'no pods are created for them', todo: 'kubectl -n dkc-system get pods' },
  { check: 'flow-control', where: 'they are there', facts: flows(), is: 'ok', says: 'dkc-agents' },
  { check: 'flow-control', where: 'one is missing', facts: flows((one) => (one.metadata.name === 'dkc-agents' ? undefined : one)), is: 'warning', says: 'there is no FlowSchema dkc-agents', todo: 'dkc deploy manifests --image=IMAGE' },
] satisfies (Row & { facts: Partial<ControllerFacts> })[]); // prettier-ignore
