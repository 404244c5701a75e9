import type { Millis } from '../../base/clock.ts';
import type { InTurns } from '../../base/waiting.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import { type Informer, type Key, objectKey } from '../../kube/cache/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ClaimPlan } from '../../kube/controller/claim.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import { holdBack, type OwnWrites, type SeenCache } from '../../kube/controller/own-writes.ts';
import { done, failedWith, type Outcome } from '../../kube/controller/controller.ts';
import type { Turns } from '../../kube/controller/workers.ts';
import { decideFor, decideInTurns, recordNewEvents, refusalOf, type SetEvent } from './events.ts';
import type { HistoryPlan, Revision } from './history/contract.ts';
import { ownedOrOrphaned } from '../../kube/controller/owners.ts';
import { type Condition, conditionsOnto } from './status.ts';
import type { SetMemory } from './set-memory.ts';
import { tooLargeEvent } from './set-size.ts';
import { writeStatus } from './set-writer.ts';
import { readData } from './history/revision.ts';

/** A set of any kind with a status. */
interface StatusOwner extends KubeObject {
  status?: { conditions?: Condition[] };
}

/** What `reconcileSet` needs from the rules of a set of any kind. */
interface RulesOf<S extends KubeObject> {
  readonly set: Readonly<S>;
  /** Why the set is not synced; undefined: it is small enough. */
  readonly tooLarge: string | undefined;
}

/**
 * What the author of a set should know; `about` names the subject. An event is recorded only when its text differs from the last one about the same
 * subject.
 */
export interface Warnings {
  about: string;
  events: readonly SetEvent[];
}

/** The result of planning ownership: the first writes of a reconcile. */
interface Ownership {
  adoption: { pods: ClaimPlan<KubeObject>; revisions: ClaimPlan<Revision> };
  history: Pick<HistoryPlan, 'steps'>;
}

/** What the plans of all kinds have in common. */
interface AnyPlan {
  /** Warnings to record once the plan is executed. */
  warnings?: readonly Warnings[];
  wakeUps: readonly WakeUp[];
}

/** The result of executing a plan. */
export interface Executed {
  /** In the order in which they occurred; the first one fails the reconcile after the status is written. */
  failures: unknown[];
}

/** What one kind of set does in each phase of a reconcile. The planning functions are pure and called once per reconcile. */
export interface SetSync<S extends StatusOwner, R extends RulesOf<S>, O, F extends Ownership, P extends AnyPlan, D extends Executed> {
  /** The kind. */
  resource: Resource;
  client: Client;
  caches: { sets: Informer<S>; revisions: Informer<Revision> };
  /** All caches of the controller, among them those of every kind that it writes. */
  allCaches: readonly SeenCache[];
  ownWrites: OwnWrites;
  events: Pick<EventRecorder, 'event'>;
  memory: SetMemory;
  /** Of the controller's sets together. */
  turns: Turns;
  /** Reads the set. Called at each reconcile: memoize it. */
  rules: (set: Readonly<S>) => R;
  /** Why the set cannot be synced; undefined when it can. May record an event. */
  unusable: (rules: R) => string | undefined;
  /** Problems of the set that do not stop the sync. */
  warnings: (rules: R) => readonly Warnings[];
  /** Reads what the caches have of the set. */
  observe: (key: Key, rules: R) => O;
  /** Which objects are adopted and released, and which steps put the history in order; undefined: requeue at once, there is more to read. */
  planOwnership: (observed: O) => F | undefined;
  /**
   * Adopts, releases, and executes the steps of the history. Not called when there are none.
   * @returns the facts as the server has them now, such as another name for a revision: `plan` gets these
   * @throws the first failure: the reconcile ends, because it is unknown what the set owns
   */
  executeOwnership: (facts: F, signal: AbortSignal) => Promise<F>;
  /**
   * Plans pods and the objects that belong to them, and which old revisions to delete. Caches may change between its steps: each object is looked at once,
   * and what changes enqueues the set again.
   */
  plan: (facts: F) => InTurns<P>;
  execute: (key: Key, facts: F, plan: P, signal: AbortSignal) => Promise<D>;
  planStatus: (facts: F, plan: P, executed: D) => StatusPlan<S>;
  /** Drops all memory of a set: when it is deleted, and at the end of a reconcile in which it was, since that may have added entries after the delete event. */
  forget: (key: Key, uid: string) => void;
  /** Status fields for which the server's value wins over the plan's. @default none */
  keptStatus?: (onto: Readonly<S>) => object;
}

/** Whether to write the status. */
export interface StatusPlan<S extends StatusOwner> {
  /** undefined: the status is already right, or is not to be written yet. */
  status: S['status'] | undefined;
  wakeUps: readonly WakeUp[];
}

/**
 * One reconcile of a set, the same for every kind.
 *
 * ```text
 * set is not in the cache, or not found on the server  -> nothing, or requeue after a minute
 * too large, or its selector cannot be used            -> stalled: the next event of the set enqueues it
 * own writes are not in the caches yet                 -> requeue
 * else: warnings
 *       observe                                        -> what the caches have; requeue at once when there is more to read than one turn allows
 *       plan ownership; execute it, if there is any    -> facts, as the server has them now
 *       plan, in as many turns as it takes; execute    -> pods and what belongs to them, old revisions
 *       plan the status, write it                      -> also when execute failed
 *       requeue                                        -> after the shortest time that a plan asks for
 * ```
 * @throws what a phase threw, or the first failure of execute when no plan asks for a requeue: the key is requeued with backoff
 */
