import type { LocalApi } from '../../../../../apiserver/local-api.ts';
import { ApiEvictor, EvictionBackoff } from '../../../../../controllers/rollout/drain/eviction.ts';
import { defaultDrainPolicy, type DrainOutcome, type DrainStep, type Node } from '../../../../../controllers/rollout/drain/contract.ts';
import { executeDrain } from '../../../../../controllers/rollout/drain/execute.ts';
import { podsOfNode } from '../../../../../controllers/rollout/drains.ts';
import { planDrain, planGiveBack } from '../../../../../controllers/rollout/drain/plan.ts';
import { type KubeObject, nodes, podDisruptionBudgets, pods as podsResource } from '../../../../../kube/api/object.ts';
import type { Client } from '../../../../../kube/client/client.ts';
import { localApi, localClient } from '../../../../support/embedded-api.ts';
import { atRest, FakeClock } from '../../../../support/fake-clock.ts';
import { pods, print, web } from './notation.ts';

const never = new AbortController().signal;

/** The process was killed. */
export class Killed extends Error {}

/** A node with pods on the embedded API server, and the drain as a controller runs it. Time passes while the drain waits. */
export class Stage {
  readonly clock = new FakeClock();
  readonly api: LocalApi;
  readonly client: Client;
  /** Steps that were executed. */
  readonly steps: DrainStep[] = [];
  readonly outcomes: DrainOutcome[] = [];
  /** Called with the number of each step: before the Node is read, and between the plan and its execution. */
  before: (step: number, at: 'read' | 'write') => Promise<void> = async () => {};
  /** Called around each write; it throws Killed. */
  aroundWrite: (write: number, at: 'before' | 'after') => void = () => {};
  #writes = 0;
  #steps = 0;
  #backoff = new EvictionBackoff(this.clock);

  /** @param podKubelet - how long a pod takes to terminate, in ms */
  constructor(podKubelet = 2_000, version = 'v1.36.3') {
    this.api = localApi(this.clock, { podKubelet, version, garbageCollection: false });
    this.client = localClient(this.api, { clock: this.clock });
    this.api.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } });
    this.api.add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  }

  /** Adds pods that run. */
  async add(text: string): Promise<void> {
    for (const { metadata, ...rest } of pods(text)) {
      const { uid: _uid, creationTimestamp: _at, deletionTimestamp: _end, ...kept } = metadata;
      this.api.add({ ...rest, metadata: { ...kept, labels: { app: kept.name ?? '' } } });
      await this.#status(podsResource, kept.name ?? '', rest.status);
    }
  }

  /** A budget of the pod of this name, which allows so many evictions until it is set again. */
  async budget(name: string, disruptionsAllowed: number): Promise<void> {
    const status = {
      disruptionsAllowed,
      currentHealthy: 1,
      desiredHealthy: 1 - disruptionsAllowed,
      expectedPods: 1,
      observedGeneration: 1,
    };
    const made = this.api.hooks.storage.get('policy/poddisruptionbudgets', `shop/${name}`);
    if (made === undefined) {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: name } } };
      this.api.add({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name, namespace: 'shop' }, spec });
    }
    await this.#status(podDisruptionBudgets, name, status);
  }

  node(): Promise<Node> {
    return this.client.get<Node>(nodes, { name: 'node-a' });
  }

  async podNames(): Promise<string> {
    return (await podsOfNode(this.client, 'node-a', never)).map(({ metadata }) => metadata.name).join(' ');
  }

  /** What a person does with kubectl. */
  async person(act: 'cordon' | 'uncordon' | 'label'): Promise<void> {
    const patch = act === 'label' ? { metadata: { labels: { seen: 'yes' } } } : { spec: { unschedulable: act === 'cordon' || null } };
    await this.client.patch<KubeObject>(nodes, { name: 'node-a' }, patch, { type: 'strategic' });
  }

  /** A new process: what was in memory is gone. */
  restart(): void {
    this.#backoff = new EvictionBackoff(this.clock);
  }

  /** Until the node is drained, or the drain has failed. @throws Killed; Error after 1,000 steps */
  drain(): Promise<DrainStep> {
    return this.#run(async (node, pods) =>
      planDrain({ node, pods, owner: web, policy: defaultDrainPolicy, now: this.clock.now(), heldBack: this.#backoff.heldBack }),
    );
  }

  giveBack(): Promise<DrainStep> {
    return this.#run(async (node) => planGiveBack(node, web, this.clock.now()));
  }

  get log(): string[] {
    return this.steps.map(print);
  }

  async #run(plan: (node: Node, of: Parameters<typeof planDrain>[0]['pods']) => Promise<DrainStep>): Promise<DrainStep> {
    const evictor = new ApiEvictor(this.#writer());
    for (let left = 1_000; left > 0; left--) {
      const number = ++this.#steps;
      await this.before(number, 'read');
      const step = await plan(await this.node(), await podsOfNode(this.client, 'node-a', never));
      await this.before(number, 'write');
      this.steps.push(step);
      const outcome = await executeDrain(step, { client: this.#writer(), evictor, backoff: this.#backoff }, never);
      this.outcomes.push(outcome);
      if (outcome.requeueAfterMs === undefined) return step;
      await this.clock.advance(outcome.requeueAfterMs);
      await atRest();
    }
    throw new Error(`the drain does not end: ${this.log.slice(-5).join(', ')}`);
  }

  /** The client, with a kill before and after every write. */
  #writer(): Client {
    const write = async <T>(call: () => Promise<T>): Promise<T> => {
      const number = ++this.#writes;
      this.aroundWrite(number, 'before');
      const result = await call();
      this.aroundWrite(number, 'after');
      return result;
    };
    const { client } = this;
    return {
      get: client.get.bind(client),
      raw: client.raw.bind(client),
      patch: (...args: Parameters<Client['patch']>) => write(() => client.patch(...args)),
      post: (...args: Parameters<Client['post']>) => write(() => client.post(...args)),
    } as Client;
  }

  async #status(resource: typeof nodes, name: string, status: unknown): Promise<void> {
    await this.client.patch<KubeObject>(resource, { name, namespace: 'shop' }, { status }, { type: 'merge', subresource: 'status' });
  }
}
