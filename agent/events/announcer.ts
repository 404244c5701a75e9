import { stateEvent, type StateReason, transitionEvent, transitionsOf } from './event.ts';
import { sha256 } from '../checkpoint/payload.ts';
import { journalText } from '../store/records.ts';
import type { JournalLine, Store } from '../store/store.ts';
import { backoff, Trigger } from '../../base/waiting.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { coreEvents, EVENT_NAMESPACE, type KubeObject } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { isAlreadyExists, isInvalidRequest } from '../../kube/client/errors.ts';

export interface AnnouncerDeps {
  store: Pick<Store, 'journal' | 'condemned'>;
  disk: Pick<Disk, 'read' | 'replace'>;
  /** Path of the mark. */
  path: string;
  nodeName: string;
  clock: Clock;
  random: Random;
  log: Log;
}

/** `D/announced.json`: the last line of the journal whose event was sent. */
interface Mark {
  at: string;
  sha256: string;
}

/** Most transitions that are sent after a long time without an API server, the newest; older ones are only in the journal. */
const MAX_BEHIND = 20;
/** Most state events that wait for an API server. */
const MAX_SENTENCES = 10;
const retryLimits = { base: 1000, cap: 60_000 };

/**
 * Sends an event for every transition of this node. Most transitions end the agent at once, so the next start reads them from the journal; a mark on
 * disk names the last line that was sent. The name of an event is derived from its line, so a crash cannot cause a second event.
 */
export class Announcer {
  readonly #deps: AnnouncerDeps;
  readonly #due = new Trigger();
  #mark: Mark | undefined;
  #sentences: KubeObject[] = [];
  #failures = 0;

  constructor(deps: AnnouncerDeps) {
    this.#deps = deps;
    this.#due.notify();
  }

  /** Reads the mark. Where there is none, older lines of the journal get no event. Call before boot adds to the journal. */
  async open(): Promise<void> {
    const { disk, path, store, log } = this.#deps;
    try {
      const { at, sha256: hash } = JSON.parse(new TextDecoder().decode(await disk.read(path, 4096))) as Partial<Mark>;
      if (typeof at === 'string' && typeof hash === 'string') this.#mark = { at, sha256: hash };
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') log.warn('failed to read which transitions have an event', { path, error });
    }
    if (this.#mark) return;
    const last = (await store.journal().catch(() => [])).at(-1);
    await this.#moveTo(last ? markOf(last) : { at: '', sha256: '' });
  }

  /** The journal has changed. */
  notify(): void {
    this.#due.notify();
  }

  /** The API server answers again: retry failed events now. */
  retry(): void {
    if (this.#failures > 0) this.#due.notify();
  }

  /** Queues a state event. The newest {@link MAX_SENTENCES} are kept until the API server accepts them. */
  announce(message: string, reason: StateReason = 'KubeletUnhealthy', type: 'Normal' | 'Warning' = 'Warning'): void {
    this.#sentences = [...this.#sentences, stateEvent(type, reason, message, this.#facts())].slice(-MAX_SENTENCES);
    this.#due.notify();
  }

  /** Sends until the signal aborts. */
  async run(client: Pick<Client, 'create'>, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps;
    while (!signal.aborted) {
      if (this.#failures === 0) await this.#due.wait(signal);
      else await this.#due.waitOr(backoff(this.#failures, retryLimits, random), clock, signal);
      if (signal.aborted) return;
      try {
        await this.#sendAll(client, signal);
        this.#failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        this.#failures += 1;
        log[this.#failures === 1 ? 'warn' : 'debug']('events cannot be sent, retrying', { failures: this.#failures, error });
      }
    }
  }

  async #sendAll(client: Pick<Client, 'create'>, signal: AbortSignal): Promise<void> {
    const { store, nodeName, log } = this.#deps;
    const lines = await store.journal();
    const last = lines.at(-1);
    if (last && markOf(last).sha256 !== this.#mark?.sha256) {
      const from = this.#behind(lines);
      const all = transitionsOf(lines, await store.condemned()).filter(({ index }) => index >= from);
      if (all.length > MAX_BEHIND) log.warn('older transitions get no event; dkc history has them', { left: all.length - MAX_BEHIND });
      for (const transition of all.slice(-MAX_BEHIND)) {
        const line = lines[transition.index];
        if (!line) continue;
        await this.#send(transitionEvent(transition, { nodeName, ...timeOf(line) }), client, signal);
        await this.#moveTo(markOf(line));
      }
      await this.#moveTo(markOf(last));
    }
    for (let event; (event = this.#sentences[0]);) {
      await this.#send(event, client, signal);
      this.#sentences = this.#sentences.filter((other) => other !== event);
    }
  }

  /** Index of the first line without an event. Where the journal was cut or recreated and lacks the marked line, by time. */
  #behind(lines: readonly JournalLine[]): number {
    const mark = this.#mark;
    if (!mark) return lines.length;
    const known = lines.findLastIndex((line) => markOf(line).sha256 === mark.sha256);
    if (known >= 0) return known + 1;
    const newer = lines.findIndex((line) => line.at > mark.at);
    return newer < 0 ? lines.length : newer;
  }

  async #send(event: KubeObject, client: Pick<Client, 'create'>, signal: AbortSignal): Promise<void> {
    try {
      await client.create(coreEvents, event, { namespace: EVENT_NAMESPACE, signal });
    } catch (error) {
      // An event that the server rejects as invalid must not block the others.
      if (isInvalidRequest(error)) this.#deps.log.warn('failed to send event', { reason: event['reason'], error });
      else if (!isAlreadyExists(error)) throw error;
    }
  }

  async #moveTo(mark: Mark): Promise<void> {
    const { disk, path, log } = this.#deps;
    if (this.#mark?.sha256 === mark.sha256) return;
    this.#mark = mark;
    await disk
      .replace(path, new TextEncoder().encode(`${JSON.stringify(mark)}\n`))
      .catch((error: unknown) => log.warn('failed to write which transitions have an event', { path, error }));
  }

  #facts() {
    const { nodeName, clock, random } = this.#deps;
    return { nodeName, nowMs: clock.now(), nanos: Math.floor(random() * 1_000_000) };
  }
}

const hashOf = (line: JournalLine): string => sha256(new TextEncoder().encode(journalText(line)));

function markOf(line: JournalLine): Mark {
  return { at: line.at, sha256: hashOf(line) };
}

/** The time of the line, and nanoseconds from its hash, so that the event's name is unique to the line. */
function timeOf(line: JournalLine): { nowMs: number; nanos: number } {
  const nowMs = Date.parse(line.at);
  return { nowMs: Number.isNaN(nowMs) ? 0 : nowMs, nanos: Number.parseInt(hashOf(line).slice(0, 8), 16) % 1_000_000 };
}
