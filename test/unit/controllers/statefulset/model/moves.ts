import { call, pod, type Layout, type State } from './state.ts';
import type { Decide } from './decision.ts';

/** What breaks a promise. */
export class Broken extends Error {}

export interface Model {
  layout: Layout;
  decide: Decide;
  /** Looks at what was decided. @throws {Broken} */
  judge: (pods: readonly number[], set: number, calls: readonly number[]) => void;
  /** Leaders may change at any time, and calls of the one before come late. */
  successors?: boolean;
  /** Calls may take effect without an answer. */
  silence?: boolean;
  /** Ways in which the world may be worse than it is. */
  without?: 'preconditions' | 'own writes';
}

/** Told of everything that may happen next. @param what - with `ordinal` it tells it apart from all others */
export type Emit = (what: string, ordinal: number, change: (state: State) => void) => void;

export const isReady = (kind: number): boolean => kind === pod.readyA || kind === pod.readyB;
const isStarting = (kind: number): boolean => kind === pod.startingA || kind === pod.startingB;

/** All that may happen in a state: to the controller, its calls, caches, kubelets, and by the hand of the user. */
export function moves(model: Model, state: State, emit: Emit): void {
  controller(model, state, emit);
  const { layout } = model;
  const room = layout.hasRoom(state);
  for (let ordinal = 0; ordinal < layout.n; ordinal++) {
    if (room) {
      callsOf(model, state, ordinal, emit);
      kubelet(layout, state, ordinal, emit);
      user(model, state, ordinal, emit);
    }
    for (const part of [layout.calls, layout.ghosts])
      if (layout.at(state, part, ordinal) !== call.none)
        emit(
          part === layout.calls ? 'the call never arrives' : 'the late call never arrives',
          ordinal,
          (next) => void (next[part + ordinal] = call.none),
        );
  }
  const wants = layout.at(state, layout.wants);
  if (wants !== layout.at(state, layout.reads))
    emit('the cache sees the set', 0, (next) => {
      next[layout.reads] = wants;
      next.fill(0, layout.taken, layout.taken + layout.n);
    });
  else
    for (let set = 0; set < 2 * (layout.n + 1); set++)
      // One thing at a time: all is reached by several edits.
      if (set >> 1 === wants >> 1 ? set !== wants : (set & 1) === (wants & 1))
        emit('the user wants', set, (next) => void (next[layout.wants] = set));
}

function controller(model: Model, state: State, emit: Emit): void {
  const { layout } = model;
  const [ahead, count] = [layout.at(state, layout.ahead), layout.at(state, layout.count)];
  // Another cache matters to a successor alone.
  if (ahead < count && model.successors !== true) emit('the leader sees an event', 0, (next) => layout.see(next));
  else if (ahead < count) emit('the leader sees an event', 0, (next) => void (next[layout.ahead] = ahead + 1));
  if (ahead > 0) emit('all caches have seen an event', 0, (next) => layout.see(next));
  if (layout.isEmpty(state, layout.calls) && (ahead >= layout.at(state, layout.owed) || model.without === 'own writes')) {
    const { pods, same } = layout.leaderSees(state);
    const set = layout.at(state, layout.reads);
    const calls = model.decide(pods, set);
    if (calls.some((kind) => kind !== call.none))
      emit('the leader decides', 0, (next) => {
        model.judge(pods, set, calls);
        for (const [ordinal, kind] of calls.entries())
          next[layout.calls + ordinal] = kind === call.delete && same[ordinal] !== 1 ? call.lateDelete : kind;
      });
  }
  if (model.successors === true && layout.isEmpty(state, layout.ghosts))
    emit('another leads', 0, (next) => {
      for (let ordinal = 0; ordinal < layout.n; ordinal++) {
        next[layout.ghosts + ordinal] = layout.at(next, layout.calls, ordinal);
        next[layout.calls + ordinal] = call.none;
        next[layout.taken + ordinal] = 0;
      }
      next[layout.ahead] = 0;
      next[layout.owed] = 0;
    });
}

