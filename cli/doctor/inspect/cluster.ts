import { credentialsOf } from './credentials.ts';
import { seen, type Seen, the, Unseen } from '../check.ts';
import type { ControllerFacts } from '../cluster/controllers.ts';
import type { DefinitionFacts } from '../cluster/definitions.ts';
import type { FleetFacts } from '../cluster/fleet.ts';
import { NODE_ROLE, type Pair, type RoleFacts } from '../cluster/roles.ts';
import type { HelloFacts } from '../node/server.ts';
import { minorOf } from '../../../kube/api/release.ts';
import type { CredentialFacts } from '../node/credentials.ts';
import { missingRights, type Right, rightsIn } from '../../process/check-rights.ts';
import { type Client, listPages } from '../../../kube/client/client.ts';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import { rollouts } from '../../../controllers/rollout/types.ts';
import { LEASE, WORKLOAD, setsWorkload } from '../../../deploy/deployments.ts';
import { SYSTEM_NAMESPACE } from '../../../deploy/rights.ts';
import { type KubeObject, leases, namespaces, pods, type Resource } from '../../../kube/api/object.ts';
import { isJsonObject } from '../../../kube/api/json.ts';
import { type HostReads, realHost } from './node-inspector.ts';
import type { ServerFacts } from '../../../controllers/fleet/server-facts.ts';
import type { FleetNode } from '../../../controllers/fleet/fleet-node.ts';
import { manifests } from '../../../deploy/manifests.ts';
import { isNotFound } from '../../../kube/client/errors.ts';
import { fleetCarrier } from '../../fleet/carrier.ts';
import { NEWEST_RELEASE } from '../../deploy/manifests.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';
import type { Context } from '../../command.ts';

/** Reads a cluster for `dkc doctor --cluster`. Facts that several topics need are read once. */
export class ClusterInspector {
  readonly context: Context;
  readonly client: Client;
  readonly server: ServerFacts;
  readonly host: Pick<HostReads, 'hello'>;
  /** Path of the kubeconfig, for messages. */
  readonly kubeconfig: string;
  readonly access: Seen<ClusterAccess | { problem: string }>;
  #nodes: Promise<Seen<readonly FleetNode[]>> | undefined;

  constructor(
    context: Context,
    about: {
      client: Client;
      server: ServerFacts;
      kubeconfig: string;
      access: Seen<ClusterAccess | { problem: string }>;
      host?: Pick<HostReads, 'hello'>;
    },
  ) {
    this.context = context;
    this.client = about.client;
    this.server = about.server;
    this.kubeconfig = about.kubeconfig;
    this.access = about.access;
    this.host = about.host ?? realHost;
  }

  /** N of the release 1.N whose manifests are compared. */
  get release(): number {
    return Math.min(minorOf(this.server.version) ?? NEWEST_RELEASE, NEWEST_RELEASE);
  }

  /** The output of `dkc deploy manifests` for this server. @param image - include the parts that run as pods, with this image */
  manifests(image?: string): KubeObject[] {
    return manifests({ release: this.release, credentials: 'kubelet', nodes: [], listsPods: false, image });
  }

  nodes(): Promise<Seen<readonly FleetNode[]>> {
    const { client, context } = this;
    const { clock, random, log, signal } = context;
    this.#nodes ??= seen(async () => (await fleetCarrier({ client, clock, random, log }, signal)).list(signal));
    return this.#nodes;
  }

