import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { KubeObject } from '../api/object.ts';
import type { Change } from './change.ts';
import { type Handlers, objectKey, type Registration } from './contract.ts';

interface Reader<T extends KubeObject> extends Registration {
  name: string;
  handlers: Handlers<T>;
  removed: boolean;
  synced: boolean;
  failures: number;
}

/** Handlers of cache changes. What one of them throws is logged and counted, and does not affect the others. */
export class HandlerList<T extends KubeObject> {
  readonly #log: Log;
  readonly #failed: (name: string) => void;
  #readers: readonly Reader<T>[] = [];

  constructor(log: Log, failed: (name: string) => void) {
    this.#log = log;
    this.#failed = failed;
  }

  /**
   * @param there - objects that the handler receives at once, as added
   * @param complete - the first list is in the cache
   */
  add(name: string, handlers: Handlers<T>, there: Iterable<T>, complete: boolean): Registration {
    const reader: Reader<T> = {
      name,
      handlers,
      removed: false,
      synced: false,
      failures: 0,
      remove: () => {
        reader.removed = true;
        this.#readers = this.#readers.filter((one) => one !== reader);
      },
    };
    // A new list each time: a handler that is added during an event does not get that event, since it begins with the current objects.
    this.#readers = [...this.#readers, reader];
    for (const object of there) this.#callHandler(reader, object, () => reader.handlers.added?.(object, true));
    reader.synced = complete;
    return reader;
  }

  distribute(change: Change<T>, initial: boolean): void {
    for (const reader of this.#readers) {
      const { handlers } = reader;
      switch (change.do) {
        case 'add':
          this.#callHandler(reader, change.object, () => handlers.added?.(change.object, initial));
          break;
        case 'update':
          this.#callHandler(reader, change.after, () => handlers.updated?.(change.before, change.after));
          break;
        case 'delete':
          this.#callHandler(reader, change.last, () => handlers.deleted?.(change.last, change.unseen));
          break;
      }
    }
  }

  /** Every handler has received the first list. */
  markSynced(): void {
    for (const reader of this.#readers) reader.synced = true;
  }

  #callHandler(reader: Reader<T>, object: T, call: () => void): void {
    if (reader.removed) return;
    try {
      call();
    } catch (error) {
      this.#failed(reader.name);
      reader.failures += 1;
      if (!isLogged(reader.failures)) return;
      const { name, failures } = reader;
      const facts = { handler: name, object: objectKey(object), failures, error: describeError(error) };
      this.#log.error('a handler of cache changes failed, continuing with the other handlers', facts);
    }
  }
}

/** Failures that are logged one by one, each with its object. */
const MAX_EACH = 10;

/**
 * Whether the `count`-th failure of one kind is logged: the first ten, then the 100th, 1,000th, ...: a bug may fail on each of 150,000 objects, and a few
 * lines say as much.
 */
export function isLogged(count: number): boolean {
  return count <= MAX_EACH || /^10*$/.test(String(count));
}
