import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { EventType } from '../../kube/controller/event.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import { messageOf } from '../../base/errors.ts';
import { ApiError, isForbidden, isInvalidRequest, serverWords } from '../../kube/client/errors.ts';

/** An event about a set. */
export interface SetEvent {
  type: EventType;
  reason: string;
  message: string;
}

/** Where it is reported. */
export interface EventTarget {
  events: Pick<EventRecorder, 'event'>;
  set: Readonly<KubeObject>;
  /** Of which kind the set is. */
  resource: Resource;
}

export function recordEvents({ events, set, resource }: EventTarget, reported: readonly SetEvent[]): void {
  for (const { type, reason, message } of reported) events.event(set, type, reason, message, { resource });
}

/**
 * Tells it once for as long as it is so, and again when it was not so meanwhile; all of it when any of it is new.
 * @param isNews - whether this was not what was said last
 */
export function recordNewEvents(to: EventTarget, reported: readonly SetEvent[], isNews: (text: string) => boolean): void {
  if (isNews(reported.map(({ message }) => message).join('\n'))) recordEvents(to, reported);
}

/** The last text that was reported about each subject of each set, so that people read it once and not at every look. */
export class EventDeduper {
  readonly #said = new Map<string, Map<string, string>>();

  /**
   * Whether `text` differs from what was reported last; '' is nothing to report, and the same text is news again after it.
   * @param uid - the set's
   * @param about - its subject. @default one for all
   */
  is(uid: string, text: string, about = ''): boolean {
    const said = this.#said.get(uid) ?? new Map<string, string>();
    const before = said.get(about) ?? '';
    if (text === '') said.delete(about);
    else said.set(about, text);
    if (said.size === 0) this.#said.delete(uid);
    else this.#said.set(uid, said);
    return text !== before && text !== '';
  }

  /** The set is deleted. */
  forget(uid: string): void {
    this.#said.delete(uid);
  }
}

/**
 * Decides on one set. An exception there is a mistake of ours, or an object that no server should have taken: it costs this set a Warning event, a line in
 * the log and backoff, and no other set anything.
 * @throws what `decide` throws
 */
export function decideFor<T>({ events, set, resource }: EventTarget, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    const message = `The set is not synced: planning failed: ${messageOf(error)}`;
    events.event(set, 'Warning', 'FailedSync', message, { resource });
    throw error;
  }
}

/**
 * Nothing is done for a set whose pods or revisions cannot be adopted or stored, and no status tells of it. What the server rejects, as for a quota or a
 * webhook, becomes an event; conflicts and missing answers do not.
 * @param error - of the first writes of a reconcile
 */
export function refusalOf(error: unknown): SetEvent[] {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  let cause = first;
  while (cause instanceof Error && !(cause instanceof ApiError)) cause = cause.cause;
  if (!(cause instanceof ApiError) || !(cause.code === 500 || isForbidden(cause) || isInvalidRequest(cause))) return [];
  const words = serverWords(cause);
  const message = `The set is not synced: ${messageOf(first).replace(cause.message, () => words)}`;
  return [{ type: 'Warning', reason: 'FailedSync', message }];
}

/** An event about a set that somebody reads again. */
export interface ToldEvent extends KubeObject {
  reason?: string;
  message?: string;
  lastTimestamp?: string;
}

/** Pods were not made, or not as they should be. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['FailedSync', 'FailedCreate', 'PlacementLost', 'OwnershipLost']);

/**
 * How the last attempt to create pods of a set failed, as its events say. Pure.
 * @param events - of the set
 * @returns undefined when none failed lately, or one was created since
 */
export function lastRefusal(events: readonly Readonly<ToldEvent>[]): string | undefined {
  let last: Readonly<ToldEvent> | undefined;
  for (const event of events) {
    if (event.reason !== 'SuccessfulCreate' && !REFUSALS.has(event.reason)) continue;
    const [at, before] = [event.lastTimestamp ?? '', last?.lastTimestamp ?? ''];
    // Times are whole seconds, and a pass creates until something fails.
    if (last === undefined || at > before || (at === before && REFUSALS.has(event.reason))) last = event;
  }
  if (last === undefined || !REFUSALS.has(last.reason)) return undefined;
  return `the last attempt failed at ${last.lastTimestamp ?? 'an unknown time'}: ${last.message ?? ''}`;
}
