import assert from 'node:assert/strict';
import type { StatefulSetSpec, StatefulSetStatus } from 'kubernetes-types/apps/v1.js';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import type { Pvc, Pod, StatefulSet } from '../../../../controllers/common/types.ts';
import { persistentVolumeClaims, statefulSets } from '../../../../kube/api/object.ts';
import type { Informer } from '../../../../kube/cache/contract.ts';
import { isNotFound } from '../../../../kube/client/errors.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { Stage as WorkloadStage } from '../stage.ts';
import type { World } from '../world.ts';

export interface SetOptions {
  /** @default 'web' */
  name?: string;
  /** @default 'app:1' */
  image?: string;
  /** @default 3 */
  replicas?: number;
  /** Pods at once instead of one by one. */
  parallel?: boolean;
  /** Names of claim templates. The pods then need no scheduler. */
  claims?: readonly string[];
  /** Merged over the template's pod spec. */
  pod?: Partial<PodSpec>;
  annotations?: Record<string, string>;
  spec?: Partial<Omit<StatefulSetSpec, 'template' | 'selector'>>;
}

/** Counters of a status, by short names. */
export type Figures = { replicas?: number; ready?: number; current?: number; updated?: number };

const setsOf = ({ more }: World): Informer<StatefulSet> => more.get(statefulSets.resource) as unknown as Informer<StatefulSet>;
const claimsOf = ({ more }: World): Informer<Pvc> => more.get(persistentVolumeClaims.resource) as unknown as Informer<Pvc>;

/** Stories of StatefulSets, on one node. */
export class Stage extends WorkloadStage<StatefulSet> {
  /** Pods that were made and that are gone, in their order: `made web-0`. */
  readonly events: string[] = [];
  readonly #watch: { remove(): void };

  static async open(world: World, name: string): Promise<Stage> {
    const stage = new Stage(world, name);
    await stage.makeNamespace();
    await stage.nodes(1);
    return stage;
  }

  private constructor(world: World, name: string) {
    super(world, name, { resource: statefulSets, cache: setsOf, quietMs: 1_000 });
    const tell = (what: string) => (pod: Readonly<Pod>) => {
      if (pod.metadata.namespace === this.name) this.events.push(`${what} ${pod.metadata.name}`);
    };
    this.#watch = world.pods.addHandlers(`stage ${this.name}`, { added: tell('made'), deleted: tell('gone') });
  }

  override close(): void {
    this.#watch.remove();
  }

  create(options: SetOptions = {}): Promise<StatefulSet> {
    return this.createSet(this.manifest(options));
  }

  /** Makes a set, and waits until it is rolled out. */
  async running(options: Omit<SetOptions, 'name'> = {}): Promise<void> {
    await this.create(options);
    await this.rolledOut();
  }

  manifest(options: SetOptions = {}): StatefulSet {
    const { name = 'web', image = 'app:1', replicas = 3, parallel, claims = [], pod = {}, annotations, spec = {} } = options;
    const app = this.appLabels(name);
    const here = claims.length === 0 ? { nodeSelector: { story: this.name } } : { nodeName: this.node(0) };
    return {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace: this.name, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        replicas,
        serviceName: name,
        ...(parallel === true ? { podManagementPolicy: 'Parallel' } : {}),
        selector: { matchLabels: app },
        ...(claims.length === 0 ? {} : { volumeClaimTemplates: claims.map(claimTemplate) }),
        ...spec,
        template: {
          metadata: { labels: app },
          spec: { terminationGracePeriodSeconds: 5, ...here, ...pod, containers: [{ name: 'main', image }] },
        },
      },
    };
  }

  scale(replicas: number, name = 'web'): Promise<StatefulSet> {
    return this.patch({ spec: { replicas } }, name);
  }

  partition(partition: number, name = 'web'): Promise<StatefulSet> {
    return this.patch({ spec: { updateStrategy: { rollingUpdate: { partition } } } }, name);
  }

  /** Those that the set owns. */
  own(name = 'web'): Readonly<Pod>[] {
    const { uid } = this.set(name).metadata;
    return this.pods().filter((pod) => controllerOf(pod)?.uid === uid);
  }

  pod(ordinal: number, name = 'web'): Readonly<Pod> {
    const pod = this.pods().find(({ metadata }) => metadata.name === `${name}-${ordinal}`);
    assert.ok(pod, `there is no pod ${name}-${ordinal}`);
    return pod;
  }

  /** Until it is gone. */
  override async deletePod(pod: Readonly<Pod>): Promise<void> {
    await this.terminate(pod);
    await this.until(`${pod.metadata.name} is gone`, () => this.isGone(pod));
  }

  /** Until there is another in its place: what is shown until then may be what was shown before. */
  async replacePod(pod: Readonly<Pod>): Promise<void> {
    await this.terminate(pod);
    await this.replaced(pod);
  }

  /** Until there is another in the place of `pod`. */
  replaced(pod: Readonly<Pod>): Promise<void> {
    const { name, uid } = pod.metadata;
    return this.until(`${name} is replaced`, () => this.pods().some(({ metadata }) => metadata.name === name && metadata.uid !== uid));
  }

  claims(): Readonly<Pvc>[] {
    return claimsOf(this.world).list(this.name);
  }

  /** By force: as if nothing used it any more. */
  async deleteClaim(name: string): Promise<void> {
    const ref = { name, namespace: this.name };
    const uid = this.claims().find(({ metadata }) => metadata.name === name)?.metadata.uid;
    await this.client.delete(persistentVolumeClaims, ref);
    // Where nothing protects claims it is gone at once.
    await this.client
      .patch(persistentVolumeClaims, ref, { metadata: { uid, finalizers: null } }, { type: 'merge' })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    await this.until(`claim ${name} is gone`, () => this.claims().every(({ metadata }) => metadata.uid !== uid));
  }

  // Waiting

  /** The set's status says so, for its present generation; and then nothing changes for a while. */
  async shows(figures: Figures, name = 'web'): Promise<void> {
    await this.comesTo(`${name} shows ${JSON.stringify(figures)}`, () => {
      const seen = figuresOf(this.status(name));
      return seen !== undefined && Object.entries(figures).every(([field, value]) => seen[field as keyof Figures] === value);
    });
  }

  /** All of the set's pods are of its template and ready, none is left that ends, and the rollout counts as complete. */
  async rolledOut(name = 'web'): Promise<void> {
    await this.comesTo(`${name} is rolled out`, () => {
      const status = this.status(name);
      const { replicas, ready, current, updated } = figuresOf(status) ?? {};
      const wanted = this.set(name).spec?.replicas;
      const isComplete = status?.currentRevision === status?.updateRevision && replicas === wanted && ready === wanted;
      return isComplete && current === wanted && updated === wanted && this.own(name).length === wanted;
    });
  }
}

function figuresOf(status: Readonly<StatefulSetStatus> | undefined): Required<Figures> | undefined {
  if (status === undefined) return undefined;
  const { replicas, readyReplicas: ready = 0, currentReplicas: current = 0, updatedReplicas: updated = 0 } = status;
  return { replicas, ready, current, updated };
}

const claimTemplate = (name: string): Pvc => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'any', resources: { requests: { storage: '1Gi' } } },
});
