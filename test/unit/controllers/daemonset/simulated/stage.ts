import type { Millis } from '../../../../../base/clock.ts';
import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { isTerminating, targetNode } from '../../../../../controllers/daemonset/pods.ts';
import type { DaemonSet, Pod } from '../../../../../controllers/daemonset/types.ts';
import { daemonSets, pods } from '../../../../../kube/api/resources.ts';
import { controllerOf } from '../../../../../kube/controller/owner-refs.ts';
import { behave } from '../../../../support/hollow/hollow-nodes.ts';
import type { HollowNode } from '../../../../support/hollow/hollow-node.ts';
import type { SimWorld } from '../../../../support/simulated/sim-world.ts';

/** A set called `web`, its users and its nodes: what a story plays on, again and again on one server and before one controller. */
export class Stage {
  readonly world: SimWorld;

  constructor(world: SimWorld) {
    this.world = world;
  }

  begin(nodes: readonly (string | HollowNode)[]): void {
    this.world.addNodes(...nodes);
  }

  /** Everything goes. @returns whether it went */
  async clear(): Promise<boolean> {
    const { world } = this;
    const { storage } = world.api.hooks;
    if (world.set() !== undefined) await this.remove();
    const gone = await world.until(
      () => this.#own().length === 0 && !world.revisions().some((one) => controllerOf(one) !== undefined),
      60_000,
    );
    for (const { metadata } of world.revisions()) storage.remove('apps/controllerrevisions', `${metadata.namespace}/${metadata.name}`);
    for (const { metadata } of world.pods()) storage.remove('/pods', `${metadata.namespace}/${metadata.name}`);
    for (const { metadata } of world.nodes()) storage.remove('/nodes', metadata.name ?? '');
    for (const { metadata } of storage.list('/events').objects) storage.remove('/events', `${metadata.namespace}/${metadata.name}`);
    // What was sent late is there by then.
    await world.clock.advance(6_000);
    return gone !== undefined;
  }

  add(set: Record<string, unknown>): void {
    this.world.api.add(set);
  }

  patch(change: object): Promise<DaemonSet> {
    return this.world.user.patch<DaemonSet>(daemonSets, { name: 'web', namespace: 'default' }, change, { type: 'strategic' });
  }

  remove(propagationPolicy = 'Background'): Promise<void> {
    return this.world.user.delete(daemonSets, { name: 'web', namespace: 'default' }, { body: { propagationPolicy } });
  }

  pass(ms: Millis): Promise<void> {
    return this.world.clock.advance(ms);
  }

  /** @throws when it takes longer than two minutes */
  async settled(): Promise<void> {
    if ((await this.world.until(() => this.isSettled(), 120_000)) === undefined) throw new Error(`it does not settle: ${this.picture()}`);
  }

  isSettled(): boolean {
    const { status, metadata } = this.world.set() ?? { metadata: {} };
    const pods = this.#own();
    const { desiredNumberScheduled: desired = -1, numberMisscheduled, numberAvailable = 0, updatedNumberScheduled = 0 } = status ?? {};
    return (
      metadata.generation === status?.observedGeneration &&
      numberMisscheduled === 0 &&
      numberAvailable === desired &&
      updatedNumberScheduled === desired &&
      pods.length === desired &&
      !pods.some(isTerminating)
    );
  }

  /** The first one of the set on this node that is not going. @throws when there is none */
  pod(node: string): Pod {
    const found = this.#own().find((pod) => targetNode(pod) === node && !isTerminating(pod));
    if (found === undefined) throw new Error(`there is no pod on ${node}`);
    return found;
  }

  podOn(node: string): { name: string; namespace: string } {
    return { name: this.pod(node).metadata.name ?? '', namespace: 'default' };
  }

  async fail(node: string): Promise<void> {
    await this.world.user.patch(pods, this.podOn(node), behave('failed:Evicted'), { type: 'merge' });
  }

  /** How everything stands, without names and times: the same for whoever did the same. */
  picture(): string {
    const set = this.world.set();
    const revisions = this.world.revisions();
    const numberOf = (hash: string | undefined): string =>
      hash === undefined ? '-' : String(revisions.find(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash)?.revision ?? '?');
    const pods = this.world.pods().map((pod) => {
      const owner = controllerOf(pod);
      const whose = owner === undefined ? 'nobody' : owner.uid === set?.metadata.uid ? 'its' : owner.kind;
      const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'no';
      const revision = numberOf(pod.metadata.labels?.[HASH_LABEL]);
      return `${targetNode(pod)} ${whose} ${imageOf(pod.spec)} @${revision} ready=${ready}${isTerminating(pod) ? ' going' : ''}`;
    });
    const { status: { observedGeneration, ...status } = {}, metadata } = set ?? { metadata: {} };
    return [
      ...pods.toSorted(),
      ...revisions.map((one) => `revision ${one.revision} ${imageOf(templateOf(one))} ${whose(one, set)}`).toSorted(),
      `status ${JSON.stringify(Object.entries(status).toSorted(byField))} ${observedGeneration === metadata.generation ? 'of now' : 'of before'}`,
    ].join('\n');
  }

  #own(): Pod[] {
    return this.world.pods().filter((pod) => controllerOf(pod)?.kind === 'DaemonSet');
  }
}

const imageOf = (spec: { containers?: { image?: string }[] } | undefined): string => spec?.containers?.[0]?.image ?? '';

function whose(revision: Revision, set: DaemonSet | undefined): string {
  return controllerOf(revision)?.uid === set?.metadata.uid ? 'its' : "another's";
}

function templateOf({ data }: Revision): Pod['spec'] {
  const { spec } = data as unknown as { spec: { template: { spec: NonNullable<Pod['spec']> } } };
  return spec.template.spec;
}

const byField = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
