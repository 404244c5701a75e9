import type { LocalApi } from '../../../../../apiserver/local-api.ts';
import type { Change } from '../../../../../apiserver/storage/watch-log.ts';
import type { Clock, Millis } from '../../../../../base/clock.ts';
import { availableIn } from '../../../../../controllers/common/pods.ts';
import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { rulesOf, type Rules } from '../../../../../controllers/statefulset/rules.ts';
import type { Pvc, Pod, StatefulSet } from '../../../../../controllers/statefulset/types.ts';
import { resolveIntOrPercent } from '../../../../../kube/api/quantity.ts';
import { jsonEqual } from '../../../../../kube/api/json.ts';
import type { KubeObject } from '../../../../../kube/api/object.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { ordinalsOf } from '../ordinals.ts';
import type { Interceptor, SeenCall } from '../../../../support/simulated/intercepted.ts';
import type { Checked } from '../../../../support/simulated/play-randomly.ts';
import { isGoing } from './world.ts';

const SETS = 'apps/statefulsets';
const ordinalOf = (name: string): number => Number(/-(\d+)$/.exec(name)?.[1] ?? -1);

/**
 * Watches the server itself while controllers work, and notes what must never be, at the moment in which it happens:
 *
 * - a delete without a UID; a claim deleted by a controller; a call on a pod of somebody else's;
 * - a pod under a name that is not its own, without one of its labels or claims, of no revision, where none is wanted, or two at one ordinal;
 * - in order: a pod made, or one deleted that is well, while a lower place is not available; two going down at a time;
 * - an available pod deleted beyond the budget, while paused, below the partition, or though it is of the wanted revision and has its place;
 * - a revision deleted that a pod still has; a claim that went without an owner.
 */
export class Invariants {
  readonly problems: string[] = [];
  readonly checked: Checked = { creations: 0, deletions: 0, excused: 0 };
  /** What changed after this (wall clock) a controller need not know yet. Infinity: it knows everything. */
  unknownSince: () => Millis = () => Infinity;
  /** Two controllers work, or did a moment ago. */
  rivals: () => boolean = () => false;
  readonly #api: LocalApi;
  readonly #clock: Clock;
  readonly #deleting = new Set<string>();
  /** Wall clock, of the last change that a decision rests on: of sets, and of pods otherwise than by a controller, by UID of the set. */
  readonly #changed = new Map<string, Millis>();
  /** Creations that somebody asked for, by UID of the set. */
  readonly #asking = new Map<string, Millis>();
  /** Claims that people took away. */
  readonly #taken = new Set<string>();

  constructor(api: LocalApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
    api.hooks.storage.onChange((kind, change) => this.#heard(kind, change));
  }

  /** Of each controller's calls. */
  readonly watching: Interceptor = {
    call: (call, pass) => {
      this.#asked(call);
      return pass();
    },
  };

  /** A person takes it away: it has no owner to go with. */
  takes(claim: string): void {
    this.#taken.add(claim);
  }

  #asked({ verb, resource, key, body }: SeenCall): void {
    if (verb === 'delete') {
      const uid = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid ?? '';
      if (uid === '') this.#problem(`${resource} ${key} is deleted without its UID`);
      if (resource === 'persistentvolumeclaims') this.#problem(`claim ${key} is deleted by a controller`);
      this.#deleting.add(uid);
    }
    if (resource !== 'pods') return;
    if (verb === 'create') this.#asking.set(controllerOf(body as Pod)?.uid ?? '', this.#clock.now());
    if (verb !== 'delete' && verb !== 'patch') return;
    const pod = this.#api.hooks.storage.get('/pods', key);
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (owner !== undefined && owner.kind !== 'StatefulSet')
      this.#problem(`${verb} on pod ${key}, which is of ${owner.kind} ${owner.name}`);
  }

  #heard(kind: string, { object, previous, type }: Change): void {
    const { uid = '' } = object.metadata;
    if (kind === SETS) {
      const [before, after] = [previous?.metadata, object.metadata];
      if (type === 'DELETED' || before?.generation !== after.generation || !jsonEqual(before?.annotations ?? {}, after.annotations ?? {}))
        this.#changed.set(uid, this.#clock.now());
    } else if (kind === '/pods') this.#podChanged({ object: object as Pod, previous: previous as Pod | undefined, type });
    else if (kind === '/persistentvolumeclaims' && type === 'DELETED') this.#claimGone(object as Pvc);
    else if (kind === 'apps/controllerrevisions' && type === 'DELETED' && this.#deleting.has(uid)) this.#revisionGone(object as Revision);
  }

