import type { LocalApi } from '../../../../../apiserver/local-api.ts';
import type { Change } from '../../../../../apiserver/storage/watch-log.ts';
import type { Clock } from '../../../../../base/clock.ts';
import { availableIn } from '../../../../../controllers/common/pods.ts';
import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { rulesOf, type Rules } from '../../../../../controllers/statefulset/rules.ts';
import type { Pvc, Pod, StatefulSet } from '../../../../../controllers/common/types.ts';
import { resolveIntOrPercent } from '../../../../../kube/api/quantity.ts';
import { jsonEqual } from '../../../../../kube/api/json.ts';
import { type KubeObject, statefulSets } from '../../../../../kube/api/object.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { ordinalsOf } from '../objects.ts';
import { type PodChange, SetInvariants } from '../../simulated/invariants.ts';
import { isGoing } from './world.ts';

const ordinalOf = (name: string): number => Number(/-(\d+)$/.exec(name)?.[1] ?? -1);

/**
 * Beside {@link SetInvariants}:
 *
 * - a claim deleted by a controller, or one that went without an owner;
 * - a pod under a name that is not its own, without one of its labels or claims, of no revision, where none is wanted, or two at one ordinal;
 * - in order: a pod made, or one deleted that is well, while a lower place is not available; two going down at a time;
 * - an available pod deleted beyond the budget, while paused, below the partition, or though it is of the wanted revision and has its place.
 */
export class Invariants extends SetInvariants<StatefulSet> {
  /** Claims that people took away. */
  readonly #taken = new Set<string>();

  constructor(api: LocalApi, clock: Clock) {
    super(api, clock, statefulSets);
  }

  /** A person takes it away: it has no owner to go with. */
  takes(claim: string): void {
    this.#taken.add(claim);
  }

  protected override otherChanged(kind: string, { object, type }: Change): void {
    if (kind === '/persistentvolumeclaims' && type === 'DELETED') this.#claimGone(object as Pvc);
  }

  protected override podChanged({ object, previous, type }: PodChange): void {
    const owner = controllerOf(object) ?? (previous === undefined ? undefined : controllerOf(previous));
    if (owner?.kind !== 'StatefulSet') return;
    const set = this.setOf(owner.uid);
    if (type === 'ADDED') return this.#made(object, set, owner.uid);
    const marked = previous !== undefined && !isGoing(previous) && (type === 'DELETED' || isGoing(object));
    const ours = marked && this.deleting.has(object.metadata.uid ?? '');
    if (ours && set !== undefined) this.#deleted(previous, set);
    // What a pod does of itself is told like all else; what makes it worse may not be known when the next decision is made.
    const worse =
      previous !== undefined &&
      (availableIn(previous, 0, 0) === 0) > (availableIn(object, 0, 0) === 0 && type !== 'DELETED') &&
      !this.deleting.has(object.metadata.uid ?? '');
    const relabelled = !jsonEqual(previous?.metadata.labels ?? {}, object.metadata.labels ?? {});
    const moved = previous !== undefined && controllerOf(previous)?.uid !== controllerOf(object)?.uid;
    if (worse || relabelled || moved || (marked && !ours)) this.changed.set(`pods of ${owner.uid}`, this.clock.now());
  }

