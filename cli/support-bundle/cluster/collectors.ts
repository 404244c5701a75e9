import { type Client, listPages } from '../../../kube/client/client.ts';
import { jsonText } from '../../output/printable.ts';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import { rollouts } from '../../../controllers/rollout/types.ts';
import { configMaps, coreEvents, type KubeObject, LEASE_NAMESPACE, leases, nodes, pods, type Resource } from '../../../kube/api/object.ts';
import { isNotFound } from '../../../kube/client/errors.ts';
import { GROUP } from '../../../deploy/rights.ts';
import { type Collector, type Found, hasCommand, ownCommand } from '../collector.ts';
import { redactObject } from '../redact/objects.ts';
import type { ConnectQuery, Context } from '../../command.ts';
import type { KnownValues } from '../redact/known-values.ts';
import { describeError } from '../../../base/errors.ts';
import { REDACTED, redactText } from '../redact/text.ts';
import { parsed } from '../node/store.ts';
import { redactKubeletConfig, type Withheld } from '../redact/configuration.ts';

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

/** The fields of a Node that are shown: versions, conditions and its assignment; no addresses, images and labels. */
function shownNode(node: KubeObject): unknown {
  const { metadata } = node;
  const [spec, status] = [fieldsOf(node['spec']), fieldsOf(node['status'])];
  const { kubeletVersion, kernelVersion, osImage, containerRuntimeVersion, architecture, bootID } = fieldsOf(status['nodeInfo']);
  return redactObject({
    metadata: {
      name: metadata.name,
      uid: metadata.uid,
      creationTimestamp: metadata['creationTimestamp'],
      annotations: metadata.annotations,
    },
    spec: { unschedulable: spec['unschedulable'], taints: spec['taints'], configSource: spec['configSource'] },
    status: {
      conditions: status['conditions'],
      config: status['config'],
      nodeInfo: { kubeletVersion, kernelVersion, osImage, containerRuntimeVersion, architecture, bootID },
    },
  });
}

const KINDS = new Set(['Node', 'NodeConfig', 'NodeConfigRollout']);

/** Events about nodes and dkc's kinds, and all events that dkc wrote or that are in its namespace. */
function isOurEvent(event: KubeObject, namespace: string): boolean {
  const { involvedObject, source, reportingComponent } = event as Fields;
  const { kind, namespace: of } = fieldsOf(involvedObject);
  const by = `${String(fieldsOf(source)['component'])} ${String(reportingComponent)}`;
  return KINDS.has(String(kind)) || of === namespace || by.includes('dkc');
}

function shownLease({ metadata: { namespace, name }, spec }: KubeObject): unknown {
  return redactObject({ namespace, name, spec });
}

/** Names of the keys; for keys with a kubelet configuration also the redacted configuration. */
function shownConfigMap(map: KubeObject, withheld: Withheld): unknown {
  const { data, binaryData, metadata, immutable } = map;
  const values = Object.entries(fieldsOf(data)).map(([key, value]): [string, unknown] => [key, shownValue(value, withheld)]);
  const binary = Object.keys(fieldsOf(binaryData)).map((key): [string, unknown] => [key, REDACTED]);
  const { metadata: about } = redactObject({ metadata }) as { metadata: unknown };
  return {
    metadata: about,
    immutable,
    data: Object.fromEntries(values),
    ...(binary.length === 0 ? {} : { binaryData: Object.fromEntries(binary) }),
  };
}

function shownValue(value: unknown, withheld: Withheld): unknown {
  const text = typeof value === 'string' ? value : '';
  const document = parsed(text);
  if (fieldsOf(document)['kind'] === 'KubeletConfiguration') return redactKubeletConfig(document, withheld);
  withheld(text, 'unlisted');
  return `${REDACTED} (${Buffer.byteLength(text)} bytes that are not a KubeletConfiguration)`;
}

/** Maximum number of objects of one kind in a bundle. */
const MAX_OBJECTS = 5_000;
const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const deployments: Resource = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', namespaced: true };
const DEFINITIONS = ['nodeconfigs', 'nodeconfigrollouts'].map((name) => `${name}.${GROUP}`);

interface ClusterQuery {
  connect: ConnectQuery;
  /** Namespace of ConfigMaps and controllers. */
  namespace: string;
}

