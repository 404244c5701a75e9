import type { KubeList, KubeObject, Resource } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import type { Client, ListQuery, WatchEvent, WatchQuery } from '../../../../kube/client/client.ts';
import { isExpired } from '../../../../kube/client/errors.ts';

type Reads = Pick<Client, 'listEach' | 'watch'>;
type Plant = (client: Reads, world: { version: () => number }) => Reads;

/** Mistakes that a cache could have. Each must be found by {@link converge}, or its verdict is worth nothing. */
export const planted: Readonly<Record<string, Plant>> = {
  'a 410 that is answered with a new watch instead of a list': (client, { version }) => {
    let skipTo: string | undefined;
    return {
      listEach: (...call) => client.listEach(...call),
      watch: <T extends KubeObject>(resource: Resource, query: WatchQuery, signal: AbortSignal) =>
        (async function* (): AsyncGenerator<WatchEvent & { object: T }> {
          const from = skipTo === undefined || query.sendInitialEvents === true ? {} : { resourceVersion: skipTo };
          try {
            yield* client.watch<T>(resource, { ...query, ...from }, signal);
          } catch (error) {
            if (!isExpired(error)) throw error;
            skipTo = String(version());
          }
        })(),
    };
  },

  'a deletion that a list shows and nobody is told': (client) => {
    const known = new Map<string, KubeObject>();
    return {
      watch: (...call) => client.watch(...call),
      listEach: async <T extends KubeObject>(
        resource: Resource,
        query: ListQuery,
        each: (item: T) => void,
        options?: { signal?: AbortSignal },
      ): Promise<KubeList['metadata']> => {
        const seen = new Set<string>();
        const metadata = await client.listEach<T>(
          resource,
          query,
          (item) => {
            seen.add(objectKey(item));
            known.set(objectKey(item), item);
            each(item);
          },
          options,
        );
        if (metadata.continue === undefined) for (const [key, item] of known) if (!seen.has(key)) each(item as T);
        return metadata;
      },
    };
  },

  'one event in twenty that is overlooked': (client) => {
    let events = 0;
    return {
      listEach: (...call) => client.listEach(...call),
      watch: <T extends KubeObject>(resource: Resource, query: WatchQuery, signal: AbortSignal) =>
        (async function* (): AsyncGenerator<WatchEvent & { object: T }> {
          for await (const event of client.watch<T>(resource, query, signal)) {
            events += 1;
            if (events % 20 !== 0) yield event;
          }
        })(),
    };
  },

  'an event that is told after the one that follows it': (client) => ({
    listEach: (...call) => client.listEach(...call),
    watch: <T extends KubeObject>(resource: Resource, query: WatchQuery, signal: AbortSignal) =>
      (async function* (): AsyncGenerator<WatchEvent & { object: T }> {
        let held: (WatchEvent & { object: T }) | undefined;
        for await (const event of client.watch<T>(resource, query, signal)) {
          // Without versions to compare, nothing shows that it is late.
          const { resourceVersion: _, ...metadata } = event.object.metadata;
          const blind = event.type === 'BOOKMARK' ? event : { ...event, object: { ...event.object, metadata } };
          if (held === undefined && event.type !== 'BOOKMARK') held = blind;
          else {
            yield blind;
            if (held !== undefined) yield held;
            held = undefined;
          }
        }
      })(),
  }),
};
