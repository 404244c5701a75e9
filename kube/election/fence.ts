import type { Client } from '../client/client.ts';

/** Writes that only a leader may make. */
export interface Fence {
  /** Whether nobody else can be leader at this moment. Reads the clocks: true a moment ago says nothing about now. */
  mayWrite(): boolean;
  /**
   * Makes one write call, now or not at all. The signal it gets aborts when leadership is no longer certain, so that a call that waits (for a
   * connection, for a turn) is not made late.
   * @param signal - the caller's own
   * @throws {NotLeaderError} without calling, when leadership is not certain
   */
  write<T>(call: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Leadership is not certain, so nothing is written. Not worth another try: who has lost it ends. */
export class NotLeaderError extends Error {
  override name = 'NotLeaderError';
  constructor(lease: string, why: string) {
    super(`Cannot write as leader of ${lease}: ${why}`);
  }
}

const reads = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * `client`, with every call that changes something refused unless leadership is certain at that moment. Reads pass.
 * What it cannot do: recall a request that is on its way. A process that is stopped between this check and the system call that sends the request
 * sends it when it goes on; so whoever writes names the version (or uid) that the decision rests on, and the server refuses what came too late.
 * @throws {NotLeaderError} from every write without leadership
 */
export function fenced(client: Client, fence: Fence): Client {
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, query, options) => client.list(resource, query, options),
    listEach: (resource, query, each, options) => client.listEach(resource, query, each, options),
    watch: (resource, query, signal) => client.watch(resource, query, signal),
    create: (resource, object, options) =>
      fence.write((signal) => client.create(resource, object, { ...options, signal }), options?.signal),
    post: (resource, ref, subresource, body, options) =>
      fence.write((signal) => client.post(resource, ref, subresource, body, { ...options, signal }), options?.signal),
    replace: (resource, object, options) =>
      fence.write((signal) => client.replace(resource, object, { ...options, signal }), options?.signal),
    patch: (resource, ref, patch, options) =>
      fence.write((signal) => client.patch(resource, ref, patch, { ...options, signal }), options.signal),
    delete: (resource, ref, options) => fence.write((signal) => client.delete(resource, ref, { ...options, signal }), options?.signal),
    raw: (method, path, options) =>
      reads.has(method.toUpperCase())
        ? client.raw(method, path, options)
        : fence.write((signal) => client.raw(method, path, { ...options, signal }), options?.signal),
    close: () => client.close(),
  };
}
