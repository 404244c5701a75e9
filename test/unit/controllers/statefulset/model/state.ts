/**
 * The state of a small world, as a row of small numbers: one set, its pods on the server, what the caches have of them, and the calls that are under way.
 *
 * | part | |
 * | --- | --- |
 * | pods | one for each ordinal, as the server has it: see {@link pod} |
 * | seen, same | the slowest cache: its pod, and whether it is the one that the server has |
 * | events | changes of pods that the slowest cache has not seen, oldest first; the leader has seen the first `ahead` of them |
 * | owed | so many of them the leader must have seen before it decides: its own writes |
 * | wants, reads | the set: what its author wants, and what the cache has of it |
 */
export interface Shape {
  /** Ordinals 0 to n-1. */
  n: number;
  /** Events that the slowest cache may be behind. */
  lag: number;
}

/** Starting: not ready, of revision A or B. What has ended or is going is of no revision: nothing depends on it. */
export const pod = { none: 0, startingA: 1, readyA: 2, startingB: 3, readyB: 4, failed: 5, going: 6 } as const;
/** A deletion is late when the pod that it was decided on is gone. */
export const call = { none: 0, createA: 1, createB: 2, delete: 3, lateDelete: 4 } as const;

export type State = number[];

/** Where the parts are in the row. */
export class Layout {
  readonly n: number;
  readonly lag: number;
  readonly pods = 0;
  readonly seen: number;
  readonly same: number;
  /** The leader's. */
  readonly calls: number;
  /** An earlier leader's. */
  readonly ghosts: number;
  /** The pod was available, and this leader took it down, the set being as it is. */
  readonly taken: number;
  /** `2 * replicas + template`. */
  readonly wants: number;
  readonly reads: number;
  readonly ahead: number;
  readonly owed: number;
  readonly count: number;
  /** Three numbers each: ordinal, pod, same. */
  readonly events: number;
  readonly size: number;

  constructor({ n, lag }: Shape) {
    this.n = n;
    this.lag = lag;
    [this.seen, this.same, this.calls, this.ghosts, this.taken, this.wants] = [n, 2 * n, 3 * n, 4 * n, 5 * n, 6 * n];
    this.reads = this.wants + 1;
    this.ahead = this.wants + 2;
    this.owed = this.wants + 3;
    this.count = this.wants + 4;
    this.events = this.wants + 5;
    this.size = this.events + 3 * lag;
  }

  /** No pods, none wanted. */
  empty(): State {
    return Array.from({ length: this.size }, () => 0);
  }

  at(state: State, part: number, ordinal = 0): number {
    return state[part + ordinal] ?? 0;
  }

  /** Pods as the leader's cache has them, and whether each is the one that the server has. */
  leaderSees(state: State): { pods: number[]; same: number[] } {
    const pods = state.slice(this.seen, this.seen + this.n);
    const same = state.slice(this.same, this.same + this.n);
    for (let at = this.events; at < this.events + 3 * this.at(state, this.ahead); at += 3) {
      const ordinal = this.at(state, at);
      pods[ordinal] = this.at(state, at + 1);
      same[ordinal] = this.at(state, at + 2);
    }
    return { pods, same };
  }

  isEmpty(state: State, part: number): boolean {
    for (let at = part; at < part + this.n; at++) if (state[at] !== 0) return false;
    return true;
  }

  hasRoom(state: State): boolean {
    return this.at(state, this.count) < this.lag;
  }

  /** The server has another state of a pod; caches will hear of it. */
  change(state: State, ordinal: number, to: number): void {
    state[this.pods + ordinal] = to;
    if (to === pod.none) this.#forget(state, ordinal);
    const count = this.at(state, this.count);
    if (count >= this.lag) throw new RangeError('no room for another event');
    const at = this.events + 3 * count;
    [state[at], state[at + 1], state[at + 2]] = [ordinal, to, to === pod.none ? 0 : 1];
    state[this.count] = count + 1;
  }

  /** Revisions have no names of their own: the one that is wanted is called A. */
  rename(state: State): void {
    if ((this.at(state, this.wants) & 1) === 0) return;
    state[this.wants] = this.at(state, this.wants) ^ 1;
    state[this.reads] = this.at(state, this.reads) ^ 1;
    for (let ordinal = 0; ordinal < this.n; ordinal++) {
      for (const part of [this.pods, this.seen]) state[part + ordinal] = otherPod(this.at(state, part, ordinal));
      for (const part of [this.calls, this.ghosts]) state[part + ordinal] = otherCall(this.at(state, part, ordinal));
    }
    for (let at = this.events; at < this.events + 3 * this.at(state, this.count); at += 3) state[at + 1] = otherPod(this.at(state, at + 1));
  }

  /** What anybody still has of the pod is of one that is gone. */
  #forget(state: State, ordinal: number): void {
    state[this.same + ordinal] = 0;
    state[this.taken + ordinal] = 0;
    for (let at = this.events; at < this.events + 3 * this.at(state, this.count); at += 3) if (state[at] === ordinal) state[at + 2] = 0;
    for (const part of [this.calls, this.ghosts]) if (state[part + ordinal] === call.delete) state[part + ordinal] = call.lateDelete;
  }

  /** The slowest cache sees one event. */
  see(state: State): void {
    const [ordinal, to, same] = [this.at(state, this.events), this.at(state, this.events, 1), this.at(state, this.events, 2)];
    state[this.seen + ordinal] = to;
    state[this.same + ordinal] = same;
    state.copyWithin(this.events, this.events + 3);
    const count = this.at(state, this.count) - 1;
    state.fill(0, this.events + 3 * count);
    state[this.count] = count;
    state[this.ahead] = Math.max(0, this.at(state, this.ahead) - 1);
    state[this.owed] = Math.max(0, this.at(state, this.owed) - 1);
  }
}

const otherPod = (kind: number): number => (kind < pod.startingA || kind > pod.readyB ? kind : ((kind - 1) ^ 2) + 1);
const otherCall = (kind: number): number => (kind === call.createA || kind === call.createB ? kind ^ 3 : kind);

const names = ['-', 'A!', 'A', 'B!', 'B', '#', '~'];
const callNames = ['', 'create A', 'create B', 'delete', 'late delete'];

/** For people. */
export function inWords(layout: Layout, state: State): string {
  const { n } = layout;
  const row = (pods: readonly number[]): string => pods.map((kind) => names[kind] ?? '?').join(' ');
  const calls = (part: number): string =>
    state
      .slice(part, part + n)
      .flatMap((kind, ordinal) => (kind === 0 ? [] : [`${callNames[kind]} ${ordinal}`]))
      .join(', ');
  const set = (value: number): string => `${value >> 1}x${(value & 1) === 0 ? 'A' : 'B'}`;
  const parts = [
    `pods ${row(state.slice(0, n))}`,
    `leader sees ${row(layout.leaderSees(state).pods)}`,
    `wants ${set(layout.at(state, layout.wants))}, reads ${set(layout.at(state, layout.reads))}`,
    calls(layout.calls),
    calls(layout.ghosts) === '' ? '' : `an earlier leader: ${calls(layout.ghosts)}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}
