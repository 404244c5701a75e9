import { rfc3339, type Clock, type Millis } from '../../base/clock.ts';
import { type FleetModel, PAUSE_MS } from './fleet-model.ts';
import type { PageMetrics } from './contract.ts';

/** Max concurrent clients of the event stream. */
export const MAX_CLIENTS = 20;
/** Shortest time between two events for one client: changes in between are sent as one. */
export const MIN_INTERVAL_MS: Millis = 250;
/** A client gets an event at least this often: without any it considers the stream stale. */
const BEAT_MS: Millis = 10_000;
/** A client that has not accepted an event after this time is disconnected. */
export const MAX_SEND_MS: Millis = 30_000;

/** The connection to a client. */
export interface Client {
  /** Resolves once the client has room for more. */
  send(text: string): Promise<void>;
  /** Ends the connection. Idempotent. */
  close(): void;
}

interface Served {
  client: Client;
  /** Number of the last change that was sent; undefined: none yet. */
  seq: number | undefined;
  /** Stops the timer of an event that the client has not accepted yet; undefined: the client is ready for the next event. */
  sending: (() => void) | undefined;
}

interface StreamOptions {
  picture: { refresh(): boolean; readonly model: Pick<FleetModel, 'seq' | 'since'> };
  clock: Pick<Clock, 'now' | 'after'>;
  metrics: Pick<PageMetrics, 'dropped'>;
}

/**
 * Sends each client the picture, and then changes. At most one event is in transit to a client; meanwhile nothing is queued, and the next event has the newest
 * state of that time.
 */
export class FleetStream {
  readonly #picture: StreamOptions['picture'];
  readonly #clock: StreamOptions['clock'];
  readonly #metrics: StreamOptions['metrics'];
  readonly #clients = new Set<Served>();
  /** The last texts, by the change that clients had: most clients have the same. */
  readonly #made = new Map<number | undefined, string>();
  #madeFor = -1;
  #waits: (() => void) | undefined;
  /** Stops the timer for the next turn of a refresh; undefined: no refresh is running. */
  #more: (() => void) | undefined;
  #beat: (() => void) | undefined;

  constructor({ picture, clock, metrics }: StreamOptions) {
    this.#picture = picture;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  get size(): number {
    return this.#clients.size;
  }

  get isFull(): boolean {
    return this.#clients.size >= MAX_CLIENTS;
  }

  /** @returns a function that ends the stream of this client; undefined: there are MAX_CLIENTS already */
  add(client: Client): (() => void) | undefined {
    if (this.isFull) {
      this.#metrics.dropped('full');
      return undefined;
    }
    const served: Served = { client, seq: undefined, sending: undefined };
    this.#clients.add(served);
    this.#update();
    this.#beat ??= this.#clock.after(BEAT_MS, () => this.#sendBeats());
    return () => this.#remove(served);
  }

  /** Called when something has changed: clients get the change after MIN_INTERVAL_MS. */
  changed(): void {
    if (this.#clients.size === 0 || this.#waits !== undefined) return;
    this.#waits = this.#clock.after(MIN_INTERVAL_MS, () => {
      this.#waits = undefined;
      this.#update();
    });
  }

  close(): void {
    for (const served of this.#clients) this.#remove(served);
  }

  /** Refreshes the picture, in several turns when much has changed, and then sends the newest state. */
  #update(): void {
    this.#more?.();
    this.#more = undefined;
    if (!this.#picture.refresh()) this.#more = this.#clock.after(PAUSE_MS, () => this.#update());
    else for (const served of this.#clients) this.#sendNewest(served);
  }

  #sendNewest(served: Served): void {
    if (served.sending !== undefined || served.seq === this.#picture.model.seq) return;
    const from = served.seq;
    served.seq = this.#picture.model.seq;
    this.#send(served, this.#textSince(from));
  }

  #textSince(from: number | undefined): string {
    const { model } = this.#picture;
    if (this.#madeFor !== model.seq) this.#made.clear();
    this.#madeFor = model.seq;
    let text = this.#made.get(from);
    if (text === undefined) {
      const message = model.since(from, rfc3339(this.#clock.now()));
      text = `event: ${message.full ? 'picture' : 'changes'}\ndata: ${JSON.stringify(message)}\n\n`;
      this.#made.set(from, text);
    }
    return text;
  }

  #send(served: Served, text: string): void {
    served.sending = this.#clock.after(MAX_SEND_MS, () => this.#drop(served, 'slow'));
    served.client.send(text).then(
      () => {
        served.sending?.();
        served.sending = undefined;
        // Changes that came in the meantime are sent after the next interval.
        if (this.#clients.has(served) && served.seq !== this.#picture.model.seq) this.changed();
      },
      () => this.#drop(served, 'failed'),
    );
  }

  #sendBeats(): void {
    const text = `event: beat\ndata: ${JSON.stringify({ time: rfc3339(this.#clock.now()) })}\n\n`;
    for (const served of this.#clients) if (served.sending === undefined) this.#send(served, text);
    this.#beat = this.#clients.size === 0 ? undefined : this.#clock.after(BEAT_MS, () => this.#sendBeats());
  }

  #drop(served: Served, reason: 'slow' | 'failed'): void {
    if (this.#clients.has(served)) this.#metrics.dropped(reason);
    this.#remove(served);
  }

  #remove(served: Served): void {
    if (!this.#clients.delete(served)) return;
    served.sending?.();
    served.client.close();
    if (this.#clients.size > 0) return;
    for (const stop of [this.#waits, this.#more, this.#beat]) stop?.();
    this.#waits = this.#more = this.#beat = undefined;
    this.#made.clear();
  }
}
