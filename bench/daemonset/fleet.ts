import { realClock, rfc3339 } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';
import type { Pod } from 'kubernetes-types/core/v1.js';
import {
  controllerRevisions,
  daemonSets,
  type Kube,
  type KubeObject,
  namespaces,
  nodes,
  pods,
  type Resource,
} from '../../kube/api/object.ts';
import { type Client, type ListQuery, objectPath } from '../../kube/client/client.ts';
import { ApiError, TransportError } from '../../kube/client/errors.ts';
import { watchObject } from '../../kube/client/watch-object.ts';
import { nodeObject } from '../../test/support/hollow/hollow-node.ts';
import { type DaemonSetState, isDone } from './cost.ts';

/** A label that every node has, and one that some have. */
export const labels = { all: 'bench.dkc.dev/all', some: 'bench.dkc.dev/some' };

const IN_FLIGHT = 64;
const PATIENCE_MS = 30 * 60_000;

/**
 * Creates realistic Nodes, as registered by kubelets and labeled by admin and cloud: about 6 KB of JSON each.
 * @param some - number of nodes with the other label
 */
export async function addNodes(client: Client, count: number, some: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, n) => `node-${n}`);
  const at = rfc3339(realClock.now());
  const images = Array.from({ length: 30 }, (_, n) => ({
    names: [`registry.example.com/team-${n}/image@sha256:${String(n).padStart(64, '0')}`, `registry.example.com/team-${n}/image:v1.${n}.0`],
    sizeBytes: 50_000_000 + n,
  }));
  await inParallel(names, IN_FLIGHT, async (name, n) => {
    const zone = { 'topology.kubernetes.io/region': 'here', 'topology.kubernetes.io/zone': `here-${n % 3}`, 'kubernetes.io/arch': 'amd64' };
    const own = { [labels.all]: 'true', ...(n < some ? { [labels.some]: 'true' } : {}) };
    const node = nodeObject({ name, labels: { ...zone, ...own } }, at);
    await client.create(nodes, { ...node, status: { ...node.status, images } });
  });
  return names;
}

/** A set like that of a log collector: requests, a probe, host paths. @param label - label of its nodes */
export function daemonSet(namespace: string, name: string, label: string): KubeObject {
  const metadata = { labels: { app: name, tier: 'node' } };
  const probe = { httpGet: { path: '/healthz', port: 2020, scheme: 'HTTP' }, periodSeconds: 10 };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace, name, ...metadata },
    spec: {
      selector: { matchLabels: { app: name } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata,
        spec: {
          nodeSelector: { [label]: 'true' },
          tolerations: [{ operator: 'Exists' }],
          containers: [
            {
              name: 'collector',
              image: 'registry.example.com/collector:v1.0.0',
              args: ['--config=/etc/collector/config.yaml'],
              env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
              resources: { limits: { memory: '200Mi' }, requests: { cpu: '100m', memory: '200Mi' } },
              readinessProbe: probe,
              livenessProbe: probe,
              volumeMounts: [{ name: 'logs', mountPath: '/var/log', readOnly: true }],
            },
          ],
          volumes: [{ name: 'logs', hostPath: { path: '/var/log' } }],
        },
      },
    },
  };
}

/** A change of the template that replaces every pod. */
export const newTemplate = (version: string): object => ({
  spec: { template: { spec: { containers: [{ name: 'collector', image: `registry.example.com/collector:${version}` }] } } },
});

