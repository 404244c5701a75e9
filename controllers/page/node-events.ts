import { rfc3339, type Clock, type Millis } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { coreEvents, EVENT_NAMESPACE, type KubeObject } from '../../kube/api/object.ts';
import { escapeFieldValue } from '../../kube/api/selector.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import type { Client } from '../../kube/client/client.ts';
import type { PageNodeEvent } from './contract.ts';

/** Max events of one node. */
export const MAX_HISTORY = 50;
/** Max events that are read for a node: the API server lists the oldest first. */
const MAX_READ = 500;
/** How long a result is reused for all readers, in ms. */
export const FRESH_MS: Millis = 3_000;
/** Max cached results. */
const MAX_ANSWERS = 64;
/** Max nodes whose events are read concurrently: readers of the page must not burden the API server. */
export const MAX_READING = 4;
const TIMEOUT_MS: Millis = 3_000;
const MAX_TEXT = 1_100;

export interface History {
  events: readonly PageNodeEvent[];
  /** Why there are no events; '' when they were read. */
  problem: string;
}

/** Events about Nodes, read when a reader opens a node. Not watched: a fleet has many more events than are ever read. */
export class NodeEvents {
  readonly #client: Pick<Client, 'list'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #answers = new Map<string, { at: Millis; answer: Promise<History> }>();
  #reading = 0;

  constructor(client: Pick<Client, 'list'>, clock: Pick<Clock, 'now'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Never rejects. */
  of(node: string): Promise<History> {
    const now = this.#clock.now();
    const known = this.#answers.get(node);
    if (known !== undefined && now - known.at < FRESH_MS && now >= known.at) return known.answer;
    if (this.#reading >= MAX_READING)
      return known?.answer ?? Promise.resolve({ events: [], problem: 'too many requests for node events; open the node again' });
    const answer = this.#read(node);
    this.#answers.delete(node);
    this.#answers.set(node, { at: now, answer });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }

  async #read(node: string): Promise<History> {
    this.#reading++;
    try {
      const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${escapeFieldValue(node)}`;
      const query = { namespace: EVENT_NAMESPACE, fieldSelector, limit: MAX_READ };
      const { items } = await this.#client.list(coreEvents, query, { timeoutMs: TIMEOUT_MS });
      // Within the same second, the event that is listed later is newer: names of events contain the time.
      const events = items
        .toReversed()
        .map(pageEvent)
        .filter(({ at }) => at !== '');
      return { events: events.toSorted(newestFirst).slice(0, MAX_HISTORY), problem: '' };
    } catch (error) {
      const why = isForbidden(error)
        ? `the rollout controller may not list events in namespace ${EVENT_NAMESPACE}`
        : 'the API server did not answer; open the node again';
      return { events: [], problem: why };
    } finally {
      this.#reading--;
    }
  }
}

const newestFirst = (a: PageNodeEvent, b: PageNodeEvent): number => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0);

/** Malformed parts of an event count as absent. */
function pageEvent(event: Readonly<KubeObject>): PageNodeEvent {
  const raw = event as unknown as Record<string, unknown>;
  const series = isJsonObject(raw['series']) ? raw['series'] : {};
  const source = isJsonObject(raw['source']) ? raw['source'] : {};
  const times = [series['lastObservedTime'], raw['lastTimestamp'], raw['eventTime'], event.metadata.creationTimestamp];
  const count = Number(series['count'] ?? raw['count']);
  return {
    at: secondsOf(times.find((one) => typeof one === 'string' && one !== '')),
    type: raw['type'] === 'Warning' ? 'Warning' : 'Normal',
    reason: text(raw['reason']),
    message: text(raw['message']),
    by: text(raw['reportingComponent']) || text(source['component']),
    count: Number.isSafeInteger(count) && count > 0 ? count : 1,
  };
}

/** Times of events have seconds or microseconds: cut to seconds, so that they can be sorted. */
function secondsOf(time: unknown): string {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? '' : rfc3339(ms);
}

const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : '');