export async function reconcileSet<
  S extends StatusOwner,
  R extends RulesOf<S>,
  O,
  F extends Ownership,
  P extends AnyPlan,
  D extends Executed,
>(key: Key, by: SetSync<S, R, O, F, P, D>, signal: AbortSignal): Promise<Outcome> {
  const set = by.caches.sets.get(key);
  if (set === undefined) return done;
  const { uid = '' } = set.metadata;
  try {
    return await reconcileThis(key, set, by, signal);
  } finally {
    if (by.caches.sets.get(key)?.metadata.uid !== uid) by.forget(key, uid);
  }
}

async function reconcileThis<S extends StatusOwner, R extends RulesOf<S>, O, F extends Ownership, P extends AnyPlan, D extends Executed>(
  key: Key,
  set: Readonly<S>,
  by: SetSync<S, R, O, F, P, D>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { caches, events, memory, ownWrites, resource } = by;
  const notFound = memory.outcomeIfNotFound(set);
  if (notFound !== undefined) return notFound;
  const to = { events, set, resource };
  const report = ({ about, events: found }: Warnings): void => recordNewEvents(to, found, (text) => memory.isNewText(set, text, about));
  const rules = decideFor(to, () => by.rules(set));
  report({ about: 'size', events: rules.tooLarge === undefined ? [] : [tooLargeEvent(rules.tooLarge)] });
  const why = rules.tooLarge ?? by.unusable(rules);
  if (why !== undefined) return { stalled: true, why };
  const held = holdBack(key, { ownWrites, caches: by.allCaches });
  if (held !== undefined) return held;
  for (const warnings of by.warnings(rules)) report(warnings);
  await readRevisions(ownedOrOrphaned(caches.revisions, set), by.turns);
  const planned = decideFor(to, () => by.planOwnership(by.observe(key, rules)));
  if (planned === undefined) return { requeueAfter: 0, why: 'there are more nodes to count' };
  const reportOwnership = (refused: readonly SetEvent[]): void => report({ about: 'ownership', events: refused });
  const failed = (error: unknown): never => {
    reportOwnership(refusalOf(error));
    throw error;
  };
  const facts = isInOrder(planned) ? planned : await by.executeOwnership(planned, signal).catch(failed);
  reportOwnership([]);
  const plan = await by.turns.run(
    decideInTurns(to, () => by.plan(facts)),
    signal,
  );
  const executed = await by.execute(key, facts, plan, signal);
  const { status, wakeUps } = by.planStatus(facts, plan, executed);
  const { failures } = executed;
  if (status !== undefined) await executeStatus(by, set, status, signal).catch((error: unknown) => failures.push(error));
  signal.throwIfAborted();
  const next = memory.outcomeIfNotFound(set) ?? earliest([...plan.wakeUps, ...wakeUps]);
  if (failures.length > 0) return failedWith(failures[0], next);
  for (const warnings of plan.warnings ?? []) report(warnings);
  return next;
}

function isInOrder({ adoption: { pods, revisions }, history }: Ownership): boolean {
  return history.steps.length === 0 && [pods, revisions].every(({ adopt, release }) => adopt.length === 0 && release.length === 0);
}

/** Remembers a set that the server does not find: the cache may have it for a while yet. */
async function executeStatus<S extends StatusOwner>(
  {
    client,
    resource,
    caches,
    ownWrites,
    memory,
    keptStatus,
  }: Pick<SetSync<S, never, never, never, never, never>, 'client' | 'resource' | 'caches' | 'ownWrites' | 'memory' | 'keptStatus'>,
  set: Readonly<S>,
  status: NonNullable<S['status']>,
  signal: AbortSignal,
): Promise<void> {
  const key = objectKey(set);
  // Set even when undefined, so that obsolete conditions are removed.
  const change = (onto: Readonly<S>): object => ({
    ...status,
    conditions: conditionsOnto(onto.status?.conditions, status.conditions),
    ...keptStatus?.(onto),
  });
  const wrote = (written: S): void => {
    ownWrites.wrote(key, caches.sets, written);
    memory.statusWritten({ set });
  };
  const isThere = await writeStatus({ client, resource, set, change, wrote }, signal);
  // Not once the cache has dropped the set: no delete event would remove the entry.
  if (!isThere && caches.sets.get(key)?.metadata.uid === set.metadata.uid) memory.notFound({ set });
}

/** When to reconcile again: no event of an object marks that moment. */
export interface WakeUp {
  requeueAfter: Millis;
  why: string;
}

/** Requeues at the earliest wake-up. There may be one for each pod. */
export function earliest(wakeUps: readonly WakeUp[]): Outcome {
  let first: WakeUp | undefined;
  for (const one of wakeUps) if (first === undefined || one.requeueAfter < first.requeueAfter) first = one;
  return first ?? done;
}

/** Max characters of templates hashed in one turn of the event loop: a few ms. */
const MAX_TURN_TEXT = 2 ** 19;
/** Fixed cost of each revision, in characters. */
const EACH = 200;

/**
 * Computes the digests of revisions, some in each turn of the event loop, so that planning finds them ready when it compares revisions. Each digest is kept
 * as long as the cache keeps the revision's data: nearly always there is nothing to do.
 */
export async function readRevisions(revisions: readonly Readonly<Revision>[], turns: Pick<Turns, 'next'>): Promise<void> {
  let read = 0;
  for (const { data } of revisions) {
    const length = readData(data);
    if (length === 0) continue;
    read += EACH + length;
    if (read < MAX_TURN_TEXT) continue;
    await turns.next();
    read = 0;
  }
}
