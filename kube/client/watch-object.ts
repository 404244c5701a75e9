import type { KubeObject, Resource } from '../api/object.ts';
import type { Client, ObjectRef } from './client.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';

/** What a single-object watch knows. `undefined` object: the server says that it does not exist. */
export interface Seen<T extends KubeObject> {
  object: T | undefined;
}

export interface ObjectWatchHandlers<T extends KubeObject> {
  /** The first complete list, and every change after it (also "gone" and "back"). Unchanged resourceVersions are not repeated. */
  onSeen(seen: Seen<T>): void;
  /** A failure that the watch survives; it backs off and tries again. `failures` counts in a row. */
  onFailure?(error: unknown, failures: number): void;
}

export interface WatchDeps {
  client: Pick<Client, 'list' | 'watch'>;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Watches one object until the signal aborts. Lists first (field selector metadata.name), then watches with bookmarks; 410 lists again. */
export type WatchObject = <T extends KubeObject>(
  deps: WatchDeps,
  resource: Resource,
  ref: ObjectRef,
  handlers: ObjectWatchHandlers<T>,
  signal: AbortSignal,
) => Promise<void>;
