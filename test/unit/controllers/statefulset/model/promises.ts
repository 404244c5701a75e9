import { Broken, isReady, type Model } from './moves.ts';
import { call, pod, type Layout, type State } from './state.ts';

/**
 * OrderedReady, as far as its leader knows: one thing at a time; what is made is not there, and all below it are available; what is available is taken down
 * only while all places are well, and nothing above it is still there.
 */
export const inOrder: Model['judge'] = (pods, set, calls) => {
  const replicas = set >> 1;
  const acts = calls.flatMap((kind, ordinal) => (kind === call.none ? [] : [{ kind, ordinal }]));
  if (acts.length > 1) throw new Broken('two things at once');
  for (const { kind, ordinal } of acts) {
    const below = pods.slice(0, Math.min(ordinal, replicas));
    sane(pods, set, kind, ordinal);
    if (kind !== call.delete && !below.every(isReady)) throw new Broken(`${ordinal} is made while one below is not available`);
    if (kind !== call.delete || !isReady(pods[ordinal] ?? 0)) continue;
    if (!pods.slice(0, replicas).every(isReady)) throw new Broken(`${ordinal} is taken down while a place is not available`);
    if (ordinal >= replicas && pods.slice(ordinal + 1).some((kind) => kind !== pod.none))
      throw new Broken(`${ordinal} is scaled down before those above are gone`);
  }
};

/** Parallel: what is made is not there; of what is available no more is replaced at once than may be. @param most - undefined: one, whatever is down */
export function inParallel(most?: number): Model['judge'] {
  return (pods, set, calls) => {
    const replicas = set >> 1;
    for (const [ordinal, kind] of calls.entries()) if (kind !== call.none) sane(pods, set, kind, ordinal);
    const replaced = calls.filter((kind, ordinal) => kind === call.delete && ordinal < replicas && isReady(pods[ordinal] ?? 0)).length;
    const down = most === undefined ? 0 : pods.slice(0, replicas).filter((kind) => !isReady(kind)).length;
    if (replaced > 0 && replaced > (most ?? 1) - down) throw new Broken('more is replaced at once than may be');
  };
}

/** Nothing is made that is there, or has no place; nothing is deleted that is not, or goes. */
function sane(pods: readonly number[], set: number, kind: number, ordinal: number): void {
  const there = pods[ordinal] ?? pod.none;
  if (kind === call.delete && (there === pod.none || there === pod.going)) throw new Broken(`${ordinal} is deleted and is not there`);
  if (kind === call.delete) return;
  if (there !== pod.none) throw new Broken(`${ordinal} is made and is there`);
  if (ordinal >= set >> 1) throw new Broken(`${ordinal} is made and has no place`);
}

/** On the server: of the places that were available one leader has one down at most, as long as its orders are the same. */
export function oneDown(layout: Layout): (state: State) => void {
  return (state) => {
    let taken = 0;
    for (let ordinal = 0; ordinal < layout.at(state, layout.reads) >> 1; ordinal++) taken += layout.at(state, layout.taken, ordinal);
    if (taken > 1) throw new Broken('one leader has two available places down');
  };
}
