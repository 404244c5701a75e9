import type { LocalApi } from '../../../../../apiserver/local-api.ts';
import type { Clock } from '../../../../../base/clock.ts';
import { HASH_LABEL } from '../../../../../controllers/common/history/contract.ts';
import { availableIn } from '../../../../../controllers/common/pods.ts';
import type { Pod, StatefulSet } from '../../../../../controllers/common/types.ts';
import { type Rules, rulesOf } from '../../../../../controllers/statefulset/rules.ts';
import { statefulSets } from '../../../../../kube/api/object.ts';
import { resolveIntOrPercent } from '../../../../../kube/api/quantity.ts';
import { ordinalsOf } from '../objects.ts';
import { isGoing, SetInvariants } from '../../simulated/invariants.ts';

const ordinalOf = (pod: Pod): number => Number(/-(\d+)$/.exec(pod.metadata.name ?? '')?.[1] ?? -1);

/**
 * Beside {@link SetInvariants}: a pod without its claims, of no revision, where none is wanted, or two at one ordinal; in order, a pod made, or one that is well
 * deleted, while a lower place is not available; an available pod deleted beyond the budget, below the partition, or though it is of the wanted revision.
 */
export class Invariants extends SetInvariants<StatefulSet> {
  constructor(api: LocalApi, clock: Clock) {
    super(api, clock, statefulSets);
  }

  protected override made(pod: Pod, set: StatefulSet): void {
    const { name = '', namespace = '', uid, labels = {} } = pod.metadata;
    const { storage } = this.api.hooks;
    const rules = rulesOf(set);
    const ordinal = ordinalOf(pod);
    const what = `pod ${name} is made`;
    const own = this.podsOf(set.metadata.uid);
    if (own.some((one) => ordinalOf(one) === ordinal && one.metadata.uid !== uid)) this.problem(`${what} beside another`);
    for (const { metadata } of rules.claimTemplates)
      if (storage.get('/persistentvolumeclaims', `${namespace}/${metadata.name}-${name}`) === undefined)
        this.problem(`${what}, and has no claim ${metadata.name}`);
    if (rules.places.placeOf(ordinal) === undefined) this.problem(`${what}, which has no place`);
    if (storage.get('apps/controllerrevisions', `${namespace}/${labels[HASH_LABEL]}`) === undefined)
      this.problem(`${what} of revision ${labels[HASH_LABEL]}, which is none`);
    if (!rules.parallel) this.#expectBelow(what, ordinal, set, rules);
  }

  protected override deleted(pod: Pod, set: StatefulSet): void {
    if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') return;
    const rules = rulesOf(set);
    const { update, parallel, minReadyMs } = rules;
    const ordinals = ordinalsOf(rules);
    const ordinal = ordinalOf(pod);
    const place = ordinals.indexOf(ordinal);
    const what = `pod ${pod.metadata.name} is deleted`;
    if (place < 0) {
      if (!parallel) this.#expectBelow(what, ordinal, set, rules);
      const above = this.podsOf(set.metadata.uid).filter((one) => ordinalOf(one) > ordinal);
      if (!parallel && above.length > 0) this.problem(`${what} beside ${above.map(({ metadata }) => metadata.name).join(', ')}`);
      return;
    }
    const { updateRevision } = set.status ?? {};
    if (pod.metadata.labels?.[HASH_LABEL] === updateRevision && set.status?.observedGeneration === set.metadata.generation)
      this.problem(`${what}, and it is of the present revision`);
    if (update.type !== 'RollingUpdate') return this.problem(`${what}, and the set does not roll`);
    if (place < (update.partition ?? 0)) this.problem(`${what} below the partition`);
    if (availableIn(pod, minReadyMs, this.clock.now()) !== 0) return;
    const counted = update.maxUnavailable === undefined ? ordinals.filter((one) => one > ordinal) : ordinals;
    const without = counted.filter((one) => one !== ordinal && !this.#serves(set, rules, one));
    const most = Math.max(1, resolveIntOrPercent(update.maxUnavailable, ordinals.length, { round: 'down' }) ?? 1);
    if (without.length >= most) this.problem(`${what}: ${without.join(', ')} are without, and ${most} may be`);
    if (!parallel && most === 1) this.#expectBelow(what, ordinal, set, rules);
  }

  #expectBelow(what: string, ordinal: number, set: StatefulSet, rules: Rules): void {
    const below = ordinalsOf(rules).filter((one) => one < ordinal && !this.#serves(set, rules, one));
    if (below.length > 0) this.problem(`${what} before ${below.join(', ')} can be had`);
  }

  #serves({ metadata }: StatefulSet, rules: Rules, ordinal: number): boolean {
    const pod = this.podsOf(metadata.uid).find((one) => ordinalOf(one) === ordinal);
    if (pod === undefined || isGoing(pod) || pod.status?.phase !== 'Running') return false;
    return availableIn(pod, rules.minReadyMs, this.clock.now()) === 0;
  }
}
