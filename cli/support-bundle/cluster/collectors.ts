import { listPages } from '../../fleet/list-pages.ts';
import { jsonText } from '../../output/structured.ts';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import { rollouts } from '../../../controllers/rollout/types.ts';
import { configMaps, coreEvents, nodes, type KubeObject, type Resource } from '../../../kube/api/object.ts';
import { leases, pods } from '../../../kube/api/resources.ts';
import { isNotFound } from '../../../kube/client/errors.ts';
import { GROUP, LEASE_NAMESPACE } from '../../../deploy/names.ts';
import { hasCommand, ownCommand } from '../own-command.ts';
import { redactObject } from '../redact/objects.ts';
import { metricsOf } from './metrics.ts';
import { isOurEvent, shownConfigMap, shownLease, shownNode } from './objects.ts';
import type { ConnectQuery, Context } from '../../command.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Collector, Found } from '../collector.ts';
import type { KnownValues } from '../redact/known-values.ts';

/** Objects of one kind that a bundle holds. */
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

export interface ClusterQuery {
  connect: ConnectQuery;
  /** Of ConfigMaps and controllers. */
  namespace: string;
}

/** What a bundle of a fleet is made of. Each opens a connection of its own, so that one that hangs keeps no other. */
export function clusterCollectors(context: Context, { connect, namespace }: ClusterQuery, known: KnownValues): Collector[] {
  const asking = (name: string, what: string, ask: (client: Client, signal: AbortSignal) => Promise<Found[]>): Collector => ({
    name,
    what,
    collect: async (signal) => {
      const client = await context.connect(connect);
      try {
        return await ask(client, signal);
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
  ): Collector => asking(path, `${path}: ${what}`, async (client, signal) => [await listOf(client, resource, of, shown, path, signal)]);
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
    asking('version', 'cluster/version.json: versions of dkc and of the API server', async (client, signal) => [
      {
        path: 'cluster/version.json',
        text: jsonText({ dkc: context.build, server: redactObject(await client.raw('GET', '/version', { signal })) }),
      },
    ]),
    own('nodes'),
    ...(hasCommand('doctor') ? [own('doctor', '--cluster')] : []),
    asking('definitions', 'cluster/definitions.json: state of the CRDs', (client, signal) => definitionsOf(client, signal)),
    listing('cluster/rollouts.json', 'NodeConfigRollouts', rollouts),
    listing('cluster/nodeconfigs.json', 'NodeConfigs', nodeConfigs),
    listing('cluster/nodes.json', 'versions and conditions of nodes, and their configuration', nodes, {}, shownNode),
    asking('events', 'cluster/events.json: events of nodes, NodeConfigs and rollouts', async (client, signal) => [
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
    asking(
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
