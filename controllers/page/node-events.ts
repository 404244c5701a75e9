import { rfc3339, type Clock, type Millis } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { coreEvents, type KubeObject } from '../../kube/api/object.ts';
import { escapeFieldValue } from '../../kube/api/selector.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { EVENT_NAMESPACE } from '../../agent/events/event.ts';
import type { PageNodeEvent } from './contract.ts';

/** Of one node. */
export const MAX_HISTORY = 50;
/** Events that are read for it: the API server gives the oldest first. */
const MAX_READ = 500;
/** How long an answer serves all who ask, in ms. */
export const FRESH_MS: Millis = 3_000;
/** Answers that are kept. */
const MAX_ANSWERS = 64;
/** Nodes whose events are read at once: readers of the page are no burden on the API server. */
export const MAX_READING = 4;
const TIMEOUT_MS: Millis = 3_000;
const MAX_TEXT = 1_100;

export interface History {
  events: readonly PageNodeEvent[];
  /** Why there are none; '' where they were read. */
  problem: string;
}

/** Events about Nodes, read when somebody looks at one. It watches nothing: a fleet has many more events than anybody looks at. */
export class NodeEvents {
  readonly #client: Pick<Client, 'list'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #answers = new Map<string, { at: Millis; answer: Promise<History> }>();
  #reading = 0;

  constructor(client: Pick<Client, 'list'>, clock: Pick<Clock, 'now'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Never fails. */
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
      // Of the same second the one that is listed later: names of events have their time in them.
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

/** What has not the shape of an event counts as absent. */
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

/** Times of events have seconds or microseconds: to seconds, so that they can be put in order. */
function secondsOf(time: unknown): string {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? '' : rfc3339(ms);
}

const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : '');
