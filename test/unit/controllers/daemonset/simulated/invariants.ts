import type { LocalApi } from '../../../../../apiserver/local-api.ts';
import type { Clock } from '../../../../../base/clock.ts';
import { availableIn } from '../../../../../controllers/common/pods.ts';
import type { DaemonSet, Node, Pod } from '../../../../../controllers/common/types.ts';
import { decideNode } from '../../../../../controllers/daemonset/placement/node-decision.ts';
import { isOver, targetNode } from '../../../../../controllers/daemonset/pods.ts';
import { rulesOf, selects } from '../../../../../controllers/daemonset/rules.ts';
import { daemonSets } from '../../../../../kube/api/object.ts';
import { isGoing, SetInvariants } from '../../simulated/invariants.ts';

/**
 * Beside {@link SetInvariants}: a pod made where one is (or two, while surging), where one is still going, or where none is wanted; an available pod deleted
 * beyond the budget, or before its successor is available.
 */
export class Invariants extends SetInvariants<DaemonSet> {
  constructor(api: LocalApi, clock: Clock) {
    super(api, clock, daemonSets);
  }

  protected override made(pod: Pod, set: DaemonSet): void {
    // Pods that people make have the names that they gave them.
    if (pod.metadata.generateName === undefined) return;
    const rules = rulesOf(set, 'scheduler');
    const node = targetNode(pod);
    const what = `pod ${pod.metadata.name} is made on ${node ?? 'no node'}`;
    const others = this.#running(set, node).filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
    if (others.filter((one) => !isGoing(one)).length > (rules.surging ? 1 : 0)) this.problem(`${what} beside another`);
    if (!rules.surging && others.some(isGoing)) this.problem(`${what} beside one that is still going`);
    if (!this.#wanted(set).includes(node ?? '')) this.problem(`${what}, which should have none`);
  }

  protected override deleted(pod: Pod, set: DaemonSet): void {
    const rules = rulesOf(set, 'scheduler');
    const { update, surging, minReadyMs } = rules;
    const isAvailable = (one: Pod): boolean => !isGoing(one) && availableIn(one, minReadyMs, this.clock.now()) === 0;
    const node = targetNode(pod) ?? '';
    const wanted = this.#wanted(set);
    if (isOver(pod) || !isAvailable(pod) || !selects(rules)(pod) || !wanted.includes(node)) return;
    const what = `pod ${pod.metadata.name} of ${node}, which was available, is deleted`;
    const others = this.#running(set, node).filter((one) => !isGoing(one));
    if (surging && !others.some(isAvailable)) this.problem(`${what} before its successor is`);
    if (others.length > 0 || surging) return;
    if (update.type === 'OnDelete') return this.problem(`${what}, and the set updates on delete`);
    const without = wanted.filter((name) => !this.#running(set, name).some(isAvailable));
    if (without.length > Number(update.maxUnavailable)) this.problem(`${what}: ${without.join(', ')} are without`);
  }

  #wanted(set: DaemonSet): string[] {
    const { template, tolerations } = rulesOf(set, 'scheduler');
    const nodes = this.api.hooks.storage.list('/nodes').objects as unknown as Node[];
    return nodes.filter((node) => decideNode(template, tolerations, node).run).map(({ metadata }) => metadata.name ?? '');
  }

  #running({ metadata }: DaemonSet, node: string | undefined): Pod[] {
    return this.podsOf(metadata.uid).filter((pod) => targetNode(pod) === node && !isOver(pod));
  }
}
