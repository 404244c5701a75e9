import type { Random } from '../../../../base/random.ts';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Dropped, Reservation, Reservations } from '../../../../scheduler/reservation/contract.ts';
import { problemsOf } from './invariants.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import type { Node, StatefulSet } from '../../../../scheduler/types.ts';
import { node, type PodBuilder } from '../builders.ts';
import { config, info, isOurs, member, SECOND, successor, T0, web, withOwner, withReady, withStatus } from './situations.ts';

interface Standing {
  pod: PodInfo;
  at: 'placed' | 'assumed' | 'pending';
  released?: Reservation | undefined;
}

const settings = config();
const names = ['web-0', 'web-1', 'web-2', 'web-3'];
const nodeNames = ['n1', 'n2', 'n3'];

/** A StatefulSet whose pods come and go at random on nodes that do too, and whoever keeps room for them: told of everything, in some order in which it can happen. */
export class RandomWorld {
  readonly kept: Reservations = createReservations(settings, isOurs);
  readonly counts = { made: 0, restored: 0, released: 0, expired: 0, dropped: 0, eased: 0, refused: 0 };
  now = T0;
  readonly #random: Random;
  readonly #standing = new Map<string, Standing>();
  readonly #over: Reservation[] = [];
  readonly #nodes = new Map<string, Node | undefined>(nodeNames.map((name) => [name, node(name).build()]));
  #sets = 1;
  #set: StatefulSet | undefined = web();
  #uids = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** @returns what was done, and what is wrong then */
  step(): { did: string; problems: string[] } {
    const name = this.#pick(names);
    if (this.#chance(0.4)) return this.#done(this.#goOn());
    const acts = [
      () => this.#place(name),
      () => this.#place(name),
      () => this.#delete(name),
      () => this.#delete(name),
      () => this.#delete(name),
      () => this.#create(name),
      () => this.#create(name),
      () => this.#create(name),
      () => this.#refuse(name),
      () => this.#assume(name),
      () => this.#assume(name),
      () => this.#assume(name),
      () => this.#bindEnds(name),
      () => this.#bindEnds(name),
      () => this.#gone(name),
      () => this.#changeSet(),
      () => this.#changeNode(),
      () => this.#recheck(),
      () => this.#wait(),
      () => this.#rumours(name),
    ];
    return this.#done(this.#pick(acts)());
  }

  #done(did: string): { did: string; problems: string[] } {
    return { did, problems: this.problems() };
  }

