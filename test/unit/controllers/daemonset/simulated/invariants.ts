import type { LocalApi } from '../../../../../apiserver/local-api.ts';
import type { Change } from '../../../../../apiserver/storage/watch-log.ts';
import type { Clock, Millis } from '../../../../../base/clock.ts';
import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { isTerminating, isOver, targetNode } from '../../../../../controllers/daemonset/pods.ts';
import { matchesLabels } from '../../../../../kube/api/selector.ts';
import type { DaemonSet, Node, Pod } from '../../../../../controllers/common/types.ts';
import { jsonEqual } from '../../../../../kube/api/json.ts';
import { daemonSets } from '../../../../../kube/api/object.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { mayHaveTakenEffect } from '../../../../../kube/client/errors.ts';
import type { SeenCall } from '../../../../support/simulated/intercepted.ts';
import { type PodChange, SetInvariants } from '../../simulated/invariants.ts';
import { SetView } from './set-view.ts';

/**
 * Beside {@link SetInvariants}:
 *
 * - a pod made where one is (or two, while surging), where one is still going, or where none is wanted;
 * - an available pod deleted beyond the budget, while paused, outside the rollout's nodes, below the partition.
 */
export class Invariants extends SetInvariants<DaemonSet> {
  /** Pods that came to a set otherwise than by being made, or that its selector may have lost and found. */
  readonly #joined = new Map<string, Millis>();
  /** Nodes of a set that have no available pod: since when, and whether a controller took it. */
  readonly #without = new Map<string, { since: Millis; ours: boolean }>();
  /** Creations whose answer was lost, by set and node. */
  readonly #lost = new Map<string, Millis>();

  constructor(api: LocalApi, clock: Clock) {
    super(api, clock, daemonSets);
  }

  protected override async passed(call: SeenCall, pass: () => Promise<unknown>): Promise<unknown> {
    try {
      return await pass();
    } catch (error) {
      if (call.verb === 'create' && call.resource === 'pods' && mayHaveTakenEffect(error)) this.#noteLost(call);
      throw error;
    }
  }