  /** undefined: the object does not exist, or the server does not serve its kind. */
  find<T extends KubeObject>(
    resource: Resource,
    name: string,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<Seen<T | undefined>> {
    return seen(async () => {
      try {
        return await this.client.get<T>(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, { signal });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    });
  }

  /** Each manifest of these kinds, with the object of this name in the cluster. */
  async pairs(expected: readonly KubeObject[], resources: readonly Resource[], signal: AbortSignal): Promise<Pair[]> {
    const byKind = new Map(resources.map((resource) => [resource.kind, resource]));
    return Promise.all(
      expected.flatMap((manifest) => {
        const resource = byKind.get(manifest.kind ?? '');
        const { name = '', namespace } = manifest.metadata;
        return resource === undefined
          ? []
          : [this.find(resource, name, namespace, signal).then((actual) => ({ expected: manifest, actual }))];
      }),
    );
  }
}

const resource = (group: string, plural: string, kind: string, namespaced = false): Resource => ({ group, version: 'v1', resource: plural, kind, namespaced }); // prettier-ignore
const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const FLOW = 'flowcontrol.apiserver.k8s.io';
const definitions = resource('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition');
const clusterRoles = resource(RBAC, 'clusterroles', 'ClusterRole');
const roles = resource(RBAC, 'roles', 'Role', true);
const clusterRoleBindings = resource(RBAC, 'clusterrolebindings', 'ClusterRoleBinding');
const roleBindings = resource(RBAC, 'rolebindings', 'RoleBinding', true);
const policies = [resource(ADMISSION, 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy'), resource(ADMISSION, 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding')]; // prettier-ignore
const flows = [resource(FLOW, 'flowschemas', 'FlowSchema'), resource(FLOW, 'prioritylevelconfigurations', 'PriorityLevelConfiguration')];
const deployments = resource('apps', 'deployments', 'Deployment', true);

export async function inspectDefinitions(inspector: ClusterInspector, signal: AbortSignal): Promise<DefinitionFacts> {
  const expected = inspector.manifests().filter(({ kind }) => kind === 'CustomResourceDefinition');
  const pairOf = async (name: string): Promise<Pair> => {
    const own = expected.find(({ metadata }) => metadata.name === name) ?? { metadata: { name } };
    return { expected: own, actual: await inspector.find(definitions, name, undefined, signal) };
  };
  const nameOf = ({ resource: plural, group }: Resource): string => `${plural}.${group}`;
  return {
    server: inspector.server,
    namespace: await inspector.find(namespaces, SYSTEM_NAMESPACE, undefined, signal),
    nodeConfigs: await pairOf(nameOf(nodeConfigs)),
    rollouts: await pairOf(nameOf(rollouts)),
    byNodeSpec: await seen(async () => the(await inspector.nodes()).filter(({ carrier, wanted }) => carrier === 'node' && wanted !== null).map(({ node }) => node)), // prettier-ignore
  };
}

export async function inspectRoles(inspector: ClusterInspector, signal: AbortSignal): Promise<RoleFacts> {
  const expected = inspector.manifests();
  const isOfAgents = ({ metadata }: KubeObject): boolean => metadata.name === 'dkc-agent';
  const rbac = [clusterRoles, roles, clusterRoleBindings, roleBindings];
  const named: string[] = [];
  return {
    agents: await inspector.pairs(expected.filter(isOfAgents), rbac, signal),
    byName: await seen(async () => {
      const add = ({ metadata: { name = '' } }: KubeObject): void => void (name.startsWith(NODE_ROLE) && !name.endsWith(':pods') && named.push(name));
      await listPages(inspector.client, clusterRoleBindings, {}, add, signal);
      return named;
    }),
    nodes: await seen(async () => the(await inspector.nodes()).map(({ node }) => node)),
    people: await inspector.pairs(expected.filter((one) => !isOfAgents(one)), [clusterRoles, roles], signal),
    admission: await inspector.pairs(expected, policies, signal),
    missing: await seen(() => missingRights(inspector.client, callerRights(), signal)),
  }; // prettier-ignore
}

/** Rights for `dkc assign` and `dkc rollout create`; deploy/rights.ts grants them. */
function callerRights(): Right[] {
  const rights = rightsIn('');
  return [
    ...rights('get list', { group: '', resource: 'nodes' }),
    ...rights('list create patch', { group: nodeConfigs.group, resource: nodeConfigs.resource }),
    ...rights('list create update delete', { group: rollouts.group, resource: rollouts.resource }),
    ...rightsIn(SYSTEM_NAMESPACE)('get create update', { group: '', resource: 'configmaps' }),
  ];
}

/** Maximum number of kube-controller-manager pods; there is one per control plane node. */
const MAX_MANAGERS = 100;

export async function inspectFleet(inspector: ClusterInspector): Promise<FleetFacts> {
  return { nodes: await inspector.nodes(), serverVersion: inspector.server.version, version: inspector.context.build.version };
}

export async function inspectControllers(inspector: ClusterInspector, signal: AbortSignal): Promise<ControllerFacts> {
  const { client, server, context } = inspector;
  const deployment = await inspector.find(deployments, WORKLOAD, SYSTEM_NAMESPACE, signal);
  const hello = await helloOf(inspector, signal);
  return {
    rolloutLease: await inspector.find(leases, LEASE, SYSTEM_NAMESPACE, signal),
    controllersLease: await inspector.find(leases, 'dkc-controllers', 'kube-system', signal),
    setsLease: await inspector.find(leases, setsWorkload.lease, SYSTEM_NAMESPACE, signal),
    hasRollouts: await seen(
      async () => server.servesNodeConfigs && (await client.list(rollouts, { limit: 1 }, { signal })).items.length > 0,
    ),
    managers: await seen(async () => {
      const { items } = await client.list(
        pods,
        { namespace: 'kube-system', labelSelector: 'component=kube-controller-manager', limit: MAX_MANAGERS },
        { signal },
      );
      return items.map((pod) => ({ pod: pod.metadata.name ?? '', controllers: controllersFlag(pod) }));
    }),
    flowControl: await seen(async () => (the(deployment) === undefined ? [] : inspector.pairs(inspector.manifests('any'), flows, signal))),
    now: context.clock.now() + ('seen' in hello ? hello.seen.aheadMs : 0),
  };
}

/** Value of --controllers of the first container; kubeadm's static pod has its flags in `command`. */
function controllersFlag({ spec }: KubeObject): string {
  const containers = isJsonObject(spec) && Array.isArray(spec['containers']) ? (spec['containers'] as readonly unknown[]) : [];
  const first = containers.find(isJsonObject);
  const words = [first?.['command'], first?.['args']].flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []));
  const flag = words.findLast((word): word is string => typeof word === 'string' && word.startsWith('--controllers='));
  return flag?.slice('--controllers='.length) ?? '';
}

export async function inspectUserCredentials(inspector: ClusterInspector): Promise<CredentialFacts> {
  return (await credentialsOf(inspector.kubeconfig, inspector.access, inspector.context.clock.now())).facts;
}

export async function inspectHello(inspector: ClusterInspector, signal: AbortSignal): Promise<HelloFacts> {
  return {
    hello: await helloOf(inspector, signal),
    isSynchronized: { unseen: 'checked only on nodes' },
    now: inspector.context.clock.now(),
  };
}

function helloOf(inspector: ClusterInspector, signal: AbortSignal): Promise<HelloFacts['hello']> {
  return seen(async () => {
    const access = the(inspector.access);
    if ('problem' in access) throw new Unseen(access.problem);
    return inspector.host.hello(access, signal);
  });
}
