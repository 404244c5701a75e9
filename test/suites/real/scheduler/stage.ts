import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { DeploymentSpec } from 'kubernetes-types/apps/v1.js';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { coreEvents, type KubeObject, nodes, type Resource, statefulSets } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import type { Pod, StatefulSet } from '../../../../scheduler/types.ts';
import type { Event } from '../../../support/stories/remains.ts';
import { Stage as Cluster } from '../../../support/stories/daemonset/stage.ts';
import type { World } from '../../../support/stories/world.ts';
import { RealWorld, type RealWorldOptions } from '../cluster/real-world.ts';

const deployments: Resource = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', namespaced: true };

/**
 * A world without a scheduler, which sees nodes and StatefulSets, for the tests of a suite.
 * @param prepare - what runs in it; ends with it, the last one first
 */
export function worldWith<T>(
  prepare: (world: RealWorld, ending: AsyncDisposableStack) => Promise<T>,
  options: Omit<RealWorldOptions, 'more' | 'scheduler'> = {},
): () => T {
  const ending = new AsyncDisposableStack();
  let made: T | undefined;
  before(async () => {
    const world = await RealWorld.begin({ ...options, scheduler: false, more: [nodes, statefulSets] });
    ending.defer(() => world.stop());
    made = await prepare(world, ending);
  });
  after(() => ending.disposeAsync());
  return () => made ?? assert.fail('the control plane did not start');
}

const EVENTS_WITHIN_MS = 90_000;

interface PodOptions {
  /** @default '1' */
  cpu?: string;
  /** Merged over the rest. */
  spec?: Partial<PodSpec>;
}

interface OwnerOptions {
  /** @default 'default-scheduler' */
  schedulerName?: string;
  replicas: number;
}

/** A namespace and nodes of a story's own. Pods stay on these nodes. */
export class Stage {
  readonly cluster: Cluster;
  readonly name: string;
  readonly client: Client;
  readonly #world: World;
  #looks = 0;

  /** @param cpus - of each node */
  static async open(world: World, name: string, count: number, cpus: number): Promise<Stage> {
    const stage = new Stage(world, await Cluster.open(world, name));
    await stage.cluster.nodes(count, { allocatable: { cpu: String(cpus) } });
    return stage;
  }

  private constructor(world: World, cluster: Cluster) {
    this.#world = world;
    this.cluster = cluster;
    this.name = cluster.name;
    this.client = world.client;
  }

  manifest(name: string, { cpu = '1', spec = {} }: PodOptions = {}): Pod {
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: this.name }, spec: { ...this.#podSpec(cpu), ...spec } };
  }

  create(name: string, options: PodOptions = {}): Promise<Pod> {
    return this.cluster.createPod(this.manifest(name, options));
  }

