import { createLocalApi, type LocalApi } from '../../../apiserver/local-api.ts';
import type { Millis } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import type { HttpAnswer } from '../../../controllers/rollout/gates/contract.ts';
import { rolloutController } from '../../../controllers/rollout/controller.ts';
import { type Count, type NodeConfigRollout, rollouts, type RolloutSpec } from '../../../controllers/rollout/types.ts';
import { definitions } from '../../../deploy/manifests.ts';
import { configMaps, coreEvents, type KubeObject, nodes, pods } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import '../../../kube/client/list-stream.ts';
import type { WorkQueue } from '../../../kube/queue/work-queue.ts';
import { localClient } from '../embedded-api.ts';
import { FakeClock } from '../fake-clock.ts';
import { type LocalProcess, startLocally } from '../local-process.ts';
import { intercepted, type Interceptor } from '../simulated/intercepted.ts';
import type { Event } from '../stories/remains.ts';
import { LightAgents } from './light-agents.ts';
// The client loads it with the first list, which takes turns of the loop that fake time knows nothing of.

type FleetNodeOptions = { labels?: Record<string, string>; kubeletVersion?: string; ready?: boolean };

const KEY = 'kubelet';
const NAMESPACE = 'dkc-system';

/** A fleet on the embedded API server in fake time: nodes, agents that play what agents report, and the rollout controller. */
export class FleetWorld implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly api: LocalApi;
  readonly client: Client;
  readonly agents: LightAgents;
  controller: LocalProcess;
  /** What every Prometheus answers. */
  prometheus: () => HttpAnswer | Promise<HttpAnswer> = () => ({
    status: 200,
    text: JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [] } }),
  });

  /** Stands between the controller and the API server. */
  between: Interceptor['call'] = (_, pass) => pass();

  /** How late the next event of a watch of the controller comes, and those behind it with it. */
  lag: () => Millis = () => 0;

  /** Rollouts that are enqueued, now or later. */
  readonly enqueued: string[] = [];

  readonly #budget: Count | undefined;

  private constructor(api: LocalApi, clock: FakeClock, budget: Count | undefined) {
    this.#budget = budget;
    this.clock = clock;
    this.api = api;
    this.client = localClient(api, { clock, random: seededRandom(2) });
    this.agents = new LightAgents(this.client, clock);
    this.controller = this.startController();
    // A kubelet is played too.
    api.hooks.storage.onChange((kind, { type, object: { metadata } }) => {
      if (kind !== '/pods' || type === 'DELETED' || metadata.deletionTimestamp === undefined) return;
      const { name = '', namespace = '' } = metadata;
      void this.client.delete(pods, { name, namespace }, { body: { gracePeriodSeconds: 0 } }).catch(() => {});
    });
  }

  /** @param maxUnavailable - of the whole cluster */
  static async start({ maxUnavailable }: { maxUnavailable?: Count } = {}): Promise<FleetWorld> {
    const clock = new FakeClock();
    const api = createLocalApi({
      clock,
      random: seededRandom(1),
      log: silentLog,
      version: 'v1.36.3',
      dynamicKubeletConfig: false,
      definitions: definitions({ cel: false }),
    });
    const world = new FleetWorld(api, clock, maxUnavailable);
    void world.agents.run();
    await world.untilReady();
    return world;
  }

  /** Another controller, which works at once. @param between - @default the one of all */
  startController(between: Interceptor['call'] = (call, pass) => this.between(call, pass)): LocalProcess {
    const maxUnavailable = this.#budget;
    const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
    return startLocally(this.api, {
      name: 'dkc-controllers',
      setup: (runtime) => [
        rolloutController(
          { ...runtime, queue: (queue) => this.#recorded(runtime.queue(queue)) },
          { serves, maxUnavailable, http: async () => this.prometheus() },
        ),
      ],
      clock: this.clock,
      wrap: (client) => intercepted(client, { call: between, watch: (_, pass) => this.#lagging(pass()) }),
    });
  }

  #recorded(queue: WorkQueue): WorkQueue {
    const addAfter = queue.addAfter.bind(queue);
    return Object.assign(queue, { addAfter: (key: string, ms: Millis) => (this.enqueued.push(key), addAfter(key, ms)) });
  }

  async *#lagging<T>(events: AsyncIterable<T>): AsyncIterable<T> {
    for await (const event of events) {
      const ms = this.lag();
      if (ms > 0) await this.clock.sleep(ms);
      yield event;
    }
  }

  async untilReady(): Promise<void> {
    for (let seconds = 0; !this.controller.ready; seconds++) {
      if (seconds > 60) throw new Error(`the controller does not begin to work: ${this.controller.failures().join('\n')}`);
      await this.clock.advance(1_000);
    }
  }

  /** The controller is gone, and another process takes its place. */
  async restartController(): Promise<void> {
    const stopping = this.controller.stop();
    await this.clock.advance(30_000);
    await stopping;
    this.controller = this.startController();
    await this.untilReady();
  }

  async addNode(name: string, { labels = {}, kubeletVersion = 'v1.36.3', ready = true }: FleetNodeOptions = {}): Promise<void> {
    await this.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
    await this.setReady(name, ready, { nodeInfo: { kubeletVersion } });
    await this.agents.join(name);
  }

  /** `node-0` and so on. */
  async addNodes(count: number, options: FleetNodeOptions = {}): Promise<string[]> {
    const names = Array.from({ length: count }, (_, at) => `node-${at}`);
    for (const name of names) await this.addNode(name, options);
    return names;
  }

  async setReady(name: string, ready: boolean, more: object = {}): Promise<void> {
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', reason: 'KubeletReady', message: '' }];
    await this.client.patch(nodes, { name }, { status: { conditions, ...more } }, { type: 'merge', subresource: 'status' });
  }

  /** Writes the ConfigMap that rollouts name. */
  async payload(fields: Readonly<Record<string, unknown>>, name = 'web'): Promise<void> {
    const text = JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields });
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data: { [KEY]: text } };
    const there = this.api.hooks.storage.get('/configmaps', `${NAMESPACE}/${name}`);
    if (there === undefined) await this.client.create(configMaps, object, { namespace: NAMESPACE });
    else await this.client.patch(configMaps, { name, namespace: NAMESPACE }, { data: object.data }, { type: 'merge' });
  }

  /** A running pod of a ReplicaSet, or of nobody. It ends as soon as it is asked to and has no finalizers. */
  async addPod(
    name: string,
    nodeName: string,
    { finalizers = [], isBare = false }: { finalizers?: string[]; isBare?: boolean } = {},
  ): Promise<void> {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'app', uid: 'uid-app', controller: true }];
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', ...(isBare ? {} : { ownerReferences }), ...(finalizers.length === 0 ? {} : { finalizers }) },
      spec: { nodeName, containers: [{ name: 'main', image: 'app' }], terminationGracePeriodSeconds: 1 },
    };
    await this.client.create(pods, object, { namespace: 'default' });
  }

  /** Nodes that are cordoned from now on by a rollout, and how many at once. */
  watchCordons(): { seen: Set<string>; atOnce: number } {
    const found = { seen: new Set<string>(), atOnce: 0 };
    const now = new Set<string>();
    this.api.hooks.storage.onChange((kind, { key, object }) => {
      const { metadata, spec } = object as Node;
      if (kind !== '/nodes') return;
      now.delete(key);
      if (spec?.unschedulable !== true || metadata.annotations?.['dkc.dev/cordoned-by'] === undefined) return;
      found.seen.add(key);
      found.atOnce = Math.max(found.atOnce, now.add(key).size);
    });
    return found;
  }

  async roll(name: string, spec: Partial<RolloutSpec> = {}): Promise<void> {
    const object: NodeConfigRollout = {
      apiVersion: 'dkc.dev/v1alpha1',
      kind: 'NodeConfigRollout',
      metadata: { name },
      spec: { nodeSelector: {}, configMap: { namespace: NAMESPACE, name: 'web', kubeletConfigKey: KEY }, ...spec },
    };
    await this.client.create(rollouts, object);
  }

  edit(name: string, spec: Readonly<Record<string, unknown>>): Promise<NodeConfigRollout> {
    return this.client.patch<NodeConfigRollout>(rollouts, { name }, { spec }, { type: 'merge' });
  }

  rollout(name: string): Promise<NodeConfigRollout> {
    return this.client.get<NodeConfigRollout>(rollouts, { name });
  }

  /** Lets time pass in steps until it holds. @throws with the status where it never does */
  async until(
    name: string,
    what: string,
    holds: (rollout: NodeConfigRollout) => boolean,
    withinMs: Millis = 3_600_000,
  ): Promise<NodeConfigRollout> {
    for (let passed = 0; ; passed += 1_000) {
      const rollout = await this.rollout(name);
      if (holds(rollout)) return rollout;
      if (passed > withinMs)
        throw new Error(
          `${name}: it did not happen: ${what}; ${JSON.stringify(rollout.status, undefined, 1)}\n${this.controller.failures().join('\n')}`,
        );
      await this.clock.advance(1_000);
    }
  }

  phase(name: string, phase: string): Promise<NodeConfigRollout> {
    return this.until(name, `phase ${phase}`, ({ status }) => status?.phase === phase);
  }

  /** Reasons and messages about a rollout, in the order in which they were recorded. */
  async events(name: string): Promise<string[]> {
    await this.clock.advance(5_000);
    const { items } = await this.client.list<Event>(coreEvents, { namespace: 'default' });
    return items
      .filter(({ involvedObject }) => involvedObject?.kind === 'NodeConfigRollout' && involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.agents.stop();
    const stopping = this.controller.stop();
    await this.clock.advance(30_000);
    await stopping;
    await this.client.close();
    this.api.stop();
  }
}

