import { rfc3339, type Clock, type Millis } from '../../base/clock.ts';
import type { InTurns } from '../../base/waiting.ts';
import { type FleetModel, jsonInTurns, PAUSE_MS } from './fleet-model.ts';
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
  send(bytes: Uint8Array): Promise<void>;
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
  /** The last events, by the change that clients had: most clients have the same. */
  readonly #made = new Map<number | undefined, Uint8Array>();
  #madeFor = -1;
  #waits: (() => void) | undefined;
  /** Refreshes the picture and sends what is new; undefined: that is done. */
  #updating: InTurns<void> | undefined;
  /** Stops the timer for its next step. */
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
      // A change that comes during an update, perhaps after the refresh, is for the next one.
      if (this.#updating === undefined) this.#update();
      else this.changed();
    });
  }

  close(): void {
    for (const served of this.#clients) this.#remove(served);
  }

  /** Begins an update, or goes on with it: one step in each turn. */
  #update(): void {
    this.#more?.();
    this.#more = undefined;
    this.#updating ??= this.#sendNewest();
    if (this.#updating.next().done === true) this.#updating = undefined;
    else this.#more = this.#clock.after(PAUSE_MS, () => this.#update());
  }

  /** Refreshes the picture and then sends the newest state, in several steps when much has changed. A client that comes meanwhile gets it too. */
  *#sendNewest(): InTurns<void> {
    while (!this.#picture.refresh()) yield;
    for (const served of this.#clients) {
      if (served.sending !== undefined || served.seq === this.#picture.model.seq) continue;
      const { seq, event } = yield* this.#eventSince(served.seq);
      // The client may have left, or got a beat.
      if (!this.#clients.has(served) || served.sending !== undefined) continue;
      served.seq = seq;
      this.#send(served, event);
    }
  }

  /** @returns what a client lacks, and the number of the last change in it */
  *#eventSince(from: number | undefined): InTurns<{ seq: number; event: Uint8Array }> {
    const { model } = this.#picture;
    if (this.#madeFor !== model.seq) this.#made.clear();
    const seq = (this.#madeFor = model.seq);
    const known = this.#made.get(from);
    if (known !== undefined) return { seq, event: known };
    const message = yield* model.since(from, rfc3339(this.#clock.now()));
    const event = yield* jsonInTurns(message, { before: `event: ${message.full ? 'picture' : 'changes'}\ndata: `, after: '\n\n' });
    // Another reader may have refreshed the model meanwhile.
    if (this.#madeFor === message.seq) this.#made.set(from, event);
    return { seq: message.seq, event };
  }

  #send(served: Served, event: Uint8Array): void {
    served.sending = this.#clock.after(MAX_SEND_MS, () => this.#drop(served, 'slow'));
    served.client.send(event).then(
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
    const event = Buffer.from(`event: beat\ndata: ${JSON.stringify({ time: rfc3339(this.#clock.now()) })}\n\n`);
    for (const served of this.#clients) if (served.sending === undefined) this.#send(served, event);
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
    this.#waits = this.#more = this.#beat = this.#updating = undefined;
    this.#made.clear();
  }
}
