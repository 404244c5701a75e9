import type { Client, ListQuery, ObjectRef, WatchEvent } from '../../kube/client/client.ts';
import { ApiError, TransportError } from '../../kube/client/errors.ts';
import { applyMergePatch } from '../../apiserver/patch/json-patch.ts';
import type { KubeList, KubeObject, Resource } from '../../kube/api/object.ts';

type Change = { rv: number; resource: string; type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject };

export interface Caller {
  alive: () => boolean;
  /** Told of each `status.config` of a Node that it wrote, with the `dkc.dev/agent` that came with it, and of each status of a NodeConfig. */
  onStatus: (config: unknown, resource: Resource, annotation?: string) => void;
  onEvent: (event: KubeObject) => void;
  /** Told of each `dkc.dev/agent` that it wrote without a status. */
  onAnnotation?: (text: string) => void;
}

/**
 * Just as much of an API server as a node's agent meets, in memory: objects with uid and resourceVersion, single-object list and
 * watch, status patches of Nodes, events. What it does wrong is switched on by the test.
 * Not the embedded server: sweeps kill an agent at every write, thousands of lives a run; a call costs 1 to 3 µs here and 30 to 60 µs there, and a server 2 ms.
 */
export class FakeApi {
  away = false;
  /** DynamicKubeletConfig: off means that `status.config` is dropped without a word. */
  gate = true;
  /** What it says it is; from 1.26 on the fields of Nodes are dropped whatever the gate. */
  version = 'v1.20.2';
  hasNodeConfigs = false;
  forbidden = false;
  podsForbidden = false;
  readonly events: KubeObject[] = [];
  patches = 0;
  readonly #objects = new Map<string, KubeObject>();
  readonly #changes: Change[] = [];
  readonly #wakers = new Set<() => void>();
  #rv = 0;
  #ended = '';
  #uids = 0;