/** The collectors for a cluster. Each has a separate client, so that a hanging request blocks no other collector. */
export function clusterCollectors(context: Context, { connect, namespace }: ClusterQuery, known: KnownValues): Collector[] {
  const requesting = (name: string, what: string, request: (client: Client, signal: AbortSignal) => Promise<Found[]>): Collector => ({
    name,
    what,
    collect: async (signal) => {
      const client = await context.connect(connect);
      try {
        return await request(client, signal);
      } finally {
        await client.close();
      }
    },
  });
  const listing = (
    path: string,
    what: string,
    resource: Resource,
    of: { namespace?: string } = {},
    shown: (object: KubeObject) => unknown = redactObject,
  ): Collector => requesting(path, `${path}: ${what}`, async (client, signal) => [await listOf(client, resource, of, shown, path, signal)]);
  const { kubeconfig, context: named, as, asUid, asGroups = [], requestTimeoutMs: ms } = connect;
  const timeout = ms === undefined ? undefined : ms === Infinity ? '0' : `${ms}ms`;
  const given: [string, string | undefined][] = [['kubeconfig', kubeconfig], ['context', named], ['as', as], ['as-uid', asUid], ['request-timeout', timeout], ...asGroups.map((group): [string, string] => ['as-group', group])]; // prettier-ignore
  const flags = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const own = (...argv: string[]): Collector => {
    const path = `dkc/${argv.join(' ').replaceAll(/[ -]+/g, '-')}.json`;
    const collect = async (signal: AbortSignal): Promise<Found[]> => [await ownCommand({ ...context, signal }, [...argv, ...flags], path)];
    return { name: `dkc ${argv.join(' ')}`, what: `${path}: output of dkc ${argv.join(' ')}`, collect };
  };
  return [
    requesting('version', 'cluster/version.json: versions of dkc and of the API server', async (client, signal) => [
      {
        path: 'cluster/version.json',
        text: jsonText({ dkc: context.build, server: redactObject(await client.raw('GET', '/version', { signal })) }),
      },
    ]),
    own('nodes'),
    ...(hasCommand('doctor') ? [own('doctor', '--cluster')] : []),
    requesting('definitions', 'cluster/definitions.json: state of the CRDs', (client, signal) => definitionsOf(client, signal)),
    listing('cluster/rollouts.json', 'NodeConfigRollouts', rollouts),
    listing('cluster/nodeconfigs.json', 'NodeConfigs', nodeConfigs),
    listing('cluster/nodes.json', 'versions and conditions of nodes, and their configuration', nodes, {}, shownNode),
    requesting('events', 'cluster/events.json: events of nodes, NodeConfigs and rollouts', async (client, signal) => [
      await listOf(
        client,
        coreEvents,
        {},
        (event) => (isOurEvent(event, namespace) ? redactObject(event) : undefined),
        'cluster/events.json',
        signal,
      ),
    ]),
    listing('cluster/deployments.json', `Deployments in ${namespace}`, deployments, { namespace }),
    listing('cluster/pods.json', `pods in ${namespace}`, pods, { namespace }),
    requesting(
      'controller metrics',
      `cluster/metrics/: metrics of the controllers' pods in ${namespace}, through the API server`,
      (client, signal) => metricsOf(client, namespace, signal),
    ),
    listing('cluster/leases.json', `Leases in ${namespace}, kube-system`, leases, {}, (lease) => ([namespace, 'kube-system'].includes(lease.metadata.namespace ?? LEASE_NAMESPACE) ? shownLease(lease) : undefined)), // prettier-ignore
    listing('cluster/configmaps.json', `ConfigMaps in ${namespace}, redacted`, configMaps, { namespace }, (map) =>
      shownConfigMap(map, known.add),
    ),
  ];
}

async function definitionsOf(client: Client, signal: AbortSignal): Promise<Found[]> {
  const missing = (name: string) => (error: unknown) => {
    if (!isNotFound(error)) throw error;
    return { name, problem: 'it does not exist; install it with dkc deploy manifests' };
  };
  const found = DEFINITIONS.map((name) => client.get(definitions, { name }, { signal }).then(redactObject, missing(name)));
  return [{ path: 'cluster/definitions.json', text: jsonText(await Promise.all(found)) }];
}

async function listOf(
  client: Client,
  resource: Resource,
  of: { namespace?: string },
  shown: (object: KubeObject) => unknown,
  path: string,
  signal: AbortSignal,
): Promise<Found> {
  const lines: string[] = [];
  let skipped = 0;
  await listPages<KubeObject>(client, resource, of, (object) => {
    const one = shown(object);
    if (one === undefined) return;
    if (lines.length >= MAX_OBJECTS) skipped++;
    else lines.push(JSON.stringify(one, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)));
  }, signal); // prettier-ignore
  return {
    path,
    text: lines.map((line) => `${line}\n`).join(''),
    note: `${lines.length} objects, one a line${skipped === 0 ? '' : `; ${skipped} more are left out`}`,
  };
}

/** Maximum number of dkc's pods: two replicas of two or three programs are usual. */
const MAX_PODS = 20;
const TIMEOUT_MS = 10_000;

interface Pod extends KubeObject {
  spec?: { containers?: { ports?: { name?: string; containerPort?: number }[] }[] };
}

/** Metrics of dkc's pods from their port `metrics`, through the API server's proxy. A pod that does not respond is left out, with the reason. */
async function metricsOf(client: Client, namespace: string, signal: AbortSignal): Promise<Found[]> {
  const { items } = await client.list<Pod>(pods, { namespace, labelSelector: 'app.kubernetes.io/name=dkc', limit: MAX_PODS }, { signal });
  const asked = items.map(async (pod): Promise<Found> => {
    const { name = '' } = pod.metadata;
    const path = `cluster/metrics/${name}.txt`;
    const port = portOf(pod);
    if (port === undefined) return { path, leftOut: 'it has no port named metrics' };
    try {
      const to = `/api/v1/namespaces/${namespace}/pods/${name}:${port}/proxy/metrics`;
      return { path, text: redactText(String(await client.raw('GET', to, { signal, timeoutMs: TIMEOUT_MS, answers: 'text' }))) };
    } catch (error) {
      signal.throwIfAborted();
      return { path, leftOut: redactText(describeError(error)) };
    }
  });
  return Promise.all(asked);
}

const portOf = ({ spec }: Pod): number | undefined =>
  spec?.containers?.flatMap(({ ports = [] }) => ports).find(({ name }) => name === 'metrics')?.containerPort;
