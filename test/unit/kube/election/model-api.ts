import type { Millis } from '../../../../base/clock.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { CallOptions, Client } from '../../../../kube/client/client.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { Machine, World } from './simulation.ts';

const call = { method: 'CALL', path: '/model', host: 'model' };
const refusal = (code: number, reason: string): ApiError => new ApiError(call, { code, reason, message: reason });

/**
 * Objects by kind under one counter of versions, as an API server has them.
 * Not the embedded server: requests and answers travel in the model's own time and may arrive late or never, in tens of thousands of runs.
 */
export class ModelApi {
  readonly objects = new Map<string, KubeObject>();
  /** Share of requests whose request, and as often whose answer, is lost; and of those that are answered with 500. */
  trouble = 0;
  /** Told of every object as it is stored. */
  onStored: (kind: string, object: KubeObject) => void = () => {};
  #version = 0;

  get(kind: string): KubeObject {
    const found = this.objects.get(kind);
    if (found === undefined) throw refusal(404, 'NotFound');
    return structuredClone(found);
  }

  create(kind: string, object: KubeObject): KubeObject {
    if (this.objects.has(kind)) throw refusal(409, 'AlreadyExists');
    return this.#store(kind, { ...object, metadata: { ...object.metadata, uid: `uid-${this.#version}` } });
  }

  replace(kind: string, object: KubeObject): KubeObject {
    const there = this.get(kind);
    if ((object.metadata.resourceVersion ?? there.metadata.resourceVersion) !== there.metadata.resourceVersion)
      throw refusal(409, 'Conflict');
    return this.#store(kind, object);
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
  const request = <T>(apply: () => KubeObject, { signal, timeoutMs = 30_000 }: CallOptions = {}): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      signal?.throwIfAborted();
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      machine.after(timeoutMs, () => reject(new TransportError(call, 'timeout', { hint: `no answer within ${timeoutMs} ms` })));
      const travels = (arrive: () => void): void => {
        if (!machine.isCutOff && world.random() >= api.trouble) world.after(networkMs(world), arrive);
      };
      const back = (settle: () => void): void => travels(() => machine.isCutOff || machine.deliver(settle));
      const arrived = (): void => {
        if (world.random() < api.trouble) return back(() => reject(refusal(500, 'InternalError')));
        try {
          const result = apply() as T;
          return back(() => resolve(result));
        } catch (error) {
          return back(() => reject(error));
        }
      };
      // From the check to the system call: a process that is halted here sends when it goes on.
      world.after(world.between(0, 0.5), () => machine.deliver(() => travels(arrived)));
    });
  return {
    get: (resource, _ref, options) => request(() => api.get(resource.kind), options),
    create: (resource, object, options) => request(() => api.create(resource.kind, object), options),
    replace: (resource, object, options) => request(() => api.replace(resource.kind, object), options),
  };
}

/** Mostly quick, now and then seconds: less than what lies between renew deadline and lease duration, or much more. */
function networkMs(world: World): Millis {
  const luck = world.random();
  if (luck < 0.95) return world.between(0.2, 20);
  return luck < 0.998 ? world.between(20, 2_000) : world.between(2_000, 40_000);
}