  #made(pod: Pod, set: StatefulSet | undefined, uid: string): void {
    const { name = '', namespace = '', labels = {} } = pod.metadata;
    const what = `pod ${name} is made`;
    if (set === undefined || isGoing(set)) return this.madeForNobody(what, uid);
    const rules = rulesOf(set);
    const ordinal = ordinalOf(name);
    if (name !== `${rules.name}-${ordinal}`) this.problem(`${what} under a name that is none of ${rules.name}`);
    const labelled = { 'statefulset.kubernetes.io/pod-name': name, 'apps.kubernetes.io/pod-index': String(ordinal) };
    for (const [label, value] of Object.entries(labelled))
      if (labels[label] !== value) this.problem(`${what} with ${label} ${labels[label]}`);
    if (pod.spec?.hostname !== name) this.problem(`${what} with host name ${pod.spec?.hostname}`);
    const twins = this.#podsOf(uid).filter(
      (one) => ordinalOf(one.metadata.name ?? '') === ordinal && one.metadata.uid !== pod.metadata.uid,
    );
    if (twins.length > 0) this.problem(`${what} beside ${twins.map((one) => one.metadata.name).join(', ')}`);
    const { storage } = this.api.hooks;
    for (const { metadata } of rules.claimTemplates) {
      const claim = `${metadata.name}-${name}`;
      const has = pod.spec?.volumes?.some((one) => one.name === metadata.name && one.persistentVolumeClaim?.claimName === claim);
      if (has !== true) this.problem(`${what} without its claim ${claim}`);
      if (storage.get('/persistentvolumeclaims', `${namespace}/${claim}`) === undefined && !this.isUnknown(claim))
        this.problem(`${what}, and there is no claim ${claim}`);
    }
    if (this.rivals() || this.isUnknown(uid) || this.isUnknown(`pods of ${uid}`)) {
      this.checked.excused += 1;
      return;
    }
    this.checked.creations += 1;
    if (rules.places.placeOf(ordinal) === undefined) this.problem(`${what}, which has no place`);
    const revision = storage.get('apps/controllerrevisions', `${namespace}/${labels[HASH_LABEL]}`) as Revision | undefined;
    if (revision === undefined || controllerOf(revision)?.uid !== uid)
      this.problem(`${what} of revision ${labels[HASH_LABEL]}, which is none`);
    if (!rules.parallel) this.#expectBelow(what, ordinal, set, rules);
  }

  #expectBelow(what: string, ordinal: number, set: StatefulSet, rules: Rules): void {
    const below = ordinalsOf(rules).filter((one) => one < ordinal && !this.#serves(set, rules, one));
    if (below.length > 0) this.problem(`${what} before ${below.join(', ')} can be had`);
  }

  #deleted(pod: Pod, set: StatefulSet): void {
    const { name = '', uid: podUid, labels = {} } = pod.metadata;
    const { uid = '' } = set.metadata;
    const { phase } = pod.status ?? {};
    if (phase === 'Failed' || phase === 'Succeeded') return;
    if (this.rivals() || this.isUnknown(uid) || this.isUnknown(`pods of ${uid}`)) {
      this.checked.excused += 1;
      return;
    }
    this.checked.deletions += 1;
    const rules = rulesOf(set);
    const { update, optIns, parallel } = rules;
    const ordinals = ordinalsOf(rules);
    const ordinal = ordinalOf(name);
    const place = ordinals.indexOf(ordinal);
    const others = this.#podsOf(uid).filter(({ metadata }) => metadata.uid !== podUid);
    const what = `pod ${name} is deleted`;
    if (optIns.problems.length > 0) return this.problem(`${what}, and the set's annotations cannot be read`);
    if (place < 0) {
      if (parallel) return;
      this.#expectBelow(what, ordinal, set, rules);
      const condemned = others.filter((one) => !ordinals.includes(ordinalOf(one.metadata.name ?? '')));
      const above = condemned.filter((one) => ordinalOf(one.metadata.name ?? '') > ordinal || isGoing(one));
      if (above.length > 0) this.problem(`${what} beside ${above.map(({ metadata }) => metadata.name).join(', ')}`);
      return;
    }
    if (update.type === 'OnDelete') return this.problem(`${what}, and the set updates on delete`);
    if (optIns.paused) return this.problem(`${what} while the rollout is paused`);
    if (labels[HASH_LABEL] === this.#newestOf(uid)) this.problem(`${what}, and it is of the present revision`);
    if (update.type !== 'RollingUpdate') return;
    if (place < (update.partition ?? 0)) this.problem(`${what} below the partition`);
    if (availableIn(pod, rules.minReadyMs, this.clock.now()) !== 0) return;
    // The one by one of the field counts from the top; with a budget all places count, those below the partition too.
    const counted = update.maxUnavailable === undefined ? ordinals.filter((one) => one > ordinal) : ordinals;
    const without = counted.filter((one) => one !== ordinal && !this.#serves(set, rules, one));
    const most = Math.max(1, resolveIntOrPercent(update.maxUnavailable, ordinals.length, { round: 'down' }) ?? 1);
    if (without.length >= most) this.problem(`${what}: ${without.join(', ')} are without, and ${most} may be`);
    if (!parallel && most === 1) this.#expectBelow(what, ordinal, set, rules);
  }

  #claimGone({ metadata: { name = '', ownerReferences = [] } }: Pvc): void {
    this.changed.set(name, this.clock.now());
    const isWanted = this.sets().some((set) => !isGoing(set) && name.startsWith(`data-${set.metadata.name}-`));
    if (isWanted && ownerReferences.length === 0 && !this.#taken.has(name)) this.problem(`claim ${name} went, and had no owner to go with`);
  }

  protected override podsOfRevision(revision: Revision, set: StatefulSet): Pod[] {
    return this.#podsOf(set.metadata.uid ?? '').filter(({ metadata }) => metadata.labels?.[HASH_LABEL] === revision.metadata.name);
  }

  #serves({ metadata: { uid = '' } }: StatefulSet, rules: Rules, ordinal: number): boolean {
    const pod = this.#podsOf(uid).find((one) => one.metadata.name === `${rules.name}-${ordinal}`);
    if (pod === undefined || isGoing(pod) || pod.status?.phase !== 'Running') return false;
    return availableIn(pod, rules.minReadyMs, this.clock.now()) === 0;
  }

  #newestOf(uid: string): string | undefined {
    const revisions = this.api.hooks.storage.list('apps/controllerrevisions').objects as unknown as Revision[];
    const own = revisions.filter((one) => controllerOf(one)?.uid === uid);
    return own.toSorted((a, b) => b.revision - a.revision)[0]?.metadata.name;
  }

  #podsOf(uid: string): Pod[] {
    return (this.api.hooks.storage.list('/pods').objects as unknown as (Pod & KubeObject)[]).filter(
      (pod) => controllerOf(pod)?.uid === uid,
    );
  }
}
