import { commitUpdate } from '../handlers/write.ts';
import { rules } from '../handlers/context.ts';
import type { Context } from '../handlers/context.ts';
import { deleteObject } from '../handlers/delete.ts';
import { CLEANUP } from '../handlers/write-options.ts';
import { storageName } from '../kinds/kind.ts';
import type { Change } from '../storage/watch-log.ts';
import { customKinds } from './custom-kind.ts';
import { DEFINITIONS, withStatus } from './definitions.ts';

/**
 * Serves what definitions define, from the turn on in which they change. A definition that is deleted takes its objects with it, in later turns, and
 * goes when the last of them has gone.
 */
export class LiveKinds {
  readonly #context: Context;
  /** Storage names of kinds, by the key of the definition they come from. */
  readonly #kinds = new Map<string, string>();
  /** Definitions that go, by the storage name of their kind. */
  readonly #going = new Map<string, string>();
  readonly #pending = new Set<string>();
  #waiters: (() => void)[] = [];

  constructor(context: Context) {
    this.#context = context;
    context.storage.onChange((kind, change) => {
      if (kind === DEFINITIONS) this.#serve(change);
      else if (change.type === 'DELETED' && this.#going.has(kind)) this.#schedule(kind);
    });
  }

  /** Resolves once no objects are left to delete. */
  settled(): Promise<void> {
    return this.#pending.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  #serve({ type, key, object }: Change): void {
    const { registry } = this.#context;
    const served = type === 'DELETED' ? [] : customKinds(object);
    const [first] = served;
    const before = this.#kinds.get(key);
    if (first === undefined) {
      if (before !== undefined) registry.remove(before);
      this.#kinds.delete(key);
      if (before !== undefined) this.#going.delete(before);
      // Without a kind there is nothing to clean up.
      if (type !== 'DELETED' && object.metadata.deletionTimestamp !== undefined) this.#schedule('', key);
      return;
    }
    const name = storageName(first.kind);
    registry.put(first.kind, served);
    this.#kinds.set(key, name);
    if (object.metadata.deletionTimestamp === undefined) return;
    this.#going.set(name, key);
    this.#schedule(name);
  }

  #schedule(name: string, key = this.#going.get(name)): void {
    if (key === undefined || this.#pending.has(key)) return;
    this.#pending.add(key);
    setImmediate(() => {
      this.#pending.delete(key);
      this.#cleanUp(name, key);
      if (this.#pending.size > 0) return;
      for (const done of this.#waiters.splice(0)) done();
    });
  }

  #cleanUp(name: string, key: string): void {
    const { storage, registry } = this.#context;
    const served = registry.stored(name);
    for (const { metadata } of served === undefined ? [] : storage.list(name).objects) {
      if (served === undefined || metadata.deletionTimestamp !== undefined) continue;
      deleteObject(this.#context, served, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }, { dryRun: false });
    }
    const definition = storage.get(DEFINITIONS, key);
    const definitions = registry.stored(DEFINITIONS);
    if (definition === undefined || definitions === undefined) return;
    if (storage.list(name).objects.length > 0) {
      // Says what it waits for; once, since what does not change is no change.
      commitUpdate(this.#context, definitions, key, withStatus(definition, rules(this.#context, '')), definition, false);
      return;
    }
    const { finalizers = [], ...rest } = definition.metadata;
    const left = finalizers.filter((one) => one !== CLEANUP);
    const metadata = left.length === 0 ? rest : { ...rest, finalizers: left };
    commitUpdate(this.#context, definitions, key, { ...definition, metadata }, definition, false);
  }
}
