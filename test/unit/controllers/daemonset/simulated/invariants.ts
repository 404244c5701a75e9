import type { LocalApi } from '../../../../../apiserver/local-api.ts';
import type { Change } from '../../../../../apiserver/storage/watch-log.ts';
import type { Clock, Millis } from '../../../../../base/clock.ts';
import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { isTerminating, isOver, targetNode } from '../../../../../controllers/daemonset/pods.ts';
import { matchesLabels } from '../../../../../kube/api/selector.ts';
import type { DaemonSet, Node, Pod } from '../../../../../controllers/daemonset/types.ts';
import { jsonEqual } from '../../../../../kube/api/json.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { mayHaveTakenEffect } from '../../../../../kube/client/errors.ts';
import type { Interceptor, SeenCall } from '../../../../support/simulated/intercepted.ts';
import type { Checked } from '../../../../support/simulated/play-randomly.ts';
import { SetView } from './set-view.ts';

const SETS = 'apps/daemonsets';

/**
 * Watches the server itself while controllers work, and notes what must never be, at the moment in which it happens:
 *
 * - a delete without a UID, a call on a pod of somebody else's;
 * - a pod made where one is (or two, while surging), where one is still going, or where none is wanted;
 * - an available pod deleted beyond the budget, while paused, outside the rollout's nodes, below the partition;
 * - a revision deleted that a pod still has.
 */
export class Invariants {
  readonly problems: string[] = [];
  readonly checked: Checked = { creations: 0, deletions: 0, excused: 0 };
  /** What changed after this (wall clock) a controller need not know yet. Infinity: it knows everything. */
  unknownSince: () => Millis = () => Infinity;
  /** Two controllers work, or did a moment ago: what both do they may do twice. */
  rivals: () => boolean = () => false;
  readonly #api: LocalApi;
  readonly #clock: Clock;
  readonly #deleting = new Set<string>();
  /** Wall clock, of the last change that a decision rests on: of sets by UID, of nodes by name. */
  readonly #changed = new Map<string, Millis>();
  /** Pods that came to a set otherwise than by being made, or that its selector may have lost and found. */
  readonly #joined = new Map<string, Millis>();
  /** Nodes of a set that have no available pod: since when, and whether a controller took it. */
  readonly #without = new Map<string, { since: Millis; ours: boolean }>();
  /** When a pod was last asked for, by set. */
  readonly #asking = new Map<string, Millis>();
  /** Creations whose answer was lost, by set and node. */
  readonly #lost = new Map<string, Millis>();

  constructor(api: LocalApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
    api.hooks.storage.onChange((kind, change) => this.#heard(kind, change));
  }

  /** Of each controller's calls. */
  readonly watching: Interceptor = {
    call: async (call, pass) => {
      this.#asked(call);
      try {
        return await pass();
      } catch (error) {
        if (call.verb === 'create' && call.resource === 'pods' && mayHaveTakenEffect(error)) this.#noteLost(call);
        throw error;
      }
    },
  };

  #asked({ verb, resource, key, body }: SeenCall): void {
    if (verb === 'delete') {
      const uid = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid ?? '';
      if (uid === '') this.#problem(`${resource} ${key} is deleted without its UID`);
      this.#deleting.add(uid);
    }
    if (verb === 'create' && resource === 'pods') this.#asking.set(controllerOf(body as Pod)?.uid ?? '', this.#clock.now());
    if (resource !== 'pods' || (verb !== 'delete' && verb !== 'patch')) return;
    const pod = this.#api.hooks.storage.get('/pods', key);
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (owner !== undefined && owner.kind !== 'DaemonSet') this.#problem(`${verb} on pod ${key}, which is of ${owner.kind} ${owner.name}`);
  }

