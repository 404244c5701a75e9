import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { EventType } from '../../kube/controller/event.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import { messageOf } from '../../base/errors.ts';
import type { InTurns } from '../../base/waiting.ts';
import { ApiError, isForbidden, isInvalidRequest, serverMessageOf } from '../../kube/client/errors.ts';

/** An event about a set. */
export interface SetEvent {
  type: EventType;
  reason: string;
  message: string;
}

/** The set that an event is about, and the recorder. */
export interface EventTarget {
  events: Pick<EventRecorder, 'event'>;
  set: Readonly<KubeObject>;
  /** The resource of the set. */
  resource: Resource;
}

export function recordEvents({ events, set, resource }: EventTarget, reported: readonly SetEvent[]): void {
  for (const { type, reason, message } of reported) events.event(set, type, reason, message, { resource });
}

/**
 * Records the events once while a problem persists, and again when it returns. A change of one message records all of them.
 * @param isNew - whether the joined messages differ from the last ones
 */
export function recordNewEvents(to: EventTarget, reported: readonly SetEvent[], isNew: (text: string) => boolean): void {
  if (isNew(reported.map(({ message }) => message).join('\n'))) recordEvents(to, reported);
}

/** Remembers the last text reported about each subject of each set, so that an event is recorded once and not at every reconcile. */
export class EventDeduper {
  readonly #lastTexts = new Map<string, Map<string, string>>();

  /**
   * Whether `text` differs from the last reported text. '' means nothing to report; after it the same text is new again.
   * @param uid - of the set
   * @param about - the subject. @default one subject for all texts
   */
  isNew(uid: string, text: string, about = ''): boolean {
    const lastTexts = this.#lastTexts.get(uid) ?? new Map<string, string>();
    const before = lastTexts.get(about) ?? '';
    if (text === '') lastTexts.delete(about);
    else lastTexts.set(about, text);
    if (lastTexts.size === 0) this.#lastTexts.delete(uid);
    else this.#lastTexts.set(uid, lastTexts);
    return text !== before && text !== '';
  }

  /** Called when the set is deleted. */
  forget(uid: string): void {
    this.#lastTexts.delete(uid);
  }
}

/**
 * Runs a planning function for one set. An exception is a bug of this program, or an object that the API server should have rejected: this set gets a Warning
 * event, a log line and backoff; other sets are not affected.
 * @throws what `decide` throws
 */
export function decideFor<T>(to: EventTarget, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    reportBug(to, error);
    throw error;
  }
}

/** The same for a planning function in steps. */
export function* decideInTurns<T>(to: EventTarget, decide: () => InTurns<T>): InTurns<T> {
  try {
    return yield* decide();
  } catch (error) {
    reportBug(to, error);
    throw error;
  }
}

function reportBug({ events, set, resource }: EventTarget, error: unknown): void {
  events.event(set, 'Warning', 'FailedSync', `The set is not synced: planning failed: ${messageOf(error)}`, { resource });
}

/**
 * A set whose pods or revisions cannot be adopted or stored is not synced, and its status does not show why. Rejections by the API server (quota, webhook)
 * become an event; conflicts and lost responses do not.
 * @param error - of the first writes of a reconcile
 */
export function refusalOf(error: unknown): SetEvent[] {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  let cause = first;
  while (cause instanceof Error && !(cause instanceof ApiError)) cause = cause.cause;
  if (!(cause instanceof ApiError) || !(cause.code === 500 || isForbidden(cause) || isInvalidRequest(cause))) return [];
  const words = serverMessageOf(cause);
  const message = `The set is not synced: ${messageOf(first).replace(cause.message, () => words)}`;
  return [{ type: 'Warning', reason: 'FailedSync', message }];
}

/** An event about a set, read back from the API server. */
export interface RecordedEvent extends KubeObject {
  reason?: string;
  message?: string;
  lastTimestamp?: string;
}

/** Event reasons for pods that were not created, or not as requested. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['FailedSync', 'FailedCreate', 'PlacementLost', 'OwnershipLost']);

/**
 * How the last attempt to create pods of a set failed, according to the set's events. Pure.
 * @param events - of the set
 * @returns undefined when no event reports a failure, or a pod was created after the last failure
 */
export function lastRefusal(events: readonly Readonly<RecordedEvent>[]): string | undefined {
  let last: Readonly<RecordedEvent> | undefined;
  for (const event of events) {
    if (event.reason !== 'SuccessfulCreate' && !REFUSALS.has(event.reason)) continue;
    const [at, before] = [event.lastTimestamp ?? '', last?.lastTimestamp ?? ''];
    // Timestamps have whole seconds, and a pass creates pods until one fails: in the same second the failure came last.
    if (last === undefined || at > before || (at === before && REFUSALS.has(event.reason))) last = event;
  }
  if (last === undefined || !REFUSALS.has(last.reason)) return undefined;
  return `the last attempt failed at ${last.lastTimestamp ?? 'an unknown time'}: ${last.message ?? ''}`;
}
