import type { Millis } from '../../base/clock.ts';
import type { Resource } from '../../kube/api/object.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Informer, Key } from '../../kube/cache/contract.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import { holdBack } from '../../kube/controller/hold-back.ts';
import { done, type Outcome } from '../../kube/controller/outcome.ts';
import type { OwnWrites, SeenCache } from '../../kube/controller/own-writes.ts';
import { decideFor, recordNewEvents, type SetEvent } from './events.ts';
import type { Revision } from './history/contract.ts';
import { readRevisions } from './history/read-revisions.ts';
import { ownedOrOrphaned } from './owner-index.ts';
import { tooLargeEvent } from './set-size.ts';

/** What the runner needs of the rules of a set of any kind. */
interface RulesOf<S extends KubeObject> {
  readonly set: Readonly<S>;
  /** Why nothing is done for the set; undefined: it is small enough. */
  readonly tooLarge: string | undefined;
}

/** What the author of a set should know; `about` names the subject, on each of which only what changed is told. */
export interface Warnings {
  about: string;
  events: readonly SetEvent[];
}

/** What one kind of set does in each phase of a reconcile. */
export interface SetSync<S extends KubeObject, R extends RulesOf<S>, F> {
  /** The kind. */
  resource: Resource;
  caches: { sets: Informer<S>; revisions: Informer<Revision> };
  /** Of every kind that the controller writes. */
  written: readonly SeenCache[];
  ownWrites: OwnWrites;
  events: Pick<EventRecorder, 'event'>;
  memory: {
    /** When to look again at a set that the server says is gone; undefined for any other. */
    outcomeIfNotFound(set: Readonly<S>): Outcome | undefined;
    /** Whether `text` is another than what was told last about this. */
    isNews(set: Readonly<S>, text: string, about: string): boolean;
  };
  /** Reads the set. Called at each look: memoize it. */
  rules: (set: Readonly<S>) => R;
  /** Sets for which nothing can be done, and why. Reports it where people should know. */
  unusable: (rules: R) => string | undefined;
  /** What is wrong with the set and does not stop it. */
  warnings: (rules: R) => readonly Warnings[];
  /** Facts out of the caches as they are now; it only reads. */
  observe: (key: Key, rules: R) => F;
  /** Plans and executes. @throws the first failure: the key comes back with backoff */
  sync: (key: Key, rules: R, facts: F, signal: AbortSignal) => Promise<{ wakeUps: readonly WakeUp[]; warnings?: readonly Warnings[] }>;
}

/**
 * One reconcile of a set, the same for every kind: hold back until the caches show what was written, observe, plan, execute, requeue.
 *
 * ```text
 * set is not in the cache, or not found on the server  -> nothing, or look again in a minute
 * too large, or its selector cannot be used            -> stalled: an event of the set brings it back
 * own writes are not in the caches yet                 -> requeue
 * else                                                 -> warnings, observe, sync, earliest requeue of the plan
 * ```
 * @throws what a phase threw
 */
export async function reconcileSet<S extends KubeObject, R extends RulesOf<S>, F>(
  key: Key,
  by: SetSync<S, R, F>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { caches, events, memory, ownWrites, resource } = by;
  const set = caches.sets.get(key);
  if (set === undefined) return done;
  const gone = memory.outcomeIfNotFound(set);
  if (gone !== undefined) return gone;
  const to = { events, set, resource };
  const report = ({ about, events: found }: Warnings): void => recordNewEvents(to, found, (text) => memory.isNews(set, text, about));
  const rules = decideFor(to, () => by.rules(set));
  report({ about: 'size', events: rules.tooLarge === undefined ? [] : [tooLargeEvent(rules.tooLarge)] });
  const why = rules.tooLarge ?? by.unusable(rules);
  if (why !== undefined) return { stalled: true, why };
  const held = holdBack(key, { ownWrites, caches: by.written });
  if (held !== undefined) return held;
  for (const warnings of by.warnings(rules)) report(warnings);
  await readRevisions(ownedOrOrphaned(caches.revisions, set));
  const facts = decideFor(to, () => by.observe(key, rules));
  const { wakeUps, warnings = [] } = await by.sync(key, rules, facts, signal);
  for (const one of warnings) report(one);
  return memory.outcomeIfNotFound(set) ?? earliest(wakeUps);
}

/** Look again after so long: nothing else will tell. */
export interface WakeUp {
  requeueAfter: Millis;
  why: string;
}

/** When to look again: at the first of them. There may be one for each pod. */
export function earliest(wakeUps: readonly WakeUp[]): Outcome {
  let first: WakeUp | undefined;
  for (const one of wakeUps) if (first === undefined || one.requeueAfter < first.requeueAfter) first = one;
  return first ?? done;
}

/** Reads each object once: one of a cache never changes, so what was read stays true for as long as the object is there. */
export function memoize<T extends object, R>(read: (object: T) => R): (object: T) => R {
  const known = new WeakMap<T, R>();
  return (object) => {
    const value = known.get(object) ?? read(object);
    known.set(object, value);
    return value;
  };
}
