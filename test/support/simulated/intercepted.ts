import type { KubeList, KubeObject, Resource } from '../../../kube/api/object.ts';
import type { CallOptions, Client, ListQuery, ObjectRef, WatchEvent, WatchQuery } from '../../../kube/client/client.ts';

/** One call of a client, as far as a test wants to tell calls apart. */
export interface SeenCall {
  verb: 'get' | 'list' | 'create' | 'post' | 'replace' | 'patch' | 'delete' | 'watch' | 'raw';
  /** Plural name, with the subresource: `daemonsets/status`. */
  resource: string;
  /** Where it goes; '' where no name is known yet. */
  key: string;
  /** What is sent along. */
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export interface Interceptor {
  /** Makes the call by `pass`, or does not. */
  call(call: SeenCall, pass: () => Promise<unknown>): Promise<unknown>;
  watch?(
    call: SeenCall,
    pass: () => AsyncIterable<WatchEvent & { object: KubeObject }>,
  ): AsyncIterable<WatchEvent & { object: KubeObject }>;
}

/** The same client, with somebody between it and its user. */
export function intercepted(client: Client, by: Interceptor): Client {
  const through = async <T>(call: SeenCall, pass: () => Promise<T>): Promise<T> => (await by.call(call, pass)) as T;
  return {
    get: (resource, ref, options) =>
      through({ verb: 'get', ...place(resource, ref), ...signalOf(options) }, () => client.get(resource, ref, options)),
    list: <T extends KubeObject>(resource: Resource, query?: ListQuery, options?: CallOptions) =>
      through<KubeList<T>>({ verb: 'list', ...place(resource), ...signalOf(options) }, () => client.list<T>(resource, query, options)),
    listEach: (resource, query, each, options) =>
      through({ verb: 'list', ...place(resource), ...signalOf(options) }, () => client.listEach(resource, query, each, options)),
    create: (resource, object, options) =>
      through({ verb: 'create', ...place(resource, object.metadata), body: object, ...signalOf(options) }, () =>
        client.create(resource, object, options),
      ),
    post: (resource, ref, subresource, body, options) =>
      through({ verb: 'post', ...place(resource, ref, subresource), body, ...signalOf(options) }, () =>
        client.post(resource, ref, subresource, body, options),
      ),
    replace: (resource, object, options) =>
      through({ verb: 'replace', ...place(resource, object.metadata, options?.subresource), body: object, ...signalOf(options) }, () =>
        client.replace(resource, object, options),
      ),
    patch: (resource, ref, patch, options) =>
      through({ verb: 'patch', ...place(resource, ref, options.subresource), body: patch, ...signalOf(options) }, () =>
        client.patch(resource, ref, patch, options),
      ),
    delete: (resource, ref, options) =>
      through({ verb: 'delete', ...place(resource, ref), body: options?.body, ...signalOf(options) }, () =>
        client.delete(resource, ref, options),
      ),
    watch: <T extends KubeObject>(resource: Resource, query: WatchQuery, signal: AbortSignal) => {
      const pass = (): AsyncIterable<WatchEvent & { object: T }> => client.watch<T>(resource, query, signal);
      const watched = by.watch?.({ verb: 'watch', ...place(resource), signal }, pass) ?? pass();
      return watched as AsyncIterable<WatchEvent & { object: T }>;
    },
    raw: (method, path, options) => through({ verb: 'raw', resource: path, key: '' }, () => client.raw(method, path, options)),
    close: () => client.close(),
  };
}

function place({ resource }: Resource, ref: Partial<ObjectRef> = {}, subresource?: string): { resource: string; key: string } {
  const { namespace, name = '' } = ref;
  return {
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    key: namespace === undefined ? name : `${namespace}/${name}`,
  };
}

function signalOf(options: CallOptions | undefined): { signal?: AbortSignal } {
  return options?.signal === undefined ? {} : { signal: options.signal };
}
