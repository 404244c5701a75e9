import type { Millis } from '../../../../base/clock.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { CallOptions, Client } from '../../../../kube/client/client.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { Machine, World } from './simulation.ts';

const call = { method: 'CALL', path: '/model', host: 'model' };

/**
 * Objects by kind and name under one counter of versions, as an API server has them. What it did is in the order in which it did it.
 * Not the embedded server: requests and answers travel in the model's own time and may arrive late or never, in tens of thousands of runs.
 */
export class ModelApi {
  readonly objects = new Map<string, KubeObject>();
  isAway = false;
  /** Share of requests whose request, and as often whose answer, is lost; and of those that are answered with 500. */
  trouble = 0;
  /** Told of every object as it is stored. */
  onStored: (kind: string, object: KubeObject) => void = () => {};
  #version = 0;

  get(kind: string): KubeObject {
    const found = this.objects.get(kind);
    if (found === undefined) throw new ApiError(call, { code: 404, reason: 'NotFound', message: `no ${kind}` });
    return structuredClone(found);
  }

  create(kind: string, object: KubeObject): KubeObject {
    if (this.objects.has(kind)) throw new ApiError(call, { code: 409, reason: 'AlreadyExists', message: `${kind} exists` });
    return this.#store(kind, { ...object, metadata: { ...object.metadata, uid: `uid-${this.#version}` } });
  }

  replace(kind: string, object: KubeObject): KubeObject {
    const there = this.get(kind);
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== there.metadata.resourceVersion) {
      throw new ApiError(call, { code: 409, reason: 'Conflict', message: `${kind} changed` });
    }
    const unchanged = JSON.stringify({ ...object, metadata: {} }) === JSON.stringify({ ...there, metadata: {} });
    // As a real one does: who writes what is there has written nothing.
    return unchanged && JSON.stringify(object.metadata) === JSON.stringify(there.metadata) ? there : this.#store(kind, object);
  }

  #store(kind: string, object: KubeObject): KubeObject {
    this.#version += 1;
    const stored = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
    this.objects.set(kind, stored);
    this.onStored(kind, stored);
    return structuredClone(stored);
  }
}

/** A client on `machine`. Requests and answers take their time, and may be lost; a request that was given up may arrive all the same. */
export function modelClient(world: World, machine: Machine, api: ModelApi): Pick<Client, 'get' | 'create' | 'replace'> {
  const request = async <T>(apply: () => KubeObject, options: CallOptions | undefined): Promise<T> => {
    const answer = Promise.withResolvers<T>();
    const { signal, timeoutMs = 30_000 } = options ?? {};
    signal?.throwIfAborted();
    const abort = (): void => answer.reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const over = new AbortController();
    machine.sleep(timeoutMs, over.signal).then(
      () => answer.reject(new TransportError(call, 'timeout', { hint: `no answer within ${timeoutMs} ms` })),
      () => {},
    );
    // From the check to the system call: a process that is halted here sends when it goes on.
    world.after(world.between(0, 0.5), () => machine.deliver(() => send(world, { machine, api, apply, answer })));
    try {
      return await answer.promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      over.abort();
    }
  };
  return {
    get: (resource: Resource, _ref, options) => request(() => api.get(resource.kind), options),
    create: (resource, object, options) => request(() => api.create(resource.kind, object), options),
    replace: (resource, object, options) => request(() => api.replace(resource.kind, object), options),
  };
}

interface Sending<T> {
  machine: Machine;
  api: ModelApi;
  apply: () => KubeObject;
  answer: PromiseWithResolvers<T>;
}

function send<T>(world: World, { machine, api, apply, answer }: Sending<T>): void {
  if (machine.isCutOff || world.random() < api.trouble) return;
  world.after(networkMs(world), () => {
    const back = (settle: () => void): void => {
      if (world.random() < api.trouble) return;
      world.after(networkMs(world), () => {
        if (!machine.isCutOff) machine.deliver(settle);
      });
    };
    if (api.isAway) return back(() => answer.reject(new TransportError(call, 'unreachable', { hint: 'connection refused' })));
    if (world.random() < api.trouble) {
      return back(() => answer.reject(new ApiError(call, { code: 500, reason: 'InternalError', message: 'trouble' })));
    }
    try {
      const result = apply() as T;
      back(() => answer.resolve(result));
    } catch (error) {
      back(() => answer.reject(error));
    }
    return undefined;
  });
}

/** Mostly quick, now and then seconds: less than what lies between renew deadline and lease duration, or much more. */
function networkMs(world: World): Millis {
  const luck = world.random();
  if (luck < 0.95) return world.between(0.2, 20);
  return luck < 0.998 ? world.between(20, 2_000) : world.between(2_000, 40_000);
}
