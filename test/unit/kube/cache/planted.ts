import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client, WatchEvent, WatchQuery } from '../../../../kube/client/client.ts';
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
};
