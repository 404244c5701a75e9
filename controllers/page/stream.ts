import { rfc3339, type Clock, type Millis } from '../../base/clock.ts';
import { type FleetModel, PAUSE_MS } from './fleet-model.ts';
import type { PageMetrics } from './contract.ts';

/** Clients of the event stream at once. */
export const MAX_CLIENTS = 20;
/** Shortest time between two events for one client: changes in between are sent as one. */
export const MIN_INTERVAL_MS: Millis = 250;
/** A client gets something at least so often: it takes the stream for stale when nothing comes. */
const BEAT_MS: Millis = 10_000;
/** A client that has not taken an event after this long is disconnected. */
export const MAX_SEND_MS: Millis = 30_000;

/** Where a client is sent to. */
export interface Client {
  /** Resolves once the client has room for more. */
  send(text: string): Promise<void>;
  /** Ends the connection. Twice is harmless. */
  close(): void;
}

interface Served {
  client: Client;
  /** Of the last change that was sent; undefined: nothing yet. */
  seq: number | undefined;
  /** Stops the wait for an event that it has not taken yet; undefined: it is ready for the next one. */
  sending: (() => void) | undefined;
}

interface StreamOptions {
  picture: { refresh(): boolean; readonly model: Pick<FleetModel, 'seq' | 'since'> };
  clock: Pick<Clock, 'now' | 'after'>;
  metrics: Pick<PageMetrics, 'dropped'>;
}

/**
 * Sends each client the picture, and then what changes. A client has one event under way at most; while it takes that one nothing is kept for it, and the
 * next one is made of what is newest then.
 */
export class FleetStream {
  readonly #picture: StreamOptions['picture'];
  readonly #clock: StreamOptions['clock'];
  readonly #metrics: StreamOptions['metrics'];
  readonly #clients = new Set<Served>();
  /** What was made last, for each change that clients were at: most are at the same. */
  readonly #made = new Map<number | undefined, string>();
  #madeFor = -1;
  #waits: (() => void) | undefined;
  /** Stops the wait for the next turn of a refresh; undefined: none is under way. */
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

  /** @returns undefined: there are MAX_CLIENTS already; else ends it */
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

  /** Something has changed: clients hear of it within MIN_INTERVAL_MS. */
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

  /** Refreshes the picture, in several turns where much has changed, and then sends what is newest. */
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
        // What changed meanwhile goes out with the next interval.
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
