import { eventually } from '../../support/eventually.ts';
import type { TestContext } from 'node:test';
import { createLocalApi, type LocalApi } from '../../../apiserver/local-api.ts';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { statefulSetController } from '../../../controllers/statefulset/controller.ts';
import { type KubeObject, nodes, pods, statefulSets } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Setup } from '../../../kube/process/contract.ts';
import { defaultSchedulerConfig, type SchedulerConfig } from '../../../scheduler/config/config.ts';
import { schedulerRunnable, servedKinds } from '../../../scheduler/scheduler.ts';
import type { Node, Pod } from '../../../scheduler/types.ts';
import { intercepted, type Interceptor } from '../../support/simulated/intercepted.ts';
import { type LocalProcess, startLocally } from '../../support/local-process.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import type { HollowNode } from '../../support/hollow/hollow-node.ts';
import { HollowNodes } from '../../support/hollow/hollow-nodes.ts';
import { localClient } from '../../support/embedded-api.ts';

export interface LiveOptions {
  config?: Partial<SchedulerConfig>;
  /** From the mark of deletion to gone, in ms. @default 0 */
  endMs?: number;
  /** Comes between the scheduler and the API. */
  by?: Interceptor;
  /** Kubelets run. @default true */
  kubelets?: boolean;
}

/** The scheduler on the embedded API server, beside our StatefulSet controller, with kubelets that are not there, on the real clock. */
export class LiveWorld {
  readonly api: LocalApi;
  /** Of users: nobody comes between. */
  readonly client: Client;
  readonly hollow: HollowNodes;
  readonly lines: string[];
  readonly #options: LiveOptions;
  readonly #log = recordedLog();
  readonly #over = new AbortController();
  readonly #processes: LocalProcess[] = [];
  #kubelets: Promise<unknown> = Promise.resolve();
  readonly #dumps = new Map<string, () => unknown>();

  private constructor(options: LiveOptions) {
    this.#options = options;
    this.lines = this.#log.lines;
    this.api = createLocalApi({
      clock: realClock,
      random: seededRandom(1),
      log: silentLog,
      version: 'v1.34.0',
      dynamicKubeletConfig: false,
    });
    this.client = localClient(this.api);
    const { endMs = 0 } = options;
    this.hollow = new HollowNodes({ client: this.client, clock: realClock, log: silentLog, endMs });
    if (options.kubelets !== false) this.#kubelets = this.hollow.run(this.#over.signal);
  }

  static async start(t: TestContext, nodeNames: readonly (string | HollowNode)[], options: LiveOptions = {}): Promise<LiveWorld> {
    const world = new LiveWorld(options);
    t.after(() => world.#stop());
    await world.addNodes(...nodeNames);
    await world.startScheduler();
    return world;
  }

  /** Nodes of 4 cpus where nothing else is said. */
  addNodes(...wanted: readonly (string | HollowNode)[]): Promise<void> {
    const small = (name: string): HollowNode => ({ name, allocatable: { cpu: '4' } });
    return this.hollow.add(wanted.map((node) => (typeof node === 'string' ? small(node) : node)));
  }

  /** Resolves once it works. */
  async startScheduler(): Promise<void> {
    this.#dumps.clear();
    const served = await servedKinds(this.client, this.#over.signal);
    const config = { ...defaultSchedulerConfig, ...this.#options.config };
    await this.#process(
      'dkc-scheduler',
      (runtime) => {
        const dump = (name: string, show: () => unknown): void => void this.#dumps.set(name, show);
        return schedulerRunnable({ ...runtime, dump }, config, served);
      },
      this.#options.by,
    );
  }

  async startControllers(): Promise<void> {
    await this.#process('dkc-controllers', (runtime) => [statefulSetController(runtime)], undefined);
  }

  /** Every process ends. */
  async stopProcesses(): Promise<void> {
    await Promise.allSettled(this.#processes.splice(0).map((process) => process.stop()));
  }

  /** What the scheduler shows of itself under this name. */
  dump(name: 'scheduler-queue' | 'reservations' | 'nominations'): unknown {
    return this.#dumps.get(name)?.();
  }

  pods(namespace = 'default'): Pod[] {
    return this.api.hooks.storage.list('/pods', namespace).objects as unknown as Pod[];
  }

  find(name: string): Pod | undefined {
    return this.api.hooks.storage.get('/pods', `default/${name}`) as Pod | undefined;
  }

  /** '' for nowhere. */
  nodeOf(name: string): string {
    return this.find(name)?.spec?.nodeName ?? '';
  }

  /** What its PodScheduled condition says: `Unschedulable: 0/1 nodes ...`, `True`; '' without one. */
  conditionOf(name: string): string {
    const found = this.find(name)?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (found === undefined) return '';
    return found.status === 'True' ? 'True' : `${found.reason}: ${found.message}`;
  }

  #eventsAbout(name: string): KubeObject[] {
    const { objects } = this.api.hooks.storage.list('/events');
    return objects.filter((event) => (event['involvedObject'] as { name?: string }).name === name);
  }

  /** How often objects of this name were told this. */
  told(name: string, reason: string): number {
    const mine = this.#eventsAbout(name).filter((event) => event['reason'] === reason);
    return mine.reduce((sum, event) => sum + Number(event['count'] ?? 1), 0);
  }

  /** Who reported each event of an object, as `REASON component reportingComponent reportingInstance`. */
  reportersOf(name: string): string[] {
    return this.#eventsAbout(name).map((event) => {
      const { component } = event['source'] as { component: string };
      return [event['reason'], component, event['reportingComponent'], event['reportingInstance']].join(' ');
    });
  }