/** Calls that arrive, answered or not. */
function callsOf(model: Model, state: State, ordinal: number, emit: Emit): void {
  const { layout } = model;
  const [own, ghost] = [layout.at(state, layout.calls, ordinal), layout.at(state, layout.ghosts, ordinal)];
  for (const unbound of deletesTwoWays(own, layout.at(state, layout.pods, ordinal)) ? [false, true] : [false]) {
    const arrive = (next: State): void => {
      next[layout.calls + ordinal] = call.none;
      serve(model, next, ordinal, own, { unbound, leads: true });
    };
    if (own === call.none) continue;
    emit(unbound ? 'the call arrives, the pod was on no node' : 'the call arrives', ordinal, (next) => {
      const before = layout.at(next, layout.count);
      arrive(next);
      if (layout.at(next, layout.count) > before) next[layout.owed] = layout.at(next, layout.count);
    });
    if (model.silence === true)
      emit(
        unbound ? 'the call arrives, its answer does not, the pod was on no node' : 'the call arrives, its answer does not',
        ordinal,
        arrive,
      );
  }
  for (const unbound of deletesTwoWays(ghost, layout.at(state, layout.pods, ordinal)) ? [false, true] : [false])
    if (ghost !== call.none)
      emit(unbound ? 'the late call arrives, the pod was on no node' : 'the late call arrives', ordinal, (next) => {
        next[layout.ghosts + ordinal] = call.none;
        serve(model, next, ordinal, ghost, { unbound, leads: false });
      });
}

const deletesTwoWays = (kind: number, there: number): boolean => (kind === call.delete || kind === call.lateDelete) && isStarting(there);

/** The server: names are unique, a deletion names the pod it means, and a pod on a node stays until the kubelet has ended it. */
function serve(model: Model, next: State, ordinal: number, kind: number, { unbound, leads }: { unbound: boolean; leads: boolean }): void {
  const { layout, without } = model;
  const there = layout.at(next, layout.pods, ordinal);
  if (kind === call.createA || kind === call.createB) {
    if (there === pod.none) layout.change(next, ordinal, kind === call.createA ? pod.startingA : pod.startingB);
    return;
  }
  if (there === pod.none) return;
  if (kind === call.lateDelete) {
    if (without === 'preconditions') throw new Broken(`the deletion of an earlier pod ${ordinal} takes the one that is there now`);
    return;
  }
  remove(layout, next, ordinal, unbound);
  if (leads && model.successors !== true && model.silence !== true && isReady(there)) next[layout.taken + ordinal] = 1;
}

function remove(layout: Layout, next: State, ordinal: number, unbound: boolean): void {
  const there = layout.at(next, layout.pods, ordinal);
  if (there === pod.none || there === pod.going) return;
  layout.change(next, ordinal, there === pod.failed || unbound ? pod.none : pod.going);
}

function kubelet(layout: Layout, state: State, ordinal: number, emit: Emit): void {
  const there = layout.at(state, layout.pods, ordinal);
  const to = (kind: number) => (next: State) => layout.change(next, ordinal, kind);
  if (isStarting(there)) emit('is ready', ordinal, to(there + 1));
  if (isReady(there)) emit('is not ready any more', ordinal, to(there - 1));
  if (isStarting(there) || isReady(there)) emit('fails', ordinal, to(pod.failed));
  if (there === pod.going) emit('is gone', ordinal, to(pod.none));
}

function user({ layout }: Model, state: State, ordinal: number, emit: Emit): void {
  const there = layout.at(state, layout.pods, ordinal);
  if (there === pod.none) return;
  if (there !== pod.going) emit('the user deletes', ordinal, (next) => remove(layout, next, ordinal, false));
  if (isStarting(there)) emit('the user deletes before it has a node', ordinal, (next) => remove(layout, next, ordinal, true));
}
