import { monitorEventLoopDelay } from 'node:perf_hooks';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { SharedInformer } from '../../kube/cache/shared-informer.ts';
import { createClient } from '../../kube/client/http-client.ts';
import { podFields } from './pod.ts';

/*
 * Reads all pods in one of four ways (first argument) and sends the costs to its parent: `ours`, our cache, from a watch that begins with the current
 * state; `listed`, our cache from a list, as with older servers; `raw`, the complete parsed objects of our list in a Map; `client-node`,
 * the informer of @kubernetes/client-node. On the message `{finish: true}` it sends the costs of the events.
 */
const [, , way = '', count = '0'] = process.argv;
const access = await new Promise<{ url: string; ca: string; token: string; kubeconfig: string }>((resolve) => {
  process.once('message', resolve);
});
const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const wanted = Number(count);
const latencies: number[] = [];
const delay = monitorEventLoopDelay({ resolution: 1 });
const before = process.memoryUsage.rss();
const cpu = process.cpuUsage();
const from = performance.now();
delay.enable();
const hear = (at: string | undefined): void => {
  if (at !== undefined && at !== '0') latencies.push(performance.timeOrigin + performance.now() - Number(at));
};

if (way === 'ours' || way === 'listed') await ours(way === 'ours');
else if (way === 'raw') await raw();
else await clientNode();

const loadMs = performance.now() - from;
const { user, system } = process.cpuUsage(cpu);
const stallMs = delay.max / 1e6;
globalThis.gc?.();
await realClock.sleep(200);
globalThis.gc?.();
process.send?.({ loadMs, cpuMs: (user + system) / 1_000, stallMs, rssMb: process.memoryUsage.rss() / 2 ** 20, beforeMb: before / 2 ** 20 });
process.on('message', () => {
  process.send?.({ latencies });
});

function client() {
  return createClient({
    server: access.url,
    origin: 'bench',
    token: access.token,
    ...(access.ca === '' ? {} : { ca: { data: access.ca } }),
  });
}

async function ours(streams: boolean): Promise<void> {
  const informer = new SharedInformer<KubeObject>({
    resource: pods,
    client: client(),
    clock: realClock,
    random: realRandom,
    log: silentLog,
    streams,
  });
  informer.need({ fields: podFields, indexes: { node: (pod) => [String((pod['spec'] as { nodeName?: string } | undefined)?.nodeName)] } });
  informer.addHandlers('bench', { updated: (_, { metadata }) => hear(metadata.annotations?.['example.com/at']) });
  const never = new AbortController().signal;
  void informer.run(never);
  await informer.whenSynced(never);
}

async function raw(): Promise<void> {
  const objects = new Map<string, KubeObject>();
  await client().listEach<KubeObject>(pods, { resourceVersion: '0' }, (pod) => objects.set(pod.metadata.name ?? '', pod), {
    timeoutMs: 600_000,
  });
  if (objects.size !== wanted) throw new Error(`${objects.size} pods instead of ${wanted}`);
  Object.assign(globalThis, { objects });
}

async function clientNode(): Promise<void> {
  const { KubeConfig, CoreV1Api, makeInformer } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromString(access.kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
  informer.on('update', ({ metadata }) => hear(metadata?.annotations?.['example.com/at']));
  await informer.start();
}
