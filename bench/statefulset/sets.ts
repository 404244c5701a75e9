import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';
import { type KubeObject, pods, type Resource, statefulSets } from '../../kube/api/object.ts';
import type { Fields } from '../../kube/cache/fields.ts';
import { Informers } from '../../kube/cache/informers.ts';
import type { Client } from '../../kube/client/client.ts';
import { inParallel } from '../daemonset/fleet.ts';
import { isDone, type Shape, type StatefulSetState } from './state.ts';

/** Number of hollow nodes; all pods of a set run on one node, since hollow nodes have no limits. */
export const NODES = 20;
export const nodeNames = 'hollow';

const IN_FLIGHT = 64;
const PATIENCE_MS = 30 * 60_000;
const nameOf = (n: number): string => `set-${n}`;
const namesOf = ({ sets }: Shape): string[] => Array.from({ length: sets }, (_, n) => nameOf(n));

/** Creates all sets at once. Resolves when the last one is done. */
export async function makeSets(client: Client, namespace: string, shape: Shape): Promise<void> {
  await inParallel(namesOf(shape), IN_FLIGHT, (name, n) => client.create(statefulSets, statefulSet(namespace, name, n, shape)));
  await whenDone(client, namespace, shape, 1);
}

/** Changes every template, which replaces every pod. Resolves when the last set is done. */
export async function updateSets(client: Client, namespace: string, shape: Shape): Promise<void> {
  const change = { spec: { template: { spec: { containers: [{ name: 'store', image: 'registry.example.com/store:v1.0.1' }] } } } };
  await inParallel(namesOf(shape), IN_FLIGHT, (name) => client.patch(statefulSets, { namespace, name }, change, { type: 'strategic' }));
  await whenDone(client, namespace, shape, 2);
}

/** Deletes all sets; a garbage collector deletes their pods. Resolves when the last pod is gone. */
export async function deleteSets(client: Client, namespace: string, shape: Shape): Promise<void> {
  const body = { propagationPolicy: 'Background' };
  await inParallel(namesOf(shape), IN_FLIGHT, (name) => client.delete(statefulSets, { namespace, name }, { body }));
  await until(client, pods, namespace, ['spec.nodeName'], (left) => left.length === 0);
}

function whenDone(client: Client, namespace: string, shape: Shape, generation: number): Promise<void> {
  const isRight = (set: Readonly<StatefulSetState>): boolean => isDone(set, shape.replicas, generation);
  return until<StatefulSetState>(client, statefulSets, namespace, ['status'], (all) => all.length === shape.sets && all.every(isRight));
}

/** Resolves when the watched objects of a kind fulfill the condition. @throws after half an hour */
async function until<T extends KubeObject>(
  client: Client,
  resource: Resource,
  namespace: string,
  fields: Fields,
  isSo: (all: readonly Readonly<T>[]) => boolean,
): Promise<void> {
  const end = new AbortController();
  const informers = new Informers({ client, clock: realClock, random: realRandom, log: silentLog });
  const cache = informers.of<T>(resource, { fields }, { namespace });
  const look = (): void => {
    if (cache.synced && isSo(cache.list())) end.abort();
  };
  cache.addHandlers('benchmark', { added: look, updated: look, deleted: look });
  const patience = AbortSignal.timeout(PATIENCE_MS);
  // The first list may already fulfill it.
  void cache.whenSynced(end.signal).then(look, () => {});
  await informers.run(AbortSignal.any([end.signal, patience]));
  if (!end.signal.aborted) throw new Error(`${resource.resource} of ${namespace} are not done after half an hour`);
}

/** A set like that of a database: requests, a probe, a scratch volume; no claims, since nothing would bind them. @param n - index of the set */
function statefulSet(namespace: string, name: string, n: number, { replicas, podManagementPolicy }: Shape): KubeObject {
  const metadata = { labels: { app: name, tier: 'store' } };
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 };
  const here = { key: 'metadata.name', operator: 'In', values: [`${nodeNames}-${n % NODES}`] };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace, name, ...metadata },
    spec: {
      replicas,
      podManagementPolicy,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: {
        metadata,
        spec: {
          // The hollow nodes' binder places nothing else.
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [here] }] } } },
          containers: [
            {
              name: 'store',
              image: 'registry.example.com/store:v1.0.0',
              args: ['--data=/var/lib/store'],
              env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
              ports: [{ name: 'store', containerPort: 8080 }],
              resources: { limits: { memory: '1Gi' }, requests: { cpu: '100m', memory: '1Gi' } },
              readinessProbe: probe,
              livenessProbe: probe,
              volumeMounts: [{ name: 'data', mountPath: '/var/lib/store' }],
            },
          ],
          volumes: [{ name: 'data', emptyDir: {} }],
        },
      },
    },
  };
}
