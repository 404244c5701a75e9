import type { Revision } from '../../../../../controllers/common/history/contract.ts';
import type { Pvc, Pod, StatefulSet } from '../../../../../controllers/common/types.ts';
import { pods, statefulSets } from '../../../../../kube/api/object.ts';
import { behave } from '../../../../support/hollow/hollow-nodes.ts';
import type { SimWorld } from '../../../../support/simulated/sim-world.ts';
import { SetStage } from '../../simulated/stage.ts';
import { isGoing } from '../../simulated/invariants.ts';
import { claimsOf, NODE, statefulSet } from './world.ts';

type Spec = NonNullable<StatefulSet['spec']>;

/** A StatefulSet called `web`. */
export class Stage extends SetStage<StatefulSet> {
  constructor(world: SimWorld) {
    super(world, statefulSets);
  }

  /** On one node. */
  override begin(): void {
    super.begin([NODE]);
  }

  /** Makes the set. */
  make(spec: Partial<Spec> = {}, annotations: Record<string, string> = {}): void {
    this.world.api.add(statefulSet('web', spec, annotations));
  }

  async settledWith(spec: Partial<Spec> = {}, annotations: Record<string, string> = {}): Promise<void> {
    this.make(spec, annotations);
    await this.settled();
  }

  async scale(replicas: number): Promise<void> {
    await this.patch({ spec: { replicas } });
  }

  async fail(ordinal: number): Promise<void> {
    await this.world.user.patch(pods, { name: `web-${ordinal}`, namespace: 'default' }, behave('failed:Evicted'), { type: 'merge' });
  }

  isSettled(): boolean {
    const { status, metadata, spec } = this.set() ?? { metadata: {} };
    const wanted = spec?.replicas ?? -1;
    const own = this.own();
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

  /** Without times. */
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
      ...world.pods().map((pod) => `${pod.metadata.name} (${whose(pod)}) ${this.podText(pod, numberOf)}`),
      ...claimsOf(world).map((claim) => `${claim.metadata.name} (${whose(claim)})${isGoing(claim) ? ' terminating' : ''}`),
      ...revisions.map((one) => `revision ${one.revision} (${whose(one)})`).toSorted(),
      `current ${numberOf(currentRevision)}, update ${numberOf(updateRevision)}`,
      this.statusText(numbers, observedGeneration),
    ].join('\n');
  }
}
