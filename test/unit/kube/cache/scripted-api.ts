import type { KubeList, KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client, ListQuery, WatchEvent, WatchQuery } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { TooLarge } from '../../../../kube/client/json-bytes.ts';
import type { ReflectorOptions } from '../../../../kube/cache/reflector.ts';

/**
 * What the server does with one request, in order:
 * `list 5: a#1@3 b#2@5` (or `list 5 more: ...`, a page that another follows), `watch: ADDED a#1@6, BOOKMARK 9` and then the end,
 * `watch hold: ...` and then silence until the signal aborts, `watch break: ...` and then a failure (`watch break 410: ...`), `fail 500`
 * (`fail 429` asks for 7 seconds). `b#2@5!` is too large for the client, in a list as in an event.
 * Not the embedded server: it keeps a server's promises, and these scripts break them (versions that go back, events of objects that were never listed).
 */
export class ScriptedApi {
  /** `list limit=500 resourceVersion=0`, `watch resourceVersion=5`. */
  readonly requests: string[] = [];
  #steps: string[];
  #over = Promise.withResolvers<void>();

  constructor(...steps: string[]) {
    this.#steps = steps;
  }

  /** Resolves once a request finds nothing in the script. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  add(...steps: string[]): void {
    this.#steps.push(...steps);
  }

  readonly client: ReflectorOptions['client'] & Pick<Client, 'list'> = {
    list: async <T extends KubeObject>(resource: Resource, query: ListQuery = {}, options?: { signal?: AbortSignal }) => {
      const items: T[] = [];
      const metadata = await this.client.listEach<T>(resource, query, (item) => items.push(item), options);
      return { metadata, items } as unknown as KubeList<T>;
    },
    listEach: async <T extends KubeObject>(
      _resource: Resource,
      query: ListQuery,
      each: (item: T) => void,
      options?: { signal?: AbortSignal; skipped?: (what: TooLarge) => void },
    ): Promise<KubeList['metadata']> => {
      const { what, rest } = await this.#next('list', query, options?.signal);
      const [, version = '', more] = what.split(' ');
      for (const text of rest.split(' ').filter(Boolean)) {
        if (text.endsWith('!')) options?.skipped?.(tooLarge(text));
        else each(object(text) as T);
      }
      return { resourceVersion: version, ...(more === undefined ? {} : { continue: `after-${version}` }) };
    },
    watch: <T extends KubeObject>(_resource: Resource, query: WatchQuery, signal: AbortSignal) =>
      this.#watch(query, signal) as AsyncIterable<WatchEvent & { object: T }>,
  };

  async *#watch(asked: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent, void, undefined> {
    const { timeoutSeconds: _, stripManagedFields: _strip, skipped, opened, ...query } = asked;
    const { what, rest } = await this.#next('watch', query, signal);
    opened?.();
    for (const text of rest.split(', ').filter(Boolean)) {
      const [type = '', of = ''] = text.split(' ');
      if (of.endsWith('!')) skipped?.(tooLarge(of, type));
      else yield event(text);
    }
    if (what.endsWith('hold')) await silence(signal);
    if (what.startsWith('watch break')) throw failure(Number(what.slice(12) || 502));
  }

  async #next(verb: string, query: ListQuery | WatchQuery, signal: AbortSignal | undefined): Promise<{ what: string; rest: string }> {
    this.requests.push([verb, ...Object.entries(query).map(([field, value]) => `${field}=${value}`)].join(' '));
    const step = this.#steps.shift();
    if (step === undefined) {
      this.#over.resolve();
      await silence(signal);
    }
    const [what = '', rest = ''] = (step ?? '').split(/: ?/);
    if (what.startsWith('fail')) throw failure(Number(what.slice(5)));
    if (!what.startsWith(verb)) throw new Error(`the script has ${step}, and the request is a ${verb}`);
    return { what, rest };
  }
}

function tooLarge(text: string, type?: string): TooLarge {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = object(text.slice(0, -1)).metadata;
  return { of: 'bytes', type, metadata: { name, namespace, uid, resourceVersion } };
}

function failure(code: number): ApiError {
  return new ApiError(
    { method: 'GET', path: '/pods', host: 'script' },
    {
      code,
      reason: '',
      retryAfterMs: code === 429 ? 7_000 : undefined,
      message: code === 504 ? 'Too large resource version: 9, current: 5' : 'so the script says',
    },
  );
}

function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
}

/** `web#1@5`: the object web in namespace ns, of uid 1, at version 5; `?` one without a name. */
export function object(text: string): KubeObject {
  if (text === '?') return { metadata: { uid: '1', resourceVersion: '6' } };
  const [, name = '', uid = '', resourceVersion = ''] = /^([a-z0-9-]+)#(\w+)@(\w*)$/.exec(text) ?? [];
  if (name === '') throw new Error(`not an object: ${text}`);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ns', name, uid, resourceVersion } };
}

/** The other way round; `-` for nothing. */
export function written(of: KubeObject | undefined): string {
  return of === undefined ? '-' : `${of.metadata.name}#${of.metadata.uid}@${of.metadata.resourceVersion}`;
}

/** `ADDED web#1@5`; `BOOKMARK 9`, `BOOKMARK 9 end` for the end of the initial events. */
export function event(text: string): WatchEvent {
  const [type = '', what = '', end] = text.split(' ');
  if (type === 'BOOKMARK') {
    const annotations = end === undefined ? {} : { annotations: { 'k8s.io/initial-events-end': 'true' } };
    return { type, object: { metadata: { resourceVersion: what, ...annotations } } };
  }
  return { type: type as WatchEvent['type'], object: object(what) };
}
