import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { statefulSets } from '../../kube/api/resources.ts';
import type { StatefulSet } from '../types.ts';
import { encodeKept, KEPT_ANNOTATION, type KeptEntry } from './persist.ts';

interface Noted {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly entries: Map<string, KeptEntry>;
  /** Being written; what comes meanwhile is written after it, all at once. */
  writing: boolean;
  dirty: boolean;
}

/**
 * Writes down on StatefulSets what room is, or is about to be, kept. What the annotation says is always all that is known here, so that no write depends on what
 * an earlier one left. Best effort: a write that fails is told of and not repeated before there is news of the set.
 */
export class KeptAnnotations {
  readonly #client: Pick<Client, 'patch'>;
  readonly #signal: AbortSignal;
  readonly #failed: (set: string, error: unknown) => void;
  readonly #noted = new Map<string, Noted>();
  readonly #writes = new Set<Promise<void>>();

  constructor(client: Pick<Client, 'patch'>, failed: (set: string, error: unknown) => void, signal: AbortSignal) {
    this.#client = client;
    this.#failed = failed;
    this.#signal = signal;
  }

  /** What was read from a set at the start: it is there already. */
  known(set: Readonly<StatefulSet>, entries: readonly KeptEntry[]): void {
    const noted = this.#of(set);
    for (const entry of entries) noted.entries.set(entry.name, entry);
  }

  /** The pod is on its way out, and its room is likely to be kept. Said again, nothing is written. */
  arm(set: Readonly<StatefulSet>, entry: KeptEntry): void {
    const noted = this.#of(set);
    if (noted.entries.get(entry.name)?.uid === entry.uid) return;
    // The newest last: the oldest is what gives way when it gets too much.
    noted.entries.delete(entry.name);
    noted.entries.set(entry.name, entry);
    this.#write(noted);
  }

  /** Nothing is kept under this name any more. */
  end(setUid: string, podName: string): void {
    const noted = this.#noted.get(setUid);
    if (noted?.entries.delete(podName) === true) this.#write(noted);
  }

  forget(setUid: string): void {
    this.#noted.delete(setUid);
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  }

  #of({ metadata: { namespace = '', name = '', uid = '' } }: Readonly<StatefulSet>): Noted {
    const known = this.#noted.get(uid);
    if (known !== undefined) return known;
    const noted: Noted = { namespace, name, uid, entries: new Map(), writing: false, dirty: false };
    this.#noted.set(uid, noted);
    return noted;
  }

  #write(noted: Noted): void {
    noted.dirty = true;
    if (noted.writing) return;
    const write = this.#drain(noted).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async #drain(noted: Noted): Promise<void> {
    const { namespace, name, uid, entries } = noted;
    noted.writing = true;
    while (noted.dirty && !this.#signal.aborted) {
      noted.dirty = false;
      // The uid keeps it from another set of the same name.
      const patch = { metadata: { uid, annotations: { [KEPT_ANNOTATION]: encodeKept([...entries.values()]) } } };
      try {
        await this.#client.patch(statefulSets, { namespace, name }, patch, { type: 'merge', signal: this.#signal });
      } catch (error) {
        // Of a conflict nobody can tell whether it is over the uid: the next news of the set writes all again.
        if (isNotFound(error)) this.#noted.delete(uid);
        else if (!this.#signal.aborted) this.#failed(`${namespace}/${name}`, error);
      }
    }
    noted.writing = false;
    if (entries.size === 0 && !noted.dirty) this.#noted.delete(uid);
  }
}
