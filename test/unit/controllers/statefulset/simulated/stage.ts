import type { Millis } from '../../../../../base/clock.ts';
import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import type { Pvc, Pod, StatefulSet } from '../../../../../controllers/statefulset/types.ts';
import { pods, statefulSets } from '../../../../../kube/api/resources.ts';
import { controllerOf } from '../../../../../kube/controller/owner-refs.ts';
import type { HollowNode } from '../../../../support/hollow/hollow-node.ts';
import { behave } from '../../../../support/hollow/hollow-nodes.ts';
import type { SimWorld } from '../../../../support/simulated/sim-world.ts';
import type { AnyStage } from '../../../../support/simulated/sweeping.ts';
import { claimsOf, isGoing, setsOf, statefulSet } from './world.ts';

type Spec = NonNullable<StatefulSet['spec']>;

/** A set called `web`, its users and its node. */
export class Stage implements AnyStage {
  readonly world: SimWorld;

  constructor(world: SimWorld) {
    this.world = world;
  }

  begin(nodes: readonly (string | HollowNode)[]): void {
    this.world.addNodes(...nodes);
  }

  async clear(): Promise<boolean> {
    const { world } = this;
    const { storage } = world.api.hooks;
    if (this.set() !== undefined) await this.remove();
    const gone = await world.until(
      () => this.#own().length === 0 && !world.revisions().some((one) => controllerOf(one)?.kind === 'StatefulSet'),
      60_000,
    );
    for (const [kind, objects] of [
      ['apps/controllerrevisions', world.revisions()],
      ['/pods', world.pods()],
      ['/persistentvolumeclaims', claimsOf(world)],
      ['/events', storage.list('/events').objects],
    ] as const)
      for (const { metadata } of objects) storage.remove(kind, `${metadata.namespace}/${metadata.name}`);
    for (const { metadata } of world.nodes()) storage.remove('/nodes', metadata.name ?? '');
    // What was sent late is there by then.
    await world.clock.advance(6_000);
    return gone !== undefined;
  }

  /** Makes the set. */
  make(spec: Partial<Spec> = {}, annotations: Record<string, string> = {}): void {
    this.world.api.add(statefulSet('web', spec, annotations));
  }

  async settledWith(spec: Partial<Spec> = {}, annotations: Record<string, string> = {}): Promise<void> {
    this.make(spec, annotations);
    await this.settled();
  }

  patch(change: object): Promise<StatefulSet> {
    return this.world.user.patch<StatefulSet>(statefulSets, web, change, { type: 'strategic' });
  }

  async turnTo(image: string): Promise<void> {
    await this.patch({ spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });
  }

  remove(propagationPolicy = 'Background'): Promise<void> {
    return this.world.user.delete(statefulSets, web, { body: { propagationPolicy } });
  }

  async fail(ordinal: number): Promise<void> {
    await this.world.user.patch(pods, { name: `web-${ordinal}`, namespace: 'default' }, behave('failed:Evicted'), { type: 'merge' });
  }

  pass(ms: Millis): Promise<void> {
    return this.world.clock.advance(ms);
  }

  /** @throws when it takes longer than two minutes */
  async settled(): Promise<void> {
    if ((await this.world.until(() => this.isSettled(), 120_000)) === undefined) throw new Error(`it does not settle: ${this.picture()}`);
  }

  isSettled(): boolean {
    const { status, metadata, spec } = this.set() ?? { metadata: {} };
    const wanted = spec?.replicas ?? -1;
    const own = this.#own();
    const counts = [status?.replicas, status?.readyReplicas, status?.availableReplicas].map((count) => count ?? 0);
    const updated = wanted - (spec?.updateStrategy?.rollingUpdate?.partition ?? 0);
    return (
      metadata.generation === status?.observedGeneration &&
      counts.every((count) => count === wanted) &&
      (status?.updatedReplicas ?? 0) >= updated &&
      own.length === wanted &&
      !own.some(isGoing)
    );
  }

  set(): StatefulSet | undefined {
    return setsOf(this.world)[0];
  }

  picture(): string {
    const { world } = this;
    const set = this.set();
    const revisions = world.revisions();
    const numberOf = (name: string | undefined): string =>
      String(revisions.find(({ metadata }) => metadata.name === name)?.revision ?? '?');
    const uidOf = new Map(world.pods().map(({ metadata }) => [metadata.uid, metadata.name]));
    const whose = ({ metadata: { ownerReferences = [] } }: Pod | Pvc | Revision): string =>
      ownerReferences
        .map(({ kind, uid }) => `${kind} ${uid === set?.metadata.uid ? 'of now' : (uidOf.get(uid) ?? 'of before')}`)
        .join(', ');
    const { observedGeneration, currentRevision, updateRevision, ...numbers } = set?.status ?? {};
    return [
      ...world.pods().map((pod) => {
        const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'no';
        const revision = `@${numberOf(pod.metadata.labels?.[HASH_LABEL])}${isGoing(pod) ? ' going' : ''}`;
        return `${pod.metadata.name} (${whose(pod)}) ${pod.spec?.containers[0]?.image} ${revision} ready=${ready}`;
      }),
      ...claimsOf(world).map((claim) => `${claim.metadata.name} (${whose(claim)})${isGoing(claim) ? ' going' : ''}`),
      ...revisions.map((one) => `revision ${one.revision} (${whose(one)})`).toSorted(),
      `current ${numberOf(currentRevision)}, update ${numberOf(updateRevision)}`,
      `status ${JSON.stringify(Object.entries(numbers).toSorted(byField))} ${observedGeneration === set?.metadata.generation ? 'of now' : 'of before'}`,
    ].join('\n');
  }

  #own(): Pod[] {
    return (this.world.pods() as Pod[]).filter((pod) => controllerOf(pod)?.kind === 'StatefulSet');
  }
}

const web = { name: 'web', namespace: 'default' };

const byField = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