  /** Of an object, as `TYPE REASON message`. */
  eventsOf(name: string): string[] {
    return this.#eventsAbout(name).map((event) => [event['type'], event['reason'], event['message']].join(' '));
  }

  add(...pods: readonly { build(): Pod }[]): void {
    addPods(this.api, pods);
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(pods, { name, namespace: 'default' });
  }

  patch(name: string, change: object, subresource?: string): Promise<Pod> {
    const options = { type: 'strategic', ...(subresource === undefined ? {} : { subresource }) } as const;
    return this.client.patch<Pod>(pods, { name, namespace: 'default' }, change, options);
  }

  patchNode(name: string, change: object): Promise<Node> {
    return this.client.patch<Node>(nodes, { name }, change, { type: 'strategic' });
  }

  patchSet(name: string, change: object): Promise<KubeObject> {
    return this.client.patch(statefulSets, { name, namespace: 'default' }, change, { type: 'strategic' });
  }

  /** Resolves once it holds; asks again whenever a turn of the loop has passed. */
  async until(what: string, holds: () => boolean, timeoutMs = 60_000): Promise<void> {
    await eventually(what, holds, timeoutMs, () => {
      const pods = this.pods().map(({ metadata, spec }) => `${metadata.name} ${spec?.nodeName} ${this.conditionOf(metadata.name ?? '')}`);
      return [...pods, ...this.lines.slice(-20)].join('\n');
    });
  }

  bound(name: string, node?: string): Promise<void> {
    return this.until(`${name} is bound`, () => (node === undefined ? this.nodeOf(name) !== '' : this.nodeOf(name) === node));
  }

  refused(name: string, why: RegExp = /./): Promise<void> {
    return this.until(`${name} is refused`, () => why.test(this.conditionOf(name)));
  }

  async #process(name: string, setup: Setup, by: Interceptor | undefined): Promise<void> {
    const process = startLocally(this.api, {
      name,
      setup,
      clock: realClock,
      wrap: by && ((client) => intercepted(client, by)),
      log: this.#log,
    });
    this.#processes.push(process);
    await process.working;
  }

  async #stop(): Promise<void> {
    const stopping = this.stopProcesses();
    this.#over.abort();
    await Promise.allSettled([stopping, this.#kubelets]);
    await this.client.close();
    this.api.stop();
  }
}

/** With a class for each priority. */
export function addPods(api: LocalApi, pods: readonly { build(): Pod }[]): void {
  for (const one of pods) {
    const pod = one.build();
    const { priority: value = 0 } = pod.spec ?? {};
    const metadata = { name: `p${value}` };
    if (value !== 0 && api.hooks.storage.get('scheduling.k8s.io/priorityclasses', metadata.name) === undefined)
      api.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value });
    api.add(manifestOf(pod));
  }
}

/** As people write it: the server gives the rest. Who is more important than others is so by a class. */
function manifestOf({ apiVersion, kind, metadata, spec }: Pod): Record<string, unknown> {
  const { namespace, name, labels, ownerReferences } = metadata;
  const { priority = 0, ...rest } = spec ?? { containers: [] };
  const important = priority === 0 ? {} : { priorityClassName: `p${priority}` };
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, labels, ...(ownerReferences && { ownerReferences }) },
    spec: { ...rest, ...important },
  };
}

/** Of pods with one container of this many cpus. */
export function statefulSet(name: string, cpu: string, spec: Record<string, unknown> = {}, podSpec: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: {
      serviceName: name,
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'c', image: 'v1', resources: { requests: { cpu } } }], ...podSpec },
      },
      ...spec,
    },
  };
}
