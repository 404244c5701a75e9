import type { Millis } from '../../../../base/clock.ts';
import { HASH_LABEL } from '../../../../controllers/common/history/contract.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import type { HollowNode } from '../../../support/hollow/hollow-node.ts';
import type { SimWorld } from '../../../support/simulated/sim-world.ts';
import type { AnyStage } from '../../../support/simulated/sweeping.ts';

const KINDS = ['apps/controllerrevisions', '/pods', '/persistentvolumeclaims', '/events', '/nodes'];

const web = { name: 'web', namespace: 'default' };

/** A set called `web`, its users and its nodes: what a story plays on, again and again on one server and before one controller. */
export abstract class SetStage<S extends KubeObject> implements AnyStage {
  readonly world: SimWorld;
  readonly #resource: Resource;

  protected constructor(world: SimWorld, resource: Resource) {
    this.world = world;
    this.#resource = resource;
  }

  abstract isSettled(): boolean;

  abstract picture(): string;

  begin(nodes: readonly (string | HollowNode)[]): void {
    this.world.addNodes(...nodes);
  }

  /** Deletes everything. @returns whether it went */
  async clear(): Promise<boolean> {
    const { world } = this;
    const { storage } = world.api.hooks;
    if (this.set() !== undefined) await this.remove();
    const isOurs = (object: KubeObject): boolean => controllerOf(object)?.kind === this.#resource.kind;
    const gone = await world.until(() => ![...world.pods(), ...world.revisions()].some(isOurs), 60_000);
    for (const kind of KINDS)
      for (const { metadata } of storage.list(kind).objects)
        storage.remove(kind, metadata.namespace === undefined ? (metadata.name ?? '') : `${metadata.namespace}/${metadata.name}`);
    // What was sent late is there by then.
    await world.clock.advance(6_000);
    return gone !== undefined;
  }

  /** All goes, and another's revision has the name of the set's. */
  async leaveRevisionName(nodes: readonly string[]): Promise<void> {
    const [mine] = this.world.revisions();
    await this.clear();
    this.begin(nodes);
    const metadata = { name: mine?.metadata.name, namespace: 'default' };
    const data = { spec: { template: { spec: {} } } };
    this.world.api.add({ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: 1, data });
  }

  set(): S | undefined {
    return this.world.api.hooks.storage.get(`apps/${this.#resource.resource}`, 'default/web') as S | undefined;
  }

  patch(change: object): Promise<S> {
    return this.world.user.patch<S>(this.#resource, web, change, { type: 'strategic' });
  }

  /** Gives it another image. */
  async image(image: string): Promise<void> {
    await this.patch({ spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });
  }

  /** Gives it another image, and waits until all is as it should be. */
  async turnTo(image: string): Promise<void> {
    await this.image(image);
    await this.settled();
  }

  remove(propagationPolicy = 'Background'): Promise<void> {
    return this.world.user.delete(this.#resource, web, { body: { propagationPolicy } });
  }

  pass(ms: Millis): Promise<void> {
    return this.world.clock.advance(ms);
  }

  /** @throws when it takes longer than two minutes */
  async settled(): Promise<void> {
    if ((await this.world.until(() => this.isSettled(), 120_000)) === undefined) throw new Error(`it does not settle: ${this.picture()}`);
  }

  protected own(): Pod[] {
    return this.world.pods().filter((pod) => controllerOf(pod)?.kind === this.#resource.kind);
  }

  /** `v1 @2 ready=True terminating`, of a pod. @param number - of the revision with this hash */
  protected podText(pod: Pod, number: (hash: string | undefined) => string): string {
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'no';
    const terminating = pod.metadata.deletionTimestamp === undefined ? '' : ' terminating';
    return `${pod.spec?.containers[0]?.image} @${number(pod.metadata.labels?.[HASH_LABEL])} ready=${ready}${terminating}`;
  }

  /** @param fields - of the status that are compared */
  protected statusText(fields: object, observedGeneration: number | undefined): string {
    const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `status ${JSON.stringify(sorted)} ${observedGeneration === this.set()?.metadata.generation ? 'of now' : 'of before'}`;
  }
}
