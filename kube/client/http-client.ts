import { type Clock, type Millis, realClock } from '../../base/clock.ts';
import { ActionError } from '../../base/errors.ts';
import { type Log, silentLog } from '../../base/log.ts';
import { type Random, realRandom } from '../../base/random.ts';
import { jsonTextOf } from '../api/json.ts';
import { AnswerReader } from './answer.ts';
import {
  type CallOptions,
  type Client,
  type ListQuery,
  objectPath,
  type ObjectRef,
  patchContentTypes,
  queryString,
  type Skipping,
  type WatchEvent,
  type WatchQuery,
  type WriteOptions,
} from './client.ts';
import { Credentials, RotatedError, Rotation } from './credentials.ts';
import { Deadline, defaultLimits, type Limits, type PriorityLevel } from './limits.ts';
import { noRestMetrics, Requests, type RestMetrics } from './requests.ts';
import { type Dial, Transport, type TransportResponse } from './transport.ts';
import { decodeWatch } from './watch-stream.ts';
import type { KubeList, KubeObject, Resource } from '../api/object.ts';
import type { AccessSource, ClusterAccess } from './access.ts';
import type { WireResponse } from './connection.ts';
import type { PingOptions } from './http2-connection.ts';
import type { Call } from './errors.ts';

export interface ClientOptions {
  clock?: Clock;
  random?: Random;
  log?: Log;
  /** @default none */
  metrics?: RestMetrics;
  /** @default 'dkc' */
  userAgent?: string;
  /** Default timeout of a call, in ms; for a watch, the longest wait for its headers. @default 30_000 */
  timeoutMs?: number;
  /** Longest duration of a list, even while bytes arrive, in ms. @default 300_000 */
  longestListMs?: number;
  /** Concurrent requests of each level; an omitted level keeps its default. Watches are not limited. @default reading 32, listing 4, writing 50 */
  limits?: Partial<Limits>;
  /** Longest wait for TCP and TLS, in ms. @default 10_000 */
  connectTimeoutMs?: number;
  /** @default every 15 s, 10 s for the answer: a half-open socket is noticed within 25 s */
  ping?: PingOptions;
  /** Replaces network connections, such as by connections to an API server in the same process. @default TCP and TLS */
  dial?: Dial;
  /** Shortest time between two checks of the credential files, in ms. @default 1_000 */
  credentialCheckMs?: number;
  /** Time between two checks of them while only watches need them, in ms. @default 30_000 */
  rotationCheckMs?: number;
  /**
   * Most bytes of one object or one watch event. Servers accept requests of 3 MiB, and Go writes `<`, `>`, `&` and some others as six bytes: a legitimate
   * object is below 6 x 3 MiB and some metadata. Lists and watches leave a larger object out where their caller asks for it.
   * @default 32 MiB
   */
  largestObject?: number;
  /** Most bytes of a list that is read as a whole, or of a raw answer. `listEach` has no such limit. @default 64 MiB */
  largestList?: number;
}

/** Watch events whose handling takes longer, together, are handled in several turns of the event loop. */
const MAX_TURN_MS: Millis = 25;

/** Extra time for the server to end a watch after its timeoutSeconds, in ms. */
const WATCH_GRACE_MS = 30_000;

interface ApiRequest {
  method: string;
  /** With the query. */
  path: string;
  body?: unknown;
  contentType?: string;
  accept?: string | undefined;
  limit: number;
  /** The answer is one object, or a list of one. @default false */
  isObject?: boolean;
  level?: PriorityLevel;
  options: CallOptions | undefined;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * A client for one API server as one identity. Opens its connection with the first call. Besides the errors of {@link Client}, a call fails with an
 * ActionError when a file of the access cannot be read or a name cannot be put into a path, and with the reason of its signal when that aborts.
 */
export function createClient(access: ClusterAccess | AccessSource, options: ClientOptions = {}): Client {
  return new HttpClient('current' in access ? access : { current: () => Promise.resolve(access) }, options);
}

class HttpClient implements Client {
  readonly #transport: Transport;
  readonly #credentials: Credentials;
  readonly #requests: Requests;
  readonly #rotation: Rotation;
  readonly #clock: Clock;
  readonly #reader: AnswerReader;
  readonly #userAgent: string;
  readonly #timeoutMs: number;
  readonly #largestObject: number;
  readonly #largestList: number;