export async function addNamespace(client: Client, name: string): Promise<void> {
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

export interface Goal {
  namespace: string;
  name: string;
  nodes: number;
  /** Pods must also be ready and available. */
  ready: boolean;
  /** Minimum observed generation. @default 1 */
  generation?: number;
}

/** Resolves when the status of the set reports the goal. @throws after half an hour */
export async function whenDone(client: Client, { namespace, name, nodes: count, ready, generation = 1 }: Goal): Promise<void> {
  const end = new AbortController();
  let last: DaemonSetState | undefined;
  let said = performance.now();
  const onSeen = ({ object }: { object: DaemonSetState | undefined }): void => {
    last = object;
    if (performance.now() - said > 5_000) {
      said = performance.now();
      console.error(`  ${name}: ${JSON.stringify(last?.status)}`);
    }
    if (object !== undefined && (object.metadata.generation ?? 0) >= generation && isDone(object, count, ready)) end.abort();
  };
  const deps = { client, clock: realClock, random: realRandom, log: silentLog };
  const patience = AbortSignal.timeout(PATIENCE_MS);
  await watchObject<KubeObject & DaemonSetState>(
    deps,
    daemonSets,
    { namespace, name },
    { onSeen },
    AbortSignal.any([end.signal, patience]),
  );
  if (!end.signal.aborted) throw new Error(`${namespace}/${name} is not done after half an hour: ${JSON.stringify(last?.status)}`);
}

/** @throws if the number of pods differs; terminating pods are not counted */
export async function mustHavePods(client: Client, namespace: string, count: number): Promise<void> {
  const found = await podsIn(client, namespace);
  if (found !== count) throw new Error(`${namespace} has ${found} pods instead of ${count}`);
}

/** Resolves when no pods are left: a controller may create some before it sees the deletion of their set. @throws if there are some after a minute */
export async function emptied(client: Client, namespace: string): Promise<void> {
  for (let tries = 0; tries < 60 && (await podsIn(client, namespace)) > 0; tries++) await realClock.sleep(1_000);
  await mustHavePods(client, namespace, 0);
}

function podsIn(client: Client, namespace: string): Promise<number> {
  return patiently(async () => {
    let found = 0;
    await eachPod(client, namespace, ({ metadata }) => void (metadata.deletionTimestamp === undefined && found++));
    return found;
  });
}

/** Writes the status of a running pod, like a kubelet, for pods that are not ready. @returns the number of pods */
export async function makeReady(client: Client, namespace: string): Promise<number> {
  const { found, waiting } = await patiently(async () => {
    const waiting: string[] = [];
    let found = 0;
    await eachPod(client, namespace, ({ metadata: { name = '' }, status }) => {
      found++;
      if (status?.phase !== 'Running') waiting.push(name);
    });
    return { found, waiting };
  });
  let said = performance.now();
  await inParallel(waiting, IN_FLIGHT, async (name, at) => {
    await client.patch(pods, { namespace, name }, runningStatus(true), { type: 'merge', subresource: 'status' });
    if (performance.now() - said < 10_000) return;
    said = performance.now();
    console.error(`  ${at} of ${waiting.length} pods are ready`);
  });
  return found;
}

/** Reads all pods page by page, since a server aborts requests after a minute. */
async function eachPod(client: Client, namespace: string, each: (pod: Kube<Pod>) => void): Promise<void> {
  for (let next: string | undefined = ''; next !== undefined;) {
    const query: ListQuery = { namespace, limit: 2_000, ...(next === '' ? {} : { continue: next }) };
    const { continue: more }: { continue?: string } = await client.listEach<Kube<Pod>>(pods, query, each);
    next = more === undefined || more === '' ? undefined : more;
  }
}

/** Retries a call: an API server may be overloaded after the creation of 100,000 pods, and this must not end the benchmark. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const passes = error instanceof TransportError || (error instanceof ApiError && error.code >= 429);
      if (tries === TRIES || !passes) throw error;
      await realClock.sleep(tries * 5_000);
    }
  }
}

const TRIES = 6;

/** A change of a pod's status. */
export function runningStatus(ready: boolean): object {
  const at = rfc3339(realClock.now());
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: ready ? 'True' : 'False', lastTransitionTime: at }));
  return { status: { phase: 'Running', startTime: at, conditions } };
}

/** Deletes a set and its dependents, since no garbage collector runs here. */
export async function removeSet(client: Client, namespace: string, name: string): Promise<void> {
  await client.delete(daemonSets, { namespace, name }, { body: { propagationPolicy: 'Background' } });
  await removePods(client, namespace);
  await removeAll(client, controllerRevisions, namespace);
}

/** Deletes all pods of a namespace, without grace period. */
export const removePods = (client: Client, namespace: string): Promise<void> => removeAll(client, pods, namespace);

async function removeAll(client: Client, resource: Resource, namespace: string): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
  await client.raw('DELETE', objectPath(resource, { namespace }), { body, timeoutMs: 300_000 });
}

/** Calls `act` for every item, in order, with `width` calls at a time. */
export async function inParallel<T>(items: readonly T[], width: number, act: (item: T, at: number) => Promise<unknown>): Promise<void> {
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [at, item] of rest) await act(item, at);
  };
  await Promise.all(Array.from({ length: width }, work));
}

/** Calls `act` `count` times, `perSecond` calls each second; waits for all of them. */
export async function paced(count: number, perSecond: number, act: (n: number) => Promise<unknown>): Promise<void> {
  const from = performance.now();
  const under: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    const early = from + (n * 1_000) / perSecond - performance.now();
    if (early > 1) await realClock.sleep(early);
    under.push(act(n));
  }
  await Promise.all(under);
}