/** So many nodes, and a configuration for them that nobody rolls out yet. */
export async function fleetOf(count: number, options: FleetNodeOptions = {}): Promise<FleetWorld> {
  const world = await FleetWorld.start();
  await world.addNodes(count, options);
  await world.payload({ maxPods: 120 });
  return world;
}

export type Node = KubeObject & {
  spec?: { unschedulable?: boolean };
  status?: { conditions?: { type: string; reason?: string; message?: string }[] };
};

export async function nodesOf({ client }: FleetWorld): Promise<Node[]> {
  return (await client.list<Node>(nodes)).items;
}

export async function cordonedIn(world: FleetWorld): Promise<string[]> {
  return (await nodesOf(world)).flatMap(({ metadata, spec }) => (spec?.unschedulable === true ? [metadata.name ?? ''] : []));
}

/** Somebody approves the step that the rollout is at, or another one. @returns the approvals */
export async function approve(world: FleetWorld, of?: number): Promise<object[]> {
  const { revision = '', step = 1 } = (await world.rollout('web')).status ?? {};
  const approvals = [{ step: of ?? step, revision, by: 'jane', at: '2026-03-01T00:00:00Z' }];
  await world.client.patch(rollouts, { name: 'web' }, { status: { approvals } }, { type: 'merge', subresource: 'status' });
  return approvals;
}

/** Changes the metadata or spec of a node, as people do. */
export async function patchNode({ client }: FleetWorld, name: string, patch: object): Promise<void> {
  await client.patch(nodes, { name }, patch, { type: 'merge' });
}
