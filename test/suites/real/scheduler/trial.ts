import { type KubeObject, namespaces, nodes, pods, priorityClasses, type Resource } from '../../../../kube/api/object.ts';
import type { ObjectRef } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { Node, Pod } from '../../../../scheduler/types.ts';
import type { World } from '../../../support/stories/world.ts';
import { clusterNamespaces, clusterPriorities, namespaceObjects, type RandomCluster } from './random-cluster.ts';
import type { StoredObject } from './random-modern.ts';
import type { State } from './core.ts';

/** What a scheduler made of a pod. */
export type Verdict = { node: string } | { refused: string };

export interface Put {
  verdict: Verdict;
  /** As the server has it, with what it adds to pods. */
  pod: Pod;
  state: State;
}

type BuiltCluster = RandomCluster & { stored?: readonly StoredObject[]; resized?: readonly Pod[] };

const WITHIN_MS = 120_000;
/** Of a node: which of the counts of images it has heard. Nobody's pods ask for it. */
const COUNTED = 'counted';
const [home] = clusterNamespaces;

/** Clusters one after the other on a control plane, and pods that are put to one scheduler after the other. Nothing runs on the nodes. */
export class Trial {
  readonly #world: World;
  #counts = 0;
  #asked = 0;

  /** @param world - one that watches nodes */
  static async open(world: World, stock: readonly StoredObject[] = []): Promise<Trial> {
    for (const namespace of namespaceObjects) await world.client.create<KubeObject>(namespaces, namespace);
    for (const { resource, object } of stock) await world.client.create<KubeObject>(resource, object);
    for (const [name, value] of Object.entries(clusterPriorities)) {
      await world.client.create<KubeObject & { value: number }>(priorityClasses, { metadata: { name }, value });
    }
    return new Trial(world);
  }

  private constructor(world: World) {
    this.#world = world;
  }

  /** Until our own caches have it; then so have, most of the time, those of the schedulers. */
  async build({ nodes: wanted, bound, ending, stored = [], resized = [] }: BuiltCluster): Promise<void> {
    const { client } = this.#world;
    for (const { resource, object } of stored) await client.create<KubeObject>(resource, object);
    await this.#all(wanted, (node) => client.create<Node>(nodes, node), nodes);
    await this.countImages({ nodes: wanted });
    await this.#all(bound, (pod) => client.create<Pod>(pods, pod), pods);
    const report = ({ metadata: { name = '', namespace = '' }, status }: Pod) =>
      client.patch<Pod>(pods, { name, namespace }, { status }, { type: 'merge', subresource: 'status' });
    await this.#all(resized, report, pods);
    const going = bound.filter(({ metadata: { name = '' } }) => ending.includes(name));
    await Promise.all(going.map(({ metadata: { name = '', namespace = '' } }) => client.delete(pods, { name, namespace })));
  }

  /**
   * What 1.20 knows of how common a node's images are, is as old as the last change that it heard of that node. This changes every node, for when all of them
   * are there. To a kube-scheduler that is late, a node that comes and this change are one piece of news: then it still misses the nodes that come after it.
   */
  async countImages({ nodes: wanted }: Pick<RandomCluster, 'nodes'>): Promise<void> {
    this.#counts += 1;
    const touched = { metadata: { labels: { [COUNTED]: String(this.#counts) } } };
    await this.#all(
      wanted,
      ({ metadata: { name = '' } }) => this.#world.client.patch<Node>(nodes, { name }, touched, { type: 'merge' }),
      nodes,
    );
  }

  /**
   * Until these schedulers have the cluster as it is, however late they are: news of nodes and of pods come in their order each, and no scheduler decides as it
   * should on the pods that are put here before it has heard of the last change of a node.
   */
  async settle(cluster: Pick<RandomCluster, 'nodes'>, schedulers: readonly string[]): Promise<void> {
    const everybody = (): Promise<unknown> => Promise.all(schedulers.map((name) => this.#knows(name, cluster.nodes.length)));
    await this.countImages(cluster);
    await everybody();
    // Once more, now that all nodes are known: see countImages.
    await this.countImages(cluster);
    await everybody();
  }

  /** Nobody can take the pod but a node that has not been counted last, as far as the scheduler has heard. */
  async #knows(schedulerName: string, count: number): Promise<void> {
    const matchExpressions = [{ key: COUNTED, operator: 'NotIn', values: [String(this.#counts)] }];
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    for (const end = performance.now() + WITHIN_MS; ;) {
      this.#asked += 1;
      const pod: Pod = {
        metadata: { name: `asks-${this.#asked}`, namespace: home },
        spec: {
          containers: [{ name: 'main', image: 'app:1' }],
          tolerations: [{ operator: 'Exists' }],
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
        },
      };
      const { verdict } = await this.put(pod, schedulerName);
      if ('refused' in verdict && verdict.refused.startsWith(`0/${count} nodes are available`)) return;
      if (performance.now() > end) throw new Error(`${schedulerName} does not hear of its nodes: ${JSON.stringify(verdict)}`);
    }
  }

  async clear({ nodes: wanted, bound, stored = [] }: BuiltCluster): Promise<void> {
    await Promise.all([
      ...stored.map(({ resource, object: { metadata } }) => this.#world.client.delete(resource, metadata as ObjectRef)),
      ...bound.map((pod) => this.#remove(pod)),
      ...wanted.map(({ metadata: { name = '' } }) => this.#world.client.delete(nodes, { name })),
    ]);
    await this.#until('the cluster is gone', '', () => this.#nodes().length === 0);
  }

  /** The pod is gone when this returns, whatever became of it. */
  async put(pod: Pod, schedulerName: string): Promise<Put> {
    const state = { nodes: this.#nodes(), pods: this.#world.pods.list() };
    const made = await this.#world.client.create<Pod>(pods, { ...pod, spec: { containers: [], ...pod.spec, schedulerName } });
    const held = () => this.#world.pods.list(home).find(({ metadata }) => metadata.uid === made.metadata.uid);
    try {
      let verdict: Verdict | undefined;
      await this.#until(`${schedulerName} decides on ${pod.metadata.name}`, home, () => (verdict = verdictOn(held())) !== undefined);
      return { verdict: verdict ?? { refused: 'nothing' }, pod: made, state };
    } finally {
      await this.#remove(made);
      await this.#until('the pod is gone', home, () => held() === undefined);
    }
  }

  #nodes(): Node[] {
    return [...(this.#world.more.get(nodes.resource)?.list() ?? [])] as Node[];
  }

  async #all<T extends KubeObject>(objects: readonly T[], create: (object: T) => Promise<T>, resource: Resource): Promise<void> {
    const made = await Promise.all(objects.map(create));
    for (const object of made) await this.#world.hasSeen(resource, object);
  }

  async #remove({ metadata: { name = '', namespace = '' } }: Pod): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    await this.#world.client.delete(pods, { name, namespace }, { body }).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    });
  }

  async #until(what: string, namespace: string, holds: () => boolean): Promise<void> {
    for (const end = performance.now() + WITHIN_MS; !holds();) {
      if (performance.now() > end) throw new Error(`it did not happen: ${what}`);
      await this.#world.changed(namespace, 1_000);
    }
  }
}

function verdictOn(pod: Readonly<Pod> | undefined): Verdict | undefined {
  const { nodeName = '' } = pod?.spec ?? {};
  if (nodeName !== '') return { node: nodeName };
  const condition = pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return condition?.status === 'False' ? { refused: condition.message ?? '' } : undefined;
}
