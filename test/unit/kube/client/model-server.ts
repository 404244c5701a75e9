import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { KubeList, KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client, ListQuery, WatchEvent, WatchQuery } from '../../../../kube/client/client.ts';

const call = { method: 'GET', path: '/model', host: 'model' };
export const expired = () => new ApiError(call, { code: 410, reason: 'Expired', message: 'too old' });
export const cut = () => new TransportError(call, 'cut', { hint: 'cut' });

/** Something a watch is told from outside: an event, an error to throw, or its end. */
type Signal = { event: WatchEvent } | { error: Error } | 'end';

/**
 * One object on an API server made of values, with a log of its changes like etcd's: a watch replays what came after its version, or is told 410
 * when that was compacted.
 */
export class ModelServer {
  object: KubeObject | undefined;
  failLists: Error[] = [];
  failWatches: (Error | 'end')[] = [];
  requests: { verb: 'list' | 'watch'; query: ListQuery | WatchQuery }[] = [];
  #version = 1;
  #compacted = 0;
  #log: { version: number; event: WatchEvent }[] = [];
  #watchers = new Set<(signal: Signal) => void>();

  readonly client: Pick<Client, 'list' | 'watch'> = {
    list: async <T extends KubeObject>(_resource: Resource, query: ListQuery = {}) => {
      this.requests.push({ verb: 'list', query });
      const error = this.failLists.shift();
      if (error) throw error;
      const items = this.object === undefined ? [] : [structuredClone(this.object)];
      return { metadata: { resourceVersion: String(this.#version) }, items } as unknown as KubeList<T>;
    },
    watch: <T extends KubeObject>(_resource: Resource, query: WatchQuery, signal: AbortSignal) =>
      this.#watch(query, signal) as AsyncIterable<WatchEvent & { object: T }>,
  };

  put(name: string, uid: string): void {
    this.#version++;
    const type = this.object === undefined ? 'ADDED' : 'MODIFIED';
    this.object = { metadata: { name, uid, resourceVersion: String(this.#version) } };
    this.#record({ type, object: this.object });
  }

  remove(): void {
    if (this.object === undefined) return;
    this.#version++;
    const object = { metadata: { ...this.object.metadata, resourceVersion: String(this.#version) } };
    this.object = undefined;
    this.#record({ type: 'DELETED', object });
  }

  /** Changes that nobody hears of any more: whoever was cut off must list. */
  compact(): void {
    this.#log = [];
    this.#compacted = this.#version;
  }

  bookmark(): void {
    this.#version++;
    this.#send({ event: { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(this.#version) } } } });
  }

  /** The newest event once more, as after a reconnect. */
  duplicate(): void {
    const last = this.#log.at(-1);
    if (last) this.#send({ event: last.event });
  }

  /** Something about another object, from a server that overlooks field selectors. */
  stranger(): void {
    this.#version++;
    this.#record({ type: 'MODIFIED', object: { metadata: { name: 'stranger', uid: 's', resourceVersion: String(this.#version) } } });
  }

  disrupt(how: Error | 'end'): void {
    this.#send(how === 'end' ? 'end' : { error: how });
  }

  #record(event: WatchEvent): void {
    this.#log.push({ version: this.#version, event });
    this.#send({ event });
  }

  #send(signal: Signal): void {
    for (const watcher of this.#watchers) watcher(signal);
  }

  async *#watch(query: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent, void, undefined> {
    this.requests.push({ verb: 'watch', query });
    const failure = this.failWatches.shift();
    if (failure === 'end') return;
    if (failure) throw failure;
    const since = Number(query.resourceVersion);
    if (since < this.#compacted) throw expired();
    const queue: Signal[] = this.#log.filter(({ version }) => version > since).map(({ event }) => ({ event }));
    let wake = () => {};
    const watcher = (told: Signal) => {
      queue.push(told);
      wake();
    };
    this.#watchers.add(watcher);
    const aborted = () => watcher({ error: new Error('aborted') });
    signal.addEventListener('abort', aborted);
    try {
      for (;;) {
        const told = queue.shift();
        if (told === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else if (told === 'end') return;
        else if ('error' in told) throw told.error;
        else yield structuredClone(told.event);
      }
    } finally {
      signal.removeEventListener('abort', aborted);
      this.#watchers.delete(watcher);
    }
  }
}