  /** What comes next in a rollout. */
  #goOn(): string {
    const binding = names.find((name) => this.#standing.get(name)?.at === 'assumed');
    if (binding !== undefined && this.#chance(0.5)) return this.#bindEnds(binding);
    const { name = this.#pick(names), state } = this.kept.list()[0] ?? {};
    return state === 'claimed' ? this.#assume(name) : state === 'active' ? this.#create(name) : this.#delete(name);
  }

  problems(): string[] {
    const problems = problemsOf(this.kept, {
      isPlaced: (key) => (this.#standing.get(key.replace('default/', ''))?.at ?? 'pending') !== 'pending',
      set: (uid) => (this.#set?.metadata.uid === uid ? this.#set : undefined),
      node: (name) => this.#nodes.get(name),
      isOurs,
      ttls: settings,
      now: this.now,
    });
    const { made, restored, released, expired, dropped } = this.counts;
    if (made + restored !== released + expired + dropped + this.kept.size) problems.push('what was kept and how it ended does not add up');
    return problems;
  }

  /** Nothing happens any more. */
  settle(): void {
    for (let minutes = 0; minutes < 12; minutes++) {
      this.now += 60 * SECOND;
      this.#told(this.kept.expire(this.now));
    }
  }

  #place(name: string): string {
    const there = this.#standing.get(name);
    if (there?.at === 'assumed' || there?.at === 'placed' || this.#set === undefined) return 'nothing';
    const on = this.#pick(nodeNames);
    const pod = info(this.#owned(there === undefined ? successor(name, '1', this.#uid()) : successor(name, '1', there.pod.uid)).on(on));
    this.#standing.set(name, { pod, at: 'placed' });
    this.#told(this.kept.podPlaced(pod));
    return `place ${name} ${on}`;
  }

  #delete(name: string): string {
    const there = this.#standing.get(name);
    if (there?.at !== 'placed') return 'nothing';
    this.#standing.delete(name);
    const on = there.pod.nodeName;
    const last = this.#owned(member(name, on).uid(there.pod.uid))
      .cpu(this.#pick(['1', '2']))
      .priority(this.#pick([0, 5]));
    if (this.#chance(0.1)) withStatus(last, { conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
    const facts = {
      pod: info(last),
      unseen: this.#chance(0.1),
      set: this.#set,
      newestRevision: 'new',
      node: this.#nodes.get(on),
      now: this.now,
    };
    const { reservation, dropped } = this.kept.podDeleted(facts);
    this.#told(dropped);
    if (reservation === undefined) this.counts.refused += 1;
    else this.counts.made += 1;
    return `delete ${name} ${on}`;
  }

  #create(name: string): string {
    const there = this.#standing.get(name);
    if (there?.at === 'assumed' || there?.at === 'placed' || this.#set === undefined) return 'nothing';
    const wanted = successor(name, this.#pick(['0.5', '1', '3']), there?.pod.uid ?? this.#uid()).priority(this.#pick([-5, 0, 5]));
    if (this.#chance(0.1)) wanted.selects({ disk: 'ssd' });
    if (this.#chance(0.05)) wanted.spec({ schedulerName: 'other' });
    const pod = info(this.#owned(wanted));
    this.#standing.set(name, { pod, at: 'pending' });
    this.#see(pod);
    return `create ${name}`;
  }

  #see(pod: PodInfo): void {
    const spare = { cpu: this.#pick([-500, 0, 500, 4_000]), memory: 0, ephemeral: 0, scalars: new Map<string, number>() };
    const seen = this.kept.podSeen(pod, (on) => ({ node: this.#nodes.get(on), spare }), this.now);
    this.#told(seen.dropped);
    if (seen.eased !== undefined) this.counts.eased += 1;
  }

  #refuse(name: string): string {
    const there = this.#standing.get(name);
    if (there?.at !== 'pending') return 'nothing';
    this.kept.podFailed(there.pod, this.now);
    return `refuse ${name}`;
  }

  #assume(name: string): string {
    const there = this.#standing.get(name);
    if (there?.at !== 'pending') return 'nothing';
    const released = this.kept.assumed(there.pod);
    if (released !== undefined) this.counts.released += 1;
    this.#standing.set(name, { ...there, at: 'assumed', released });
    return `assume ${name}`;
  }

  #bindEnds(name: string): string {
    const there = this.#standing.get(name);
    if (there?.at !== 'assumed') return 'nothing';
    const { pod, released } = there;
    if (this.#chance(0.5)) {
      // The answer and what is seen of the pod come in any order, or one of them alone.
      if (released !== undefined && this.#chance(0.7)) this.kept.bound(released);
      const placed = info(this.#owned(successor(name, '1', pod.uid)).on(this.#pick(nodeNames)));
      this.#told(this.kept.podPlaced(placed));
      this.#standing.set(name, { pod: placed, at: 'placed' });
      if (released !== undefined) this.#over.push(released);
      return `bound ${name}`;
    }
    this.#standing.set(name, { pod, at: 'pending' });
    this.#restore(released);
    if (this.#chance(0.5)) this.#see(pod);
    return `unbound ${name}`;
  }

  #gone(name: string): string {
    const there = this.#standing.get(name);
    if (there === undefined || there.at === 'placed') return 'nothing';
    this.#standing.delete(name);
    const isLate = this.#chance(0.5);
    if (there.at === 'assumed' && !isLate) this.#restore(there.released);
    this.kept.pendingPodDeleted(there.pod, this.now);
    if (there.at === 'assumed' && isLate) this.#restore(there.released);
    return `gone ${name}`;
  }

  #changeSet(): string {
    const uid = (): string => `uid-web-${this.#sets}`;
    if (this.#set === undefined) {
      this.#sets += 1;
      this.#set = web({ metadata: { uid: uid() } });
      return 'new set';
    }
    const { uid: before = '' } = this.#set.metadata;
    const turn = this.#random();
    if (turn < 0.1) this.#set = undefined;
    else this.#set = web({ metadata: { uid: before, ...(turn < 0.15 ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) }, spec: { replicas: this.#pick([1, 2, 3, 4, 4]) }, ...(turn < 0.25 ? { schedulerName: 'other' } : {}) }); // prettier-ignore
    this.#told(this.kept.setChanged(before, this.#set));
    return 'change set';
  }

  #changeNode(): string {
    const name = this.#pick(nodeNames);
    const turn = this.#random();
    const of = node(name);
    if (turn < 0.05) of.cordoned();
    else if (turn < 0.1) of.taints({ key: 'k', effect: 'NoExecute' });
    else if (turn < 0.6) of.labels({ disk: 'ssd' });
    const built = turn > 0.95 ? undefined : turn > 0.9 ? withReady(of.build(), 'False') : of.build();
    this.#nodes.set(name, built);
    this.#told(this.kept.nodeChanged(name, built));
    return `change ${name}`;
  }

  #recheck(): string {
    const name = this.#pick(nodeNames);
    const most = this.#pick([500, 1_000, 4_000]);
    this.#told(this.kept.recheck(name, (together) => together.reduce((sum, { heldPod }) => sum + heldPod.requests.cpu, 0) <= most));
    return `recheck ${name}`;
  }

  #wait(): string {
    this.now += Math.round(this.#random() * this.#pick([1, 10, 100]) * SECOND);
    this.#told(this.kept.expire(this.now));
    return `wait until ${this.now - T0}`;
  }

  /** What is said too late, or twice. */
  #rumours(name: string): string {
    const old = this.#over.length > 0 ? this.#pick(this.#over) : undefined;
    if (old !== undefined) this.#restore(old);
    for (const one of this.kept.expiringWithin(5 * SECOND, this.now)) this.kept.oldStillThere(one, this.now);
    const there = this.#standing.get(name);
    if (there?.at === 'placed') this.#told(this.kept.podPlaced(there.pod));
    if (there?.at === 'pending') this.#see(there.pod);
    return 'rumours';
  }

  #restore(released: Reservation | undefined): void {
    if (released !== undefined && this.kept.restore(released, this.now) !== undefined) this.counts.restored += 1;
  }

  #told(dropped: readonly Dropped[]): void {
    for (const { result } of dropped) this.counts[result] += 1;
  }

  #owned(of: PodBuilder): PodBuilder {
    return withOwner(of, { uid: this.#set?.metadata.uid ?? 'uid-web-gone' });
  }

  #uid(): string {
    this.#uids += 1;
    return `uid-${this.#uids}`;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #pick<T>(from: readonly T[]): T {
    const one = from[Math.floor(this.#random() * from.length)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  }
}
