import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import type { CallOptions, Client, ListQuery, WatchEvent } from '../../../kube/client/client.ts';

/** Between a reflector and its client: notes what is asked, and can hold everything back. */
export class Gate implements Pick<Client, 'listEach' | 'watch'> {
  readonly #client: Client;
  readonly #note: (what: string) => void;
  #open = Promise.resolve();
  #release = (): void => {};
  #cut = new AbortController();

  constructor(client: Client, note: (what: string) => void) {
    this.#client = client;
    this.#note = note;
  }

  /** Ends watches under way; new calls wait. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#open, this.#release] = [promise, resolve];
    this.#cut.abort(new Error('held back'));
  }

  release(): void {
    this.#cut = new AbortController();
    this.#release();
  }

  async listEach<T extends KubeObject>(
    resource: Resource,
    query: ListQuery,
    item: (item: T) => void,
    options?: CallOptions,
  ): ReturnType<Client['listEach']> {
    await this.#open;
    this.#note(query.continue === undefined ? 'list' : 'next page');
    return this.#client.listEach(resource, query, item, options);
  }

  async *watch<T extends KubeObject>(
    ...[resource, query, signal]: Parameters<Client['watch']>
  ): AsyncGenerator<WatchEvent & { object: T }> {
    await this.#open;
    this.#note(query.sendInitialEvents === true ? 'stream' : 'watch');
    yield* this.#client.watch<T>(resource, query, AbortSignal.any([signal, this.#cut.signal]));
  }
}