  #noteLost({ body }: SeenCall): void {
    const pod = body as Pod;
    this.#lost.set(`${controllerOf(pod)?.uid ?? ''}/${targetNode(pod) ?? ''}`, this.#clock.now());
  }

  #heard(kind: string, change: Change): void {
    const now = this.#clock.now();
    const { object, previous, type } = change;
    const { uid = '', name = '' } = object.metadata;
    if (kind === SETS) {
      const [before, after] = [previous?.metadata, object.metadata];
      if (type === 'DELETED' || before?.generation !== after.generation || !jsonEqual(before?.annotations ?? {}, after.annotations ?? {}))
        this.#changed.set(uid, now);
    } else if (kind === '/nodes')
      this.#nodeChanged(change as { object: Node; previous: Node | undefined; type: Change['type'] }, name, now);
    else if (kind === '/pods') this.#podChanged(change as unknown as { object: Pod; previous: Pod | undefined; type: Change['type'] });
    else if (kind === 'apps/controllerrevisions' && type === 'DELETED' && this.#deleting.has(uid)) this.#revisionGone(object as Revision);
  }

  #nodeChanged(
    { object, previous, type }: { object: Node; previous: Node | undefined; type: Change['type'] },
    name: string,
    now: Millis,
  ): void {
    const same =
      type === 'MODIFIED' &&
      jsonEqual(object.metadata.labels ?? {}, previous?.metadata.labels ?? {}) &&
      jsonEqual(object.spec?.taints ?? [], previous?.spec?.taints ?? []);
    if (!same) this.#changed.set(name, now);
  }

  #podChanged({ object, previous, type }: { object: Pod; previous: Pod | undefined; type: Change['type'] }): void {
    const { uid = '' } = object.metadata;
    const owner = controllerOf(object);
    const now = this.#clock.now();
    const wasOf = previous === undefined ? undefined : controllerOf(previous)?.uid;
    const relabelled = !jsonEqual(previous?.metadata.labels ?? {}, object.metadata.labels ?? {});
    if (type === 'MODIFIED' && (owner?.uid !== wasOf || relabelled)) this.#joined.set(uid, now);
    const set = owner?.kind === 'DaemonSet' ? this.#setOf(owner.uid) : undefined;
    // Pods that people make have the names that they gave them.
    if (owner?.kind === 'DaemonSet' && type === 'ADDED' && object.metadata.generateName !== undefined) this.#made(object, set, owner.uid);
    if (set === undefined) return;
    const marked =
      type === 'DELETED'
        ? previous !== undefined && !isTerminating(previous)
        : isTerminating(object) && previous !== undefined && !isTerminating(previous);
    const ours = marked && this.#deleting.has(uid);
    this.#keepAvailability(set, object, ours);
    if (ours && previous !== undefined) this.#deleted(previous, set);
  }

  #keepAvailability(set: DaemonSet, pod: Pod, ours: boolean): void {
    const node = targetNode(pod) ?? '';
    const key = `${set.metadata.uid}/${node}`;
    if (this.#view(set).serves(node)) this.#without.delete(key);
    else if (!this.#without.has(key)) this.#without.set(key, { since: this.#clock.now(), ours });
  }

  #made(pod: Pod, set: DaemonSet | undefined, uid: string): void {
    const node = targetNode(pod);
    const what = `pod ${pod.metadata.name} is made on ${node ?? 'no node'}`;
    if (set === undefined) {
      // What is on its way when the set goes, or comes late, is the garbage collector's.
      if ((this.#asking.get(uid) ?? 0) > (this.#changed.get(uid) ?? 0) && !this.#isUnknown(uid))
        this.#problem(`${what} for a set that is gone`);
      return;
    }
    if (node === undefined) return this.#problem(what);
    const view = this.#view(set);
    const others = view.live(node).filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
    const going = view.going(node);
    const knowsSet = !this.#isUnknown(uid);
    const isExcused =
      this.rivals() ||
      others.some(({ metadata }) => (this.#joined.get(metadata.uid ?? '') ?? 0) >= this.unknownSince()) ||
      this.#wasLost(`${uid}/${node}`);
    if (isExcused) {
      this.checked.excused += 1;
      return;
    }
    this.checked.creations += 1;
    const most = view.rules.surging || !knowsSet ? 1 : 0;
    if (others.length > most) this.#problem(`${what} beside ${others.map(({ metadata }) => metadata.name).join(', ')}`);
    if (!view.rules.surging && knowsSet && going.length > 0) this.#problem(`${what} beside one that is still going`);
    if (!view.runs(node) && knowsSet && !this.#isUnknown(node)) this.#problem(`${what}, which should have none`);
  }

  #deleted(pod: Pod, set: DaemonSet): void {
    const node = targetNode(pod) ?? '';
    const { uid = '' } = set.metadata;
    const view = this.#view(set);
    if (isOver(pod) || !view.isAvailable(pod) || !isSelected(view, pod)) return;
    if (this.rivals() || this.#isUnknown(uid) || this.#isUnknown(node)) {
      this.checked.excused += 1;
      return;
    }
    if (!view.runs(node)) return;
    this.checked.deletions += 1;
    const what = `pod ${pod.metadata.name} of ${node}, which was available, is deleted`;
    const others = view.live(node);
    const { update, optIns, surging } = view.rules;
    if (others.length > 0) {
      if (surging && !others.some((one) => view.isAvailable(one)) && !this.#joinedLately([pod, ...others]))
        this.#problem(`${what} before its successor is`);
      return;
    }
    if (update.type === 'OnDelete') return this.#problem(`${what}, and the set updates on delete`);
    if (surging) return this.#problem(`${what} without a successor, and the set surges`);
    if (optIns.paused) return this.#problem(`${what} while the rollout is paused`);
    const { metadata } = view.node(node) ?? { metadata: {} };
    if (optIns.rolloutNodes !== undefined && !matchesLabels(optIns.rolloutNodes, metadata.labels))
      return this.#problem(`${what} outside of the rollout's nodes`);
    if (view.isFresh(pod)) this.#problem(`${what}, and it is of the present revision`);
    const { maxUnavailable, kept } = view.limits();
    const without = view.wanted().filter((name) => !view.serves(name) && this.#counts(uid, name));
    if (without.length > maxUnavailable)
      this.#problem(`${what}: ${without.length} nodes are without (${without.join(', ')}), and ${maxUnavailable} may be`);
    const old = view.wanted().filter((name) => view.live(name).some((one) => !view.isFresh(one)));
    if (old.length < kept) this.#problem(`${what}: ${old.length} nodes have the old revision, and ${kept} are to keep it`);
  }

  /** What became unavailable otherwise than by a controller may not be known. */
  #counts(uid: string, node: string): boolean {
    const entry = this.#without.get(`${uid}/${node}`);
    if (entry === undefined) return !this.#isUnknown(node);
    return entry.ours || entry.since < this.unknownSince();
  }

  #revisionGone(revision: Revision): void {
    const uid = controllerOf(revision)?.uid ?? '';
    const set = this.#setOf(uid);
    if (set === undefined || this.rivals() || this.unknownSince() !== Infinity) return;
    const hash = revision.metadata.labels?.[HASH_LABEL];
    const has = this.#view(set).pods.find(({ metadata }) => hash !== undefined && metadata.labels?.[HASH_LABEL] === hash);
    if (has !== undefined) this.#problem(`revision ${revision.metadata.name} is deleted, and pod ${has.metadata.name} has it`);
  }

  #joinedLately(pods: readonly Pod[]): boolean {
    return pods.some(({ metadata }) => this.#joined.has(metadata.uid ?? ''));
  }

  #wasLost(key: string): boolean {
    const at = this.#lost.get(key);
    // Where caches are told of everything at once, a lost answer is no excuse.
    return at !== undefined && this.unknownSince() !== Infinity;
  }

  #isUnknown(what: string): boolean {
    return (this.#changed.get(what) ?? 0) >= this.unknownSince();
  }

  #setOf(uid: string): DaemonSet | undefined {
    return (this.#api.hooks.storage.list(SETS).objects as unknown as DaemonSet[]).find(({ metadata }) => metadata.uid === uid);
  }

  #view(set: DaemonSet): SetView {
    const { storage } = this.#api.hooks;
    const held = {
      pods: () => storage.list('/pods').objects as unknown as Pod[],
      nodes: () => storage.list('/nodes').objects as unknown as Node[],
      revisions: () => storage.list('apps/controllerrevisions').objects as unknown as Revision[],
    };
    return new SetView(set, held, this.#clock.now());
  }

  #problem(text: string): void {
    this.problems.push(`${new Date(this.#clock.now()).toISOString().slice(11, 23)} ${text}`);
  }
}

/** Those that are not are let go, or somebody else's. */
function isSelected({ rules: { selector } }: SetView, { metadata }: Pod): boolean {
  return selector.kind === 'labels' && matchesLabels(selector.labels, metadata.labels);
}