  constructor(source: AccessSource, options: ClientOptions) {
    const { clock = realClock, log = silentLog, metrics = noRestMetrics, ping = { everyMs: 15_000, timeoutMs: 10_000 } } = options;
    this.#clock = clock;
    this.#credentials = new Credentials(source, { clock, log, checkEveryMs: options.credentialCheckMs ?? 1_000 });
    this.#transport = new Transport(this.#credentials, {
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ping,
      metrics,
      ...(options.dial === undefined ? {} : { dial: options.dial }),
    });
    this.#reader = new AnswerReader(clock);
    this.#rotation = new Rotation(this.#credentials, clock, options.rotationCheckMs ?? 30_000);
    this.#requests = new Requests(this.#transport, {
      clock,
      random: options.random ?? realRandom,
      reader: this.#reader,
      metrics,
      limits: { ...defaultLimits, ...options.limits },
      longestListMs: options.longestListMs ?? 300_000,
    });
    this.#userAgent = options.userAgent ?? 'dkc';
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#largestObject = options.largestObject ?? 32 * 1024 * 1024;
    this.#largestList = options.largestList ?? 64 * 1024 * 1024;
  }

  async get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: CallOptions): Promise<T> {
    return this.#object<T>(resource, { method: 'GET', path: objectPath(resource, ref), options });
  }

  async list<T extends KubeObject>(resource: Resource, query: ListQuery = {}, options?: CallOptions): Promise<KubeList<T>> {
    const path = objectPath(resource, { namespace: query.namespace }) + queryString(query);
    // An agent lists the one object that it watches.
    const isObject = query.fieldSelector?.startsWith('metadata.name=') === true;
    const { answer, call } = await this.#json({ method: 'GET', path, limit: this.#largestList, level: 'listing', isObject, options });
    return this.#reader.list<T>(answer, resource, call);
  }

  async listEach<T extends KubeObject>(
    resource: Resource,
    query: ListQuery,
    each: (item: T) => void,
    options?: CallOptions & Skipping,
  ): Promise<KubeList['metadata']> {
    const path = objectPath(resource, { namespace: query.namespace }) + queryString(query);
    const call = this.#call('GET', path);
    const { readList } = await import('./list-stream.ts'); // on demand: an agent lists single objects
    return this.#run({ method: 'GET', path, level: 'listing', options }, call, (answer, deadline) => {
      this.#reader.refuseEncoding(answer, call);
      const body = touching(answer.body, deadline);
      return readList<T>(body, { resource, call, each, longestItem: this.#largestObject, skipped: options?.skipped, pause: nextTurn });
    });
  }

  async create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions & { namespace?: string }): Promise<T> {
    const namespace = options?.namespace ?? object.metadata.namespace;
    if (resource.namespaced && namespace === undefined) {
      throw new ActionError('create', `${resource.kind} ${object.metadata.name ?? ''}`, {
        hint: 'its kind is namespaced; set a namespace',
      });
    }
    return this.#object<T>(resource, {
      method: 'POST',
      path: objectPath(resource, { namespace }) + writeQuery(options),
      body: object,
      options,
    });
  }

  async post(resource: Resource, ref: ObjectRef, subresource: string, body: unknown, options?: WriteOptions): Promise<unknown> {
    const path = objectPath(resource, ref, subresource) + writeQuery(options);
    const { answer } = await this.#json({ method: 'POST', path, body, limit: this.#largestObject, options });
    return answer;
  }

  async replace<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions & { subresource?: string }): Promise<T> {
    const { name = '', namespace } = object.metadata;
    const path = objectPath(resource, { name, namespace }, options?.subresource) + writeQuery(options);
    return this.#object<T>(resource, { method: 'PUT', path, body: object, options }, options?.subresource);
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    patch: unknown,
    options: WriteOptions & { type: Parameters<Client['patch']>[3]['type']; subresource?: string },
  ): Promise<T> {
    const path = objectPath(resource, ref, options.subresource) + writeQuery(options);
    const ask = { method: 'PATCH', path, body: patch, contentType: patchContentTypes[options.type], options };
    return this.#object<T>(resource, ask, options.subresource);
  }

  async delete(resource: Resource, ref: ObjectRef, options?: CallOptions & { body?: unknown }): Promise<void> {
    const body = options?.body === undefined ? {} : { body: options.body };
    const ask = { method: 'DELETE', path: objectPath(resource, ref), ...body, options };
    const call = this.#call(ask.method, ask.path);
    await this.#run(ask, call, async (response) => {
      const text = await this.#reader.text(response, this.#largestObject, call);
      // Usually the deleted object, which no caller needs. Anything else is parsed and checked.
      if (!/^\{"kind":"(?!Status")/.test(text)) this.#reader.parse(text, undefined, call);
    });
  }

  async *watch<T extends KubeObject>(
    resource: Resource,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent & { object: T }, void, undefined> {
    const path = objectPath(resource, { namespace: query.namespace }) + queryString(query, { watch: 'true', allowWatchBookmarks: 'true' });
    const call = this.#call('GET', path);
    using deadline = new Deadline(this.#clock, this.#timeoutMs, signal);
    let answer: TransportResponse | undefined;
    try {
      answer = await this.#requests.send({ method: 'GET', path, headers: this.#headers(), signal: deadline.signal }, call);
      await this.#reader.refuseFailure(answer, call);
      this.#reader.refuseEncoding(answer, call);
      query.opened?.();
      // From here on the stream may be silent until its timeoutSeconds have passed.
      deadline.reset(query.timeoutSeconds === undefined ? undefined : query.timeoutSeconds * 1_000 + WATCH_GRACE_MS);
      using _following = this.#rotation.follow(answer.endpoint, (reason) => deadline.end(reason));
      const { stripManagedFields = false, skipped } = query;
      let takenMs = 0;
      for await (const event of decodeWatch<T>(answer.body, call, this.#largestObject, { stripManagedFields, skipped })) {
        const from = this.#clock.monotonic();
        yield event;
        takenMs += this.#clock.monotonic() - from;
        if (takenMs < MAX_TURN_MS) continue;
        // Events that arrived together would otherwise be handled in one turn of the event loop, however many they are.
        await nextTurn();
        takenMs = 0;
      }
    } catch (error) {
      if (!signal.aborted && error instanceof RotatedError) return; // the caller starts the next watch with the new credentials
      throw this.#requests.failure(error, call, signal);
    } finally {
      answer?.cancel();
    }
  }

  async raw(
    method: string,
    path: string,
    options?: CallOptions & { body?: unknown; contentType?: string; accept?: string; answers?: 'json' | 'text' },
  ): Promise<unknown> {
    if (!path.startsWith('/')) throw new ActionError('call', JSON.stringify(path), { hint: 'a raw path starts with "/"' });
    if (options?.answers === 'text') {
      const call = this.#call(method, path);
      const ask = { method, path, ...options, accept: options.accept ?? '*/*', options };
      return this.#run(ask, call, (response) => this.#reader.text(response, this.#largestList, call));
    }
    const { answer } = await this.#json({ method, path, ...options, limit: this.#largestList, options });
    return answer;
  }

  async close(): Promise<void> {
    this.#transport.close();
    this.#credentials.close();
  }

  async #object<T extends KubeObject>(resource: Resource, request: Omit<ApiRequest, 'limit'>, subresource = 'status'): Promise<T> {
    // The number of values is limited for reads only: a write has taken effect, so its answer must be parsed.
    const { answer, call } = await this.#json({ ...request, limit: this.#largestObject, isObject: request.method === 'GET' });
    // Other subresources have their own kind: `scale` returns a Scale.
    return this.#reader.object<T>(answer, subresource === 'status' ? resource.kind : undefined, call);
  }

  async #json({ accept, limit, isObject = false, ...request }: ApiRequest): Promise<{ answer: unknown; call: Call }> {
    const call = this.#call(request.method, request.path);
    const answer = await this.#run({ accept, ...request }, call, async (response, deadline) => {
      const progress = request.level === 'listing' ? () => deadline.touch() : undefined;
      const text = await this.#reader.text(response, limit, call, { progress, isObject });
      return this.#reader.parse(text, accept, call);
    });
    return { answer, call };
  }

  #run<T>(
    { method, path, body, contentType, accept, level, options }: Omit<ApiRequest, 'limit'>,
    call: Call,
    read: (answer: WireResponse, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const headers = this.#headers(accept);
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    const request = { method, path, headers, ...(body === undefined ? {} : { body: jsonTextOf(body) }) };
    const timeoutMs = options?.timeoutMs ?? this.#timeoutMs;
    return this.#requests.run(
      { call, level: level ?? (method === 'GET' ? 'reading' : 'writing'), request, timeoutMs, signal: options?.signal },
      read,
    );
  }

  #call(method: string, path: string): Call {
    const [plain = path] = path.split('?', 1);
    const credentials = this.#credentials;
    return {
      method,
      path: plain.slice(0, 400),
      get host() {
        return credentials.host ?? 'the API server';
      },
    };
  }

  #headers(accept = 'application/json'): Record<string, string> {
    return { accept, 'user-agent': this.#userAgent };
  }
}

/** Passes the body through; each chunk restarts the deadline. */
async function* touching(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of body) {
    deadline.touch();
    yield chunk;
  }
}

function writeQuery(options: WriteOptions | undefined): string {
  return queryString({ ...(options?.dryRun === true ? { dryRun: 'All' } : {}), fieldManager: options?.fieldManager });
}
