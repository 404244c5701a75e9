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
import type { Clock, Millis } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';

export interface ActiveRecordWriterDeps {
  disk: Pick<Disk, 'read' | 'replace' | 'remove'>;
  clock: Clock;
  log: Log;
  path: string;
  /** Path in memory (/run), for the record while the disk is not writable. */
  volatilePath: string;
  configState: NodeConfigState;
  /** Node name of this agent. */
  nodeName: string;
}

/** A write that takes longer counts as hanging, in ms. A slow disk needs a few seconds. */
const HANGS_AFTER_MS: Millis = 15_000;

/** Keeps `active.json` up to date for `dkc status`. A failed write is only logged. */
export class ActiveRecordWriter {
  readonly #deps: ActiveRecordWriterDeps;
  #carrier: ActiveRecord['carrier'] = null;
  #why = 'the agent has not asked the API server yet';
  #assignedBy: AssignedBy;
  readonly #notices = new Map<Notice['about'], string>();
  #writing: Promise<void> = Promise.resolve();
  /** A write has not returned: until it does, records go to the file in memory. */
  #isHanging = false;

  constructor(deps: ActiveRecordWriterDeps) {
    this.#deps = deps;
    deps.configState.onChange(() => this.note());
  }

  /** Sets which kind of object assigns, and why. */
  carrier(name: ActiveRecord['carrier'], why: string): void {
    this.#carrier = name;
    this.#why = why;
    this.note();
  }

  /** The kind of object that assigned a config last, from disk; undefined where the record does not name one. */
  async assignedBy(): Promise<AssignedBy> {
    await this.#writing;
    return (await this.#old())?.assignedBy;
  }

  /** The drift that the previous agent reported last, from disk; empty where there is no record. */
  async drift(): Promise<readonly Drift[]> {
    await this.#writing;
    return (await this.#old())?.drift ?? [];
  }

  /** Sets the kind of object that assigns a config now. */
  assigns(by: NonNullable<AssignedBy>): void {
    if (this.#assignedBy === by) return;
    this.#assignedBy = by;
    this.note();
  }

  /** Sets a problem that an admin should know, in one line; null clears it. */
  notice(about: Notice['about'], text: string | null): void {
    if (text === null) this.#notices.delete(about);
    else this.#notices.set(about, text);
    this.note();
  }

  /** Writes the record if it has changed. Writes run one after the other. */
  note(): void {
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch((error: unknown) => this.#deps.log.warn('active.json cannot be written', { error }));
  }

  /** Resolves when all changes so far are written, or their write has failed. */
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
    // While nothing is assigned the record takes this node's name: a new node may get its final name after the agent has created the store.
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
    const isChanged = !old || !sameActive(old, record);
    if (!isChanged && !kept) return;
    const bytes = new TextEncoder().encode(printActiveRecord(record));
    try {
      if (!this.#isHanging) await this.#writeUnlessItHangs(bytes);
    } catch (error) {
      if (!isChanged) return;
      await disk.replace(volatilePath, bytes, 0o600);
      throw error;
    }
    if (this.#isHanging) await disk.replace(volatilePath, bytes, 0o600);
    else if (kept) await disk.remove(volatilePath);
  }

  async #writeUnlessItHangs(bytes: Uint8Array): Promise<void> {
    const { disk, clock, path } = this.#deps;
    const written = disk.replace(path, bytes);
    this.#isHanging = await new Promise<boolean>((resolve, reject) => {
      const stop = clock.after(HANGS_AFTER_MS, () => resolve(true));
      void written.then(() => resolve(false), reject).finally(stop);
    });
    if (!this.#isHanging) return;
    const over = (): void => {
      this.#isHanging = false;
      this.note();
    };
    void written.then(over, over);
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

/** The notice for a store of another node: a copied disk, an image that contains a store, a renamed node. */
function foreignText(was: string, is: string, path: string): string {
  const what = `the store was created by node ${was}, and this is node ${is}: what is assigned, trusted and condemned in it may have been decided elsewhere`;
  const over = `to start over, stop the agent, move ${dirname(dirname(path))} away and start it`;
  return `${what}; ${over}; to keep it, for a node that was renamed, remove ${path} while the agent is stopped`;
}
