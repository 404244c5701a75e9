import type { NodeConfigState } from './node-config-state.ts';
import { parseActiveRecord, printActiveRecord, sameActive, sinceBefore, type ActiveRecord, type Notice } from '../store/active-record.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';

export interface ActiveRecordWriterDeps {
  disk: Pick<Disk, 'read' | 'replace'>;
  clock: Clock;
  log: Log;
  path: string;
  configState: NodeConfigState;
}

/** Keeps `active.json` up to date for `dkc status`. A report: nothing is decided by it, and a failure to write it is only logged. */
export class ActiveRecordWriter {
  readonly #deps: ActiveRecordWriterDeps;
  #carrier: ActiveRecord['carrier'] = null;
  #why = 'the agent has not asked the API server yet';
  readonly #notices = new Map<Notice['about'], string>();
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: ActiveRecordWriterDeps) {
    this.#deps = deps;
    deps.configState.onChange(() => this.note());
  }

  /** How this node learns its assignment, and why that way. */
  carrier(name: ActiveRecord['carrier'], why: string): void {
    this.#carrier = name;
    this.#why = why;
    this.note();
  }

  /** What an admin should know of, in one line; null once that is over. */
  notice(about: Notice['about'], text: string | null): void {
    if (text === null) this.#notices.delete(about);
    else this.#notices.set(about, text);
    this.note();
  }

  /** Writes the record if it says something new. Writes follow one another. */
  note(): void {
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch((error: unknown) => this.#deps.log.warn('active.json cannot be written', { error }));
  }

  /** Resolves when everything noted so far is on disk. */
  settled(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { disk, clock, path, configState } = this.#deps;
    const { used, source, effectiveSha256 } = configState.active;
    const at = new Date(clock.now()).toISOString();
    const notices = [...this.#notices].map(([about, text]) => ({ about, text }));
    const { error } = configState.picture;
    const now = { used, source, error, effectiveSha256, carrier: this.#carrier, why: this.#why, at, notices };
    const old = await disk.read(path).then(
      (bytes) => parseActiveRecord(new TextDecoder().decode(bytes)),
      () => undefined,
    );
    const record = sinceBefore(old?.ok ? old.record : undefined, now);
    if (old?.ok && sameActive(old.record, record)) return;
    await disk.replace(path, new TextEncoder().encode(printActiveRecord(record)));
  }
}