  #podChanged({ object, previous, type }: { object: Pod; previous: Pod | undefined; type: Change['type'] }): void {
    const owner = controllerOf(object) ?? (previous === undefined ? undefined : controllerOf(previous));
    if (owner?.kind !== 'StatefulSet') return;
    const set = this.#setOf(owner.uid);
    if (type === 'ADDED') return this.#made(object, set, owner.uid);
    const marked = previous !== undefined && !isGoing(previous) && (type === 'DELETED' || isGoing(object));
    const ours = marked && this.#deleting.has(object.metadata.uid ?? '');
    if (ours && set !== undefined) this.#deleted(previous, set);
    // What a pod does of itself is told like all else; what makes it worse may not be known when the next decision is made.
    const worse =
      previous !== undefined &&
      (availableIn(previous, 0, 0) === 0) > (availableIn(object, 0, 0) === 0 && type !== 'DELETED') &&
      !this.#deleting.has(object.metadata.uid ?? '');
    const relabelled = !jsonEqual(previous?.metadata.labels ?? {}, object.metadata.labels ?? {});
    const moved = previous !== undefined && controllerOf(previous)?.uid !== controllerOf(object)?.uid;
    if (worse || relabelled || moved || (marked && !ours)) this.#changed.set(`pods of ${owner.uid}`, this.#clock.now());
  }

  #made(pod: Pod, set: StatefulSet | undefined, uid: string): void {
    const { name = '', namespace = '', labels = {} } = pod.metadata;
    const what = `pod ${name} is made`;
    if (set === undefined || isGoing(set)) {
      // What is on its way when the set goes, or comes late, is the garbage collector's.
      if ((this.#asking.get(uid) ?? 0) > (this.#changed.get(uid) ?? 0) && !this.#isUnknown(uid))
        this.#problem(`${what} for a set that is gone`);
      return;
    }
    const rules = rulesOf(set);
    const ordinal = ordinalOf(name);
    if (name !== `${rules.name}-${ordinal}`) this.#problem(`${what} under a name that is none of ${rules.name}`);
    const labelled = { 'statefulset.kubernetes.io/pod-name': name, 'apps.kubernetes.io/pod-index': String(ordinal) };
    for (const [label, value] of Object.entries(labelled))
      if (labels[label] !== value) this.#problem(`${what} with ${label} ${labels[label]}`);
    if (pod.spec?.hostname !== name) this.#problem(`${what} with host name ${pod.spec?.hostname}`);
    const twins = this.#podsOf(uid).filter(
      (one) => ordinalOf(one.metadata.name ?? '') === ordinal && one.metadata.uid !== pod.metadata.uid,
    );
    if (twins.length > 0) this.#problem(`${what} beside ${twins.map((one) => one.metadata.name).join(', ')}`);
    const { storage } = this.#api.hooks;
    for (const { metadata } of rules.claimTemplates) {
      const claim = `${metadata.name}-${name}`;
      const has = pod.spec?.volumes?.some((one) => one.name === metadata.name && one.persistentVolumeClaim?.claimName === claim);
      if (has !== true) this.#problem(`${what} without its claim ${claim}`);
      if (storage.get('/persistentvolumeclaims', `${namespace}/${claim}`) === undefined && !this.#isUnknown(claim))
        this.#problem(`${what}, and there is no claim ${claim}`);
    }
    if (this.rivals() || this.#isUnknown(uid) || this.#isUnknown(`pods of ${uid}`)) {
      this.checked.excused += 1;
      return;
    }
    this.checked.creations += 1;
    if (rules.places.placeOf(ordinal) === undefined) this.#problem(`${what}, which has no place`);
    const revision = storage.get('apps/controllerrevisions', `${namespace}/${labels[HASH_LABEL]}`) as Revision | undefined;
    if (revision === undefined || controllerOf(revision)?.uid !== uid)
      this.#problem(`${what} of revision ${labels[HASH_LABEL]}, which is none`);
    if (!rules.parallel) this.#expectBelow(what, ordinal, set, rules);
  }

  #expectBelow(what: string, ordinal: number, set: StatefulSet, rules: Rules): void {
    const below = ordinalsOf(rules).filter((one) => one < ordinal && !this.#serves(set, rules, one));
    if (below.length > 0) this.#problem(`${what} before ${below.join(', ')} can be had`);
  }

  #deleted(pod: Pod, set: StatefulSet): void {
    const { name = '', uid: podUid, labels = {} } = pod.metadata;
    const { uid = '' } = set.metadata;
    const { phase } = pod.status ?? {};
    if (phase === 'Failed' || phase === 'Succeeded') return;
    if (this.rivals() || this.#isUnknown(uid) || this.#isUnknown(`pods of ${uid}`)) {
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
    if (optIns.problems.length > 0) return this.#problem(`${what}, and the set's annotations cannot be read`);
    if (place < 0) {
      if (parallel) return;
      this.#expectBelow(what, ordinal, set, rules);
      const condemned = others.filter((one) => !ordinals.includes(ordinalOf(one.metadata.name ?? '')));
      const above = condemned.filter((one) => ordinalOf(one.metadata.name ?? '') > ordinal || isGoing(one));
      if (above.length > 0) this.#problem(`${what} beside ${above.map(({ metadata }) => metadata.name).join(', ')}`);
      return;
    }
    if (update.type === 'OnDelete') return this.#problem(`${what}, and the set updates on delete`);
    if (optIns.paused) return this.#problem(`${what} while the rollout is paused`);
    if (labels[HASH_LABEL] === this.#newestOf(uid)) this.#problem(`${what}, and it is of the present revision`);
    if (update.type !== 'RollingUpdate') return;
    if (place < (update.partition ?? 0)) this.#problem(`${what} below the partition`);
    if (availableIn(pod, rules.minReadyMs, this.#clock.now()) !== 0) return;
    // The one by one of the field counts from the top; with a budget all places count, those below the partition too.
    const counted = update.maxUnavailable === undefined ? ordinals.filter((one) => one > ordinal) : ordinals;
    const without = counted.filter((one) => one !== ordinal && !this.#serves(set, rules, one));
    const most = Math.max(1, resolveIntOrPercent(update.maxUnavailable, ordinals.length, { round: 'down' }) ?? 1);
    if (without.length >= most) this.#problem(`${what}: ${without.join(', ')} are without, and ${most} may be`);
    if (!parallel && most === 1) this.#expectBelow(what, ordinal, set, rules);
  }

  #claimGone({ metadata: { name = '', ownerReferences = [] } }: Pvc): void {
    this.#changed.set(name, this.#clock.now());
    const isWanted = this.#sets().some((set) => !isGoing(set) && name.startsWith(`data-${set.metadata.name}-`));
    if (isWanted && ownerReferences.length === 0 && !this.#taken.has(name))
      this.#problem(`claim ${name} went, and had no owner to go with`);
  }

  #revisionGone(revision: Revision): void {
    const uid = controllerOf(revision)?.uid ?? '';
    if (this.#setOf(uid) === undefined || this.rivals() || this.unknownSince() !== Infinity) return;
    const { name } = revision.metadata;
    const has = this.#podsOf(uid).find(({ metadata }) => metadata.labels?.[HASH_LABEL] === name);
    if (has !== undefined) this.#problem(`revision ${name} is deleted, and pod ${has.metadata.name} has it`);
  }

  #serves({ metadata: { uid = '' } }: StatefulSet, rules: Rules, ordinal: number): boolean {
    const pod = this.#podsOf(uid).find((one) => one.metadata.name === `${rules.name}-${ordinal}`);
    if (pod === undefined || isGoing(pod) || pod.status?.phase !== 'Running') return false;
    return availableIn(pod, rules.minReadyMs, this.#clock.now()) === 0;
  }

  #newestOf(uid: string): string | undefined {
    const revisions = this.#api.hooks.storage.list('apps/controllerrevisions').objects as unknown as Revision[];
    const own = revisions.filter((one) => controllerOf(one)?.uid === uid);
    return own.toSorted((a, b) => b.revision - a.revision)[0]?.metadata.name;
  }

  #isUnknown(what: string): boolean {
    return (this.#changed.get(what) ?? 0) >= this.unknownSince();
  }

  #podsOf(uid: string): Pod[] {
    return (this.#api.hooks.storage.list('/pods').objects as unknown as (Pod & KubeObject)[]).filter(
      (pod) => controllerOf(pod)?.uid === uid,
    );
  }

  #setOf(uid: string): StatefulSet | undefined {
    return this.#sets().find(({ metadata }) => metadata.uid === uid);
  }

  #sets(): StatefulSet[] {
    return this.#api.hooks.storage.list(SETS).objects as unknown as StatefulSet[];
  }

  #problem(text: string): void {
    this.problems.push(`${new Date(this.#clock.now()).toISOString().slice(11, 23)} ${text}`);
  }
}
