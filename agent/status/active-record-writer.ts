import { dirname } from 'node:path';
import type { Drift } from '../drift/plan.ts';
import type { NodeConfigState } from './node-config-state.ts';
import {
  parseActiveRecord,
  printActiveRecord,
  sameActive,
  sinceBefore,
  type ActiveRecord,
  type AssignedBy,
  type Notice,
} from '../store/active-record.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';

export interface ActiveRecordWriterDeps {
  disk: Pick<Disk, 'read' | 'replace' | 'remove'>;
  clock: Clock;
  log: Log;
  path: string;
  /** In memory: takes the record while the disk takes no writes. */
  volatilePath: string;
  configState: NodeConfigState;
  /** Of this agent. */
  nodeName: string;
}

/** Keeps `active.json` up to date for `dkc status`. A report: nothing is decided by it, and a failure to write it is only logged. */
export class ActiveRecordWriter {
  readonly #deps: ActiveRecordWriterDeps;
  #carrier: ActiveRecord['carrier'] = null;
  #why = 'the agent has not asked the API server yet';
  #assignedBy: AssignedBy;
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

  /** The object that assigned something last, as the disk has it; undefined where it does not say. */
  async assignedBy(): Promise<AssignedBy> {
    await this.#writing;
    return (await this.#old())?.assignedBy;
  }

  /** What the agent before this one reported last; none where the disk does not say. */
  async drift(): Promise<readonly Drift[]> {
    await this.#writing;
    return (await this.#old())?.drift ?? [];
  }

  /** That object assigns something now. */
  assigns(by: NonNullable<AssignedBy>): void {
    if (this.#assignedBy === by) return;
    this.#assignedBy = by;
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
    const { disk, clock, path, volatilePath, configState, nodeName } = this.#deps;
    const { used, source, effectiveSha256 } = configState.active;
    const at = new Date(clock.now()).toISOString();
    const { error, drift: reported, assigned, lastKnownGood } = configState.picture;
    const kept = await this.#read(volatilePath);
    const old = kept ?? (await this.#read(path));
    // Where nothing was ever assigned, or is any more, nothing of another node counts: a new node whose name was set late has such a store.
    const isLocal = source === null && assigned === null && lastKnownGood === null;
    const node = isLocal ? nodeName : (old?.node ?? nodeName);
    const foreign: Notice[] = node === nodeName ? [] : [{ about: 'store', text: foreignText(node, nodeName, path) }];
    const notices = [...Array.from(this.#notices, ([about, text]) => ({ about, text })), ...foreign];
    const assignedBy = this.#assignedBy ?? old?.assignedBy;
    const drift = reported ?? old?.drift ?? [];
    const now = {
      used,
      source,
      error,
      effectiveSha256,
      carrier: this.#carrier,
      why: this.#why,
      at,
      notices,
      drift,
      node,
      ...(assignedBy ? { assignedBy } : {}),
    };
    const record = sinceBefore(old, now);
    const isNews = !old || !sameActive(old, record);
    if (!isNews && !kept) return;
    const bytes = new TextEncoder().encode(printActiveRecord(record));
    try {
      await disk.replace(path, bytes);
    } catch (error) {
      if (!isNews) return;
      await disk.replace(volatilePath, bytes, 0o600);
      throw error;
    }
    if (kept) await disk.remove(volatilePath);
  }

  async #old(): Promise<ActiveRecord | undefined> {
    return (await this.#read(this.#deps.volatilePath)) ?? this.#read(this.#deps.path);
  }

  async #read(path: string): Promise<ActiveRecord | undefined> {
    const { disk } = this.#deps;
    const old = await disk.read(path).then(
      (bytes) => parseActiveRecord(new TextDecoder().decode(bytes)),
      () => undefined,
    );
    return old?.ok ? old.record : undefined;
  }
}

/** A copied disk, an image with a store in it, a node that came back under another name. */
function foreignText(was: string, is: string, path: string): string {
  const what = `the store was created by node ${was}, and this is node ${is}: what is assigned, trusted and condemned in it may have been decided elsewhere`;
  const over = `to start over, stop the agent, move ${dirname(dirname(path))} away and start it`;
  return `${what}; ${over}; to keep it, for a node that was renamed, remove ${path} while the agent is stopped`;
}