  /** Creates or replaces. Without a change nothing happens, as on a real server. */
  put(resource: Resource, object: KubeObject): KubeObject {
    const key = keyOf(resource, object.metadata);
    const old = this.#objects.get(key);
    const metadata = { ...object.metadata, uid: old?.metadata.uid ?? `uid-${(this.#uids += 1)}` };
    const same = old && JSON.stringify({ ...old, metadata: { ...old.metadata, resourceVersion: '' } });
    if (old && same === JSON.stringify({ ...object, metadata: { ...metadata, resourceVersion: '' } })) return old;
    const stored = { ...object, metadata: { ...metadata, resourceVersion: String((this.#rv += 1)) } };
    this.#objects.set(key, stored);
    this.#tell({ rv: this.#rv, resource: resource.resource, type: old ? 'MODIFIED' : 'ADDED', object: stored });
    return stored;
  }

  /** After a restore of etcd other writes have led to the same version: the object is another one under its uid and resourceVersion, and nobody is told. */
  restore(resource: Resource, ref: ObjectRef, as: Partial<KubeObject>): void {
    const old = this.get(resource, ref);
    if (old) this.#objects.set(keyOf(resource, ref), { ...old, ...as });
  }

  get(resource: Resource, ref: ObjectRef): KubeObject | undefined {
    return this.#objects.get(keyOf(resource, ref));
  }

  all(resource: Resource): KubeObject[] {
    return [...this.#objects].flatMap(([key, object]) => (key.startsWith(`${resource.resource}/`) ? [object] : []));
  }

  remove(resource: Resource, ref: ObjectRef): void {
    const object = this.get(resource, ref);
    if (!object) return;
    this.#objects.delete(keyOf(resource, ref));
    this.#rv += 1;
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#rv) } };
    this.#tell({ rv: this.#rv, resource: resource.resource, type: 'DELETED', object: last });
  }

  /** Fields that are there already stay. */
  #keepsStatus(old: KubeObject): boolean {
    return (old['status'] as { config?: unknown } | undefined)?.config !== undefined || (this.gate && this.isNative);
  }

  get isNative(): boolean {
    return Number(/^v1\.(\d+)/.exec(this.version)?.[1]) <= 25;
  }

  /** Goes or comes back: connections end at once. */
  setAway(away: boolean): void {
    this.away = away;
    this.#wake();
  }

  /** The server ends the watches of a kind that it does not serve any more. */
  endWatches(resource: string): void {
    this.#ended = resource;
    this.#wake();
  }

  get watches(): number {
    return this.#wakers.size;
  }

  client({ alive, onStatus, onEvent, onAnnotation }: Caller): Client {
    const call = (resource: Resource, method: string) => ({ method, path: `/${resource.resource}`, host: 'api' });
    const reach = (resource: Resource, method: string): void => {
      if (this.away || !alive()) throw new TransportError(call(resource, method), 'unreachable', { hint: 'nobody answers' });
      const refuse = (code: number, reason: string, message: string): never => {
        throw new ApiError(call(resource, method), { code, reason, message });
      };
      if (resource.resource === 'nodeconfigs' && !this.hasNodeConfigs)
        refuse(404, 'NotFound', 'the server could not find the requested resource');
      if ((this.forbidden && resource.resource === 'configmaps') || (this.podsForbidden && resource.resource === 'pods'))
        refuse(403, 'Forbidden', 'no relationship found');
    };
    const unused = (): never => {
      throw new Error('the agent has no need of this call');
    };
    return {
      get: async <T extends KubeObject>(resource: Resource, ref: ObjectRef): Promise<T> => {
        reach(resource, 'GET');
        const object = this.get(resource, ref);
        if (!object) throw new ApiError(call(resource, 'GET'), { code: 404, reason: 'NotFound', message: 'no such object' });
        return object as T;
      },
      post: unused,
      replace: unused,
      delete: unused,
      raw: async (_method, path) => {
        const said = { method: 'GET', path, host: 'api' };
        if (this.away || !alive()) throw new TransportError(said, 'unreachable', { hint: 'nobody answers' });
        if (path === '/version') return { gitVersion: this.version };
        if (path !== '/apis/dkc.dev/v1alpha1') return unused();
        if (!this.hasNodeConfigs) throw new ApiError(said, { code: 404, reason: 'NotFound', message: 'page not found' });
        return { resources: [{ name: 'nodeconfigs' }] };
      },
      close: async () => {},
      list: async <T extends KubeObject>(resource: Resource, query: ListQuery = {}): Promise<KubeList<T>> => {
        reach(resource, 'GET');
        return { metadata: { resourceVersion: String(this.#rv) }, items: this.all(resource).filter((one) => matches(one, query)) as T[] };
      },
      listEach: async <T extends KubeObject>(resource: Resource, query: ListQuery, each: (item: T) => void) => {
        reach(resource, 'GET');
        for (const object of this.all(resource)) if (matches(object, query)) each(object as T);
        return { resourceVersion: String(this.#rv) };
      },
      create: async <T extends KubeObject>(resource: Resource, object: T): Promise<T> => {
        reach(resource, 'POST');
        if (this.events.some(({ metadata }) => metadata.name === object.metadata.name))
          throw new ApiError(call(resource, 'POST'), { code: 409, reason: 'AlreadyExists', message: 'it exists' });
        this.events.push(object);
        onEvent(object);
        return object;
      },
      patch: async <T extends KubeObject>(resource: Resource, ref: ObjectRef, patch: unknown): Promise<T> => {
        reach(resource, 'PATCH');
        this.patches += 1;
        const old = this.get(resource, ref);
        if (!old) throw new ApiError(call(resource, 'PATCH'), { code: 404, reason: 'NotFound', message: 'no such Node' });
        const { status, ...rest } = patch as { status?: unknown; metadata?: Partial<KubeObject['metadata']> };
        if ((rest.metadata?.resourceVersion ?? old.metadata.resourceVersion) !== old.metadata.resourceVersion)
          throw new ApiError(call(resource, 'PATCH'), { code: 409, reason: 'Conflict', message: 'the object has been modified' });
        const isNode = resource.resource === 'nodes';
        const keeps = !isNode || this.#keepsStatus(old);
        const kept = keeps && status !== undefined ? patch : rest;
        const answer = this.put(resource, applyMergePatch(old, kept) as KubeObject);
        const note = rest.metadata?.annotations?.['dkc.dev/agent'];
        const written = answer['status'] as { config?: unknown } | undefined;
        if (keeps && status !== undefined) onStatus(isNode ? written?.config : written, resource, note);
        else if (note !== undefined) onAnnotation?.(note);
        return answer as T;
      },
      watch: <T extends KubeObject>(resource: Resource, query: { resourceVersion?: string }, signal: AbortSignal) =>
        this.#watch<T>(resource, query, signal, () => reach(resource, 'GET')),
    };
  }

  async *#watch<T extends KubeObject>(
    resource: Resource,
    query: { resourceVersion?: string; namespace?: string; fieldSelector?: string },
    signal: AbortSignal,
    reach: () => void,
  ): AsyncIterable<WatchEvent & { object: T }> {
    let from = Number(query.resourceVersion ?? 0);
    let woken = Promise.withResolvers<void>();
    const waker = (): void => {
      woken.resolve();
      woken = Promise.withResolvers();
    };
    this.#wakers.add(waker);
    signal.addEventListener('abort', waker, { once: true });
    try {
      while (!signal.aborted) {
        reach();
        if (this.#ended === resource.resource && !this.hasNodeConfigs) return;
        const change = this.#changes.find((one) => one.rv > from && one.resource === resource.resource && matches(one.object, query));
        if (change) {
          from = change.rv;
          yield { type: change.type, object: change.object as T };
        } else await woken.promise;
      }
    } finally {
      this.#wakers.delete(waker);
      signal.removeEventListener('abort', waker);
    }
  }

  #tell(change: Change): void {
    this.#changes.push(change);
    this.#wake();
  }

  #wake(): void {
    for (const waker of this.#wakers) waker();
  }
}

function keyOf(resource: Resource, { namespace, name }: { namespace?: string; name?: string }): string {
  return `${resource.resource}/${namespace ?? ''}/${name ?? ''}`;
}

function matches({ metadata }: KubeObject, query: { namespace?: string; fieldSelector?: string }): boolean {
  const name = /^metadata\.name=(.*)$/.exec(query.fieldSelector ?? '')?.[1];
  return (name === undefined || metadata.name === name) && (query.namespace === undefined || metadata.namespace === query.namespace);
}