  #podSpec(cpu: string): PodSpec {
    return {
      terminationGracePeriodSeconds: 5,
      nodeSelector: { story: this.name },
      containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }],
    };
  }

  pods(): Readonly<Pod>[] {
    return this.cluster.pods();
  }

  find(name: string): Readonly<Pod> | undefined {
    return this.pods().find(({ metadata }) => metadata.name === name);
  }

  pod(name: string): Readonly<Pod> {
    const pod = this.find(name);
    assert.ok(pod, `there is no pod ${name}`);
    return pod;
  }

  /** Resolves once the scheduler has heard what was done to the node: of nodes and of pods it hears by watches of their own. */
  async known(n: number): Promise<void> {
    this.#looks += 1;
    const look = `look-${this.#looks}`;
    await this.cluster.label(n, { look });
    const spec = { nodeSelector: { story: this.name, look }, tolerations: [{ operator: 'Exists' }] };
    await this.create(look, { cpu: '0', spec });
    await this.bound(look);
  }

  /** @returns the pod's node, once it has one */
  async bound(name: string): Promise<string> {
    await this.until(`${name} is bound`, () => nodeOf(this.find(name)) !== '');
    return nodeOf(this.find(name));
  }

  /** @returns what its condition says, once a scheduler has refused it */
  async refused(name: string): Promise<string> {
    await this.until(`${name} is refused`, () => refusalOf(this.find(name)) !== undefined);
    return refusalOf(this.find(name)) ?? '';
  }

  until(what: string, holds: () => boolean): Promise<void> {
    return this.cluster.until(what, holds);
  }

  /** Of one object, by its name. They come a little later than what they tell of. */
  async events(name: string, has: (events: readonly Event[]) => boolean = () => true): Promise<Event[]> {
    for (const end = performance.now() + EVENTS_WITHIN_MS; ;) {
      const { items } = await this.client.list<Event>(coreEvents, { namespace: this.name, fieldSelector: `involvedObject.name=${name}` });
      if (has(items)) return items;
      if (performance.now() > end)
        throw new Error(`${name} has other events: ${JSON.stringify(items.map(({ reason, message }) => [reason, message]))}`);
      await this.#world.changed(this.name, 200);
    }
  }

  async deployment(name: string, options: OwnerOptions): Promise<void> {
    const spec = this.#owning(name, options);
    await this.client.create<KubeObject & { spec: DeploymentSpec }>(deployments, { metadata: { name, namespace: this.name }, spec });
  }

  #owning(app: string, { schedulerName = 'default-scheduler', replicas }: OwnerOptions): DeploymentSpec {
    const labels = { app, story: this.name };
    const template = { metadata: { labels }, spec: { ...this.#podSpec('1'), schedulerName } };
    return { replicas, selector: { matchLabels: labels }, template };
  }

  /** @param update - ordinals below this stay as they are, or `OnDelete`. @default 0 */
  async statefulSet(name: string, options: OwnerOptions, update: number | 'OnDelete' = 0): Promise<void> {
    const set: StatefulSet = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace: this.name },
      spec: {
        ...this.#owning(name, options),
        serviceName: name,
        updateStrategy: update === 'OnDelete' ? { type: update } : { type: 'RollingUpdate', rollingUpdate: { partition: update } },
      },
    };
    await this.#world.hasSeen(statefulSets, await this.client.create<StatefulSet>(statefulSets, set));
  }

  /** The pods of an owner that do not end. */
  ofApp(app: string): Readonly<Pod>[] {
    return this.pods().filter(({ metadata }) => metadata.labels?.['app'] === app && metadata.deletionTimestamp === undefined);
  }

  async image(image: string, name: string): Promise<void> {
    const [ref, spec] = [{ name, namespace: this.name }, { template: { spec: { containers: [{ name: 'main', image }] } } }];
    await this.#world.hasSeen(statefulSets, await this.client.patch<StatefulSet>(statefulSets, ref, { spec }, { type: 'strategic' }));
  }

  set(name: string): Readonly<StatefulSet> {
    const set = this.#world.more.get(statefulSets.resource)?.get(`${this.name}/${name}`) as Readonly<StatefulSet> | undefined;
    assert.ok(set, `there is no set ${name}`);
    return set;
  }

  /** Takes away what makes pods, the pods and the nodes. What the garbage collector does comes in its own time. */
  async clear(): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
    for (const resource of [deployments, statefulSets]) {
      const { items } = await this.client.list(resource, { namespace: this.name });
      await Promise.all(items.map(({ metadata: { name = '' } }) => this.client.delete(resource, { name, namespace: this.name }, { body })));
    }
    await this.client.raw('DELETE', `/api/v1/namespaces/${this.name}/pods`);
    const own = this.#world.more.get(nodes.resource)?.list() ?? [];
    await this.#world.fleet.remove(own.flatMap(({ metadata }) => (metadata.labels?.['story'] === this.name ? [metadata.name ?? ''] : [])));
  }

  /** Every pod of the set from `from` up has `image` and is ready, and none ends. */
  hasRolled(name: string, image: string, from = 0): boolean {
    const { metadata, spec } = this.set(name);
    const own = this.pods().filter((pod) => controllerOf(pod)?.uid === metadata.uid);
    if (own.length !== spec?.replicas) return false;
    return own.every((pod) => {
      const ordinal = Number(pod.metadata.name?.split('-').at(-1));
      if (pod.metadata.deletionTimestamp !== undefined || !isReady(pod)) return false;
      return ordinal < from || pod.spec?.containers[0]?.image === image;
    });
  }
}

export const nodeOf = (pod: Readonly<Pod> | undefined): string => pod?.spec?.nodeName ?? '';

const isReady = (pod: Readonly<Pod>): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

export function refusalOf(pod: Readonly<Pod> | undefined): string | undefined {
  const condition = pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return condition?.status === 'False' ? (condition.message ?? '') : undefined;
}