  #noteLost({ body }: SeenCall): void {
    const pod = body as Pod;
    this.#lost.set(`${controllerOf(pod)?.uid ?? ''}/${targetNode(pod) ?? ''}`, this.clock.now());
  }

  protected override otherChanged(kind: string, { object, previous, type }: Change): void {
    if (kind !== '/nodes') return;
    const [node, before] = [object as Node, previous as Node | undefined];
    const same =
      type === 'MODIFIED' &&
      jsonEqual(node.metadata.labels ?? {}, before?.metadata.labels ?? {}) &&
      jsonEqual(node.spec?.taints ?? [], before?.spec?.taints ?? []);
    if (!same) this.changed.set(node.metadata.name ?? '', this.clock.now());
  }

  protected override podChanged({ object, previous, type }: PodChange): void {
    const { uid = '' } = object.metadata;
    const owner = controllerOf(object);
    const now = this.clock.now();
    const wasOf = previous === undefined ? undefined : controllerOf(previous)?.uid;
    const relabelled = !jsonEqual(previous?.metadata.labels ?? {}, object.metadata.labels ?? {});
    if (type === 'MODIFIED' && (owner?.uid !== wasOf || relabelled)) this.#joined.set(uid, now);
    const set = owner?.kind === 'DaemonSet' ? this.setOf(owner.uid) : undefined;
    // Pods that people make have the names that they gave them.
    if (owner?.kind === 'DaemonSet' && type === 'ADDED' && object.metadata.generateName !== undefined) this.#made(object, set, owner.uid);
    if (set === undefined) return;
    const marked =
      type === 'DELETED'
        ? previous !== undefined && !isTerminating(previous)
        : isTerminating(object) && previous !== undefined && !isTerminating(previous);
    const ours = marked && this.deleting.has(uid);
    this.#keepAvailability(set, object, ours);
    if (ours && previous !== undefined) this.#deleted(previous, set);
  }

  #keepAvailability(set: DaemonSet, pod: Pod, ours: boolean): void {
    const node = targetNode(pod) ?? '';
    const key = `${set.metadata.uid}/${node}`;
    if (this.#view(set).serves(node)) this.#without.delete(key);
    else if (!this.#without.has(key)) this.#without.set(key, { since: this.clock.now(), ours });
  }

  #made(pod: Pod, set: DaemonSet | undefined, uid: string): void {
    const node = targetNode(pod);
    const what = `pod ${pod.metadata.name} is made on ${node ?? 'no node'}`;
    if (set === undefined) return this.madeForNobody(what, uid);
    if (node === undefined) return this.problem(what);
    const view = this.#view(set);
    const others = view.live(node).filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
    const going = view.going(node);
    const knowsSet = !this.isUnknown(uid);
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
    if (others.length > most) this.problem(`${what} beside ${others.map(({ metadata }) => metadata.name).join(', ')}`);
    if (!view.rules.surging && knowsSet && going.length > 0) this.problem(`${what} beside one that is still going`);
    if (!view.runs(node) && knowsSet && !this.isUnknown(node)) this.problem(`${what}, which should have none`);
  }

  #deleted(pod: Pod, set: DaemonSet): void {
    const node = targetNode(pod) ?? '';
    const { uid = '' } = set.metadata;
    const view = this.#view(set);
    if (isOver(pod) || !view.isAvailable(pod) || !isSelected(view, pod)) return;
    if (this.rivals() || this.isUnknown(uid) || this.isUnknown(node)) {
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
        this.problem(`${what} before its successor is`);
      return;
    }
    if (update.type === 'OnDelete') return this.problem(`${what}, and the set updates on delete`);
    if (surging) return this.problem(`${what} without a successor, and the set surges`);
    if (optIns.paused) return this.problem(`${what} while the rollout is paused`);
    const { metadata } = view.node(node) ?? { metadata: {} };
    if (optIns.rolloutNodes !== undefined && !matchesLabels(optIns.rolloutNodes, metadata.labels))
      return this.problem(`${what} outside of the rollout's nodes`);
    if (view.isFresh(pod)) this.problem(`${what}, and it is of the present revision`);
    const { maxUnavailable, kept } = view.limits();
    const without = view.wanted().filter((name) => !view.serves(name) && this.#counts(uid, name));
    if (without.length > maxUnavailable)
      this.problem(`${what}: ${without.length} nodes are without (${without.join(', ')}), and ${maxUnavailable} may be`);
    const old = view.wanted().filter((name) => view.live(name).some((one) => !view.isFresh(one)));
    if (old.length < kept) this.problem(`${what}: ${old.length} nodes have the old revision, and ${kept} are to keep it`);
  }

  /** What became unavailable otherwise than by a controller may not be known. */
  #counts(uid: string, node: string): boolean {
    const entry = this.#without.get(`${uid}/${node}`);
    if (entry === undefined) return !this.isUnknown(node);
    return entry.ours || entry.since < this.unknownSince();
  }

  protected override podsOfRevision({ metadata: { labels } }: Revision, set: DaemonSet): Pod[] {
    const hash = labels?.[HASH_LABEL];
    return this.#view(set).pods.filter(({ metadata }) => hash !== undefined && metadata.labels?.[HASH_LABEL] === hash);
  }

  #joinedLately(pods: readonly Pod[]): boolean {
    return pods.some(({ metadata }) => this.#joined.has(metadata.uid ?? ''));
  }

  #wasLost(key: string): boolean {
    const at = this.#lost.get(key);
    // Where caches are told of everything at once, a lost answer is no excuse.
    return at !== undefined && this.unknownSince() !== Infinity;
  }

  #view(set: DaemonSet): SetView {
    const { storage } = this.api.hooks;
    const held = {
      pods: () => storage.list('/pods').objects as unknown as Pod[],
      nodes: () => storage.list('/nodes').objects as unknown as Node[],
      revisions: () => storage.list('apps/controllerrevisions').objects as unknown as Revision[],
    };
    return new SetView(set, held, this.clock.now());
  }
}

/** Those that are not are let go, or somebody else's. */
function isSelected({ rules: { selector } }: SetView, { metadata }: Pod): boolean {
  return selector.kind === 'labels' && matchesLabels(selector.labels, metadata.labels);
}
