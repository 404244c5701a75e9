import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { targetNode } from '../../../../../controllers/daemonset/pods.ts';
import type { DaemonSet, Pod } from '../../../../../controllers/common/types.ts';
import { daemonSets, pods } from '../../../../../kube/api/object.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { behave } from '../../../../support/hollow/hollow-nodes.ts';
import type { SimWorld } from '../../../../support/simulated/sim-world.ts';
import { SetStage } from '../../simulated/stage.ts';

/** A DaemonSet called `web`. */
export class Stage extends SetStage<DaemonSet> {
  constructor(world: SimWorld) {
    super(world, daemonSets);
  }

  add(set: Record<string, unknown>): void {
    this.world.api.add(set);
  }

  async settledWith(set: Record<string, unknown>): Promise<void> {
    this.add(set);
    await this.settled();
  }

  isSettled(): boolean {
    const { status, metadata } = this.set() ?? { metadata: {} };
    const pods = this.own();
    const { desiredNumberScheduled: desired = -1, numberMisscheduled, numberAvailable = 0, updatedNumberScheduled = 0 } = status ?? {};
    return (
      metadata.generation === status?.observedGeneration &&
      numberMisscheduled === 0 &&
      numberAvailable === desired &&
      updatedNumberScheduled === desired &&
      pods.length === desired &&
      pods.every((pod) => pod.metadata.deletionTimestamp === undefined)
    );
  }

  /** The first one of the set on this node that is not terminating. @throws when there is none */
  pod(node: string): Pod {
    const found = this.own().find((pod) => targetNode(pod) === node && pod.metadata.deletionTimestamp === undefined);
    if (found === undefined) throw new Error(`there is no pod on ${node}`);
    return found;
  }

  podOn(node: string): { name: string; namespace: string } {
    return { name: this.pod(node).metadata.name ?? '', namespace: 'default' };
  }

  async fail(node: string): Promise<void> {
    await this.world.user.patch(pods, this.podOn(node), behave('failed:Evicted'), { type: 'merge' });
  }

  /** Without names and times. */
  picture(): string {
    const set = this.set();
    const revisions = this.world.revisions();
    const numberOf = (hash: string | undefined): string =>
      hash === undefined ? '-' : String(revisions.find(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash)?.revision ?? '?');
    const whose = (owned: Pod | Revision): string => {
      const owner = controllerOf(owned);
      if (owner === undefined) return 'nobody';
      return owner.uid === set?.metadata.uid ? 'its' : owner.kind;
    };
    const { observedGeneration, ...numbers } = set?.status ?? {};
    return [
      ...this.world
        .pods()
        .map((pod) => `${targetNode(pod)} ${whose(pod)} ${this.podText(pod, numberOf)}`)
        .toSorted(),
      ...revisions.map((one) => `revision ${one.revision} ${imageOf(one)} ${whose(one)}`).toSorted(),
      this.statusText(numbers, observedGeneration),
    ].join('\n');
  }
}

function imageOf({ data }: Revision): string | undefined {
  const { spec } = data as unknown as { spec: { template: { spec: NonNullable<Pod['spec']> } } };
  return spec.template.spec.containers?.[0]?.image;
}
