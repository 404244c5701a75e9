import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import type { Client, ObjectRef, WatchEvent, WatchQuery } from '../../../kube/client/client.ts';

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
  const through = <T>(verb: SeenCall['verb'], at: Place, more: Sent | undefined, pass: () => Promise<T>): Promise<T> => {
    const { body, signal } = more ?? {};
    return by.call(
      { verb, ...at, ...(body === undefined ? {} : { body }), ...(signal === undefined ? {} : { signal }) },
      pass,
    ) as Promise<T>;
  };
  return {
    get: (resource, ref, options) => through('get', place(resource, ref), options, () => client.get(resource, ref, options)),
    list: (resource, query, options) => through('list', place(resource), options, () => client.list(resource, query, options)),
    listEach: (resource, query, each, options) =>
      through('list', place(resource), options, () => client.listEach(resource, query, each, options)),
    create: (resource, body, options) =>
      through('create', place(resource, body.metadata), { ...options, body }, () => client.create(resource, body, options)),
    post: (resource, ref, subresource, body, options) =>
      through('post', place(resource, ref, subresource), { ...options, body }, () =>
        client.post(resource, ref, subresource, body, options),
      ),
    replace: (resource, body, options) =>
      through('replace', place(resource, body.metadata, options?.subresource), { ...options, body }, () =>
        client.replace(resource, body, options),
      ),
    patch: (resource, ref, body, options) =>
      through('patch', place(resource, ref, options.subresource), { ...options, body }, () => client.patch(resource, ref, body, options)),
    delete: (resource, ref, options) => through('delete', place(resource, ref), options, () => client.delete(resource, ref, options)),
    watch: <T extends KubeObject>(resource: Resource, query: WatchQuery, signal: AbortSignal) => {
      const pass = (): AsyncIterable<WatchEvent & { object: T }> => client.watch<T>(resource, query, signal);
      const watched = by.watch?.({ verb: 'watch', ...place(resource), signal }, pass) ?? pass();
      return watched as AsyncIterable<WatchEvent & { object: T }>;
    },
    raw: (method, path, options) => through('raw', { resource: path, key: '' }, undefined, () => client.raw(method, path, options)),
    close: () => client.close(),
  };
}

type Place = Pick<SeenCall, 'resource' | 'key'>;
type Sent = Pick<SeenCall, 'body' | 'signal'>;

function place({ resource }: Resource, ref: Partial<ObjectRef> = {}, subresource?: string): Place {
  const { namespace, name = '' } = ref;
  return {
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    key: namespace === undefined ? name : `${namespace}/${name}`,
  };
}
