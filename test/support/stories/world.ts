import { type Clock, type Millis, realClock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { realRandom } from '../../../base/random.ts';
import type { DaemonSet, Pod } from '../../../controllers/common/types.ts';
import { controllerRevisions, daemonSets, type KubeObject, pods, type Resource } from '../../../kube/api/object.ts';
import { type Informer, objectKey } from '../../../kube/cache/contract.ts';
import { Informers } from '../../../kube/cache/informers.ts';
import type { Client } from '../../../kube/client/client.ts';
import { HollowNodes } from '../hollow/hollow-nodes.ts';
import { Fence } from './fence.ts';

export interface Revision extends KubeObject {
  revision: number;
  data?: unknown;
}

export interface WorldOptions {
  /** Kinds that a test watches besides: their changes wake it too. */
  more?: readonly Resource[];
  /** How long pods take to end, in ms. @default 0 */
  endMs?: Millis;
  /** Whose controller runs, where silence is to be its own ({@link World.isQuiet}). */
  fence?: Resource;
}

/** An API server to play on: the embedded one or a real one, with what works around the controller under test. */
export interface Server {
  client: Client;
  log: Log;
  /** @default the real one */
  clock?: Clock;
  /** Whether kubelets bind pinned pods too, where no scheduler runs. @default false */
  binds?: boolean;
  /** Lets this much time pass, on a clock that stands still otherwise. */
  pass?: (ms: Millis) => Promise<void>;
  stop(): Promise<void>;
}

/** What was under way when the controller showed that it is at work becomes visible within this. */
const SETTLED_MS = 200;
const SEEN_WITHIN_MS = 90_000;
const STEP_MS = 50;

/** A scheduler has placed the pod, or has said that it cannot; or nobody wants it any more. */
export function isDecided({ metadata, spec, status }: Readonly<Pod>): boolean {
  const isRefused = status?.conditions?.some((condition) => condition.type === 'PodScheduled' && condition.status === 'False') === true;
  return (spec?.nodeName ?? '') !== '' || isRefused || metadata.deletionTimestamp !== undefined;
}

/**
 * A cluster without the controllers under test, but with hollow kubelets, and caches that wake whoever waits for a state when something changed.
 */
export class World {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: HollowNodes;
  readonly sets: Informer<DaemonSet>;
  readonly pods: Informer<Pod>;
  readonly revisions: Informer<Revision>;
  /** By the name of their resource. */
  readonly more: ReadonlyMap<string, Informer<KubeObject>>;
  readonly fence: Fence | undefined;
  readonly #server: Server;
  readonly #informers: Informers;
  readonly #ending = new AbortController();
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Changes so far, by namespace. */
  readonly #changes = new Map<string, number>();
  #running: Promise<unknown> = Promise.resolve();

  static async start(server: Server, options: WorldOptions = {}): Promise<World> {
    const world = new World(server, options);
    await world.run();
    return world;
  }

  protected constructor(server: Server, { more = [], endMs = 0, fence }: WorldOptions) {
    const { client, log, clock = realClock, binds = false } = server;
    this.#server = server;
    this.client = client;
    this.clock = clock;
    const options = { client, clock, log };
    this.fleet = new HollowNodes({ ...options, endMs, binds });
    this.#informers = new Informers({ ...options, random: realRandom });
    this.sets = this.#informers.of<DaemonSet>(daemonSets);
    this.pods = this.#informers.of<Pod>(pods);
    this.revisions = this.#informers.of<Revision>(controllerRevisions);
    this.more = new Map(more.map((resource) => [resource.resource, this.#informers.of(resource)]));
    for (const cache of this.#caches()) {
      const tell = ({ metadata: { namespace = '' } }: Readonly<KubeObject>) => {
        this.#changes.set(namespace, this.#changesIn(namespace) + 1);
        this.#waiting.get(namespace)?.forEach((wake) => wake());
      };
      cache.addHandlers('test', { added: tell, updated: (_, after) => tell(after), deleted: tell });
    }
    this.fence = fence === undefined ? undefined : new Fence(this, fence);
  }

  /** Resolves once the caches are full. */
  protected async run(): Promise<void> {
    const { signal } = this.#ending;
    this.#running = Promise.all([this.#informers.run(signal), this.fleet.run(signal)]);
    const synced = Promise.all([this.#informers.whenSynced(signal), this.fleet.whenSynced(signal)]);
    await this.#server.pass?.(0);
    await synced;
  }

  /**
   * Resolves with the next change of a set, pod or revision in the namespace: true; or false once `ms` have passed without one.
   */
  changed(namespace: string, ms: number): Promise<boolean> {
    const { pass } = this.#server;
    if (pass !== undefined) return this.#changedWhile(pass, namespace, ms);
    const waiting = this.#waitersOf(namespace);
    return new Promise((resolve) => {
      const end = (changed: boolean) => {
        stop();
        waiting.delete(wake);
        resolve(changed);
      };
      const wake = () => end(true);
      const stop = this.clock.after(ms, () => end(false));
      waiting.add(wake);
    });
  }

  /** In small steps, so that no more time passes than until the change. */
  async #changedWhile(pass: (ms: Millis) => Promise<void>, namespace: string, ms: Millis): Promise<boolean> {
    const before = this.#changesIn(namespace);
    const hasChanged = (): boolean => this.#changesIn(namespace) !== before;
    for (let left = ms; left > 0 && !hasChanged(); left -= STEP_MS) await pass(Math.min(STEP_MS, left));
    return hasChanged();
  }

  /** Whether nothing changes in the namespace for `ms`, and nothing either while the controller, if there is a fence for it, shows that it is at work. */
  async isQuiet(namespace: string, ms: Millis): Promise<boolean> {
    const before = this.#changesIn(namespace);
    if (await this.changed(namespace, ms - SETTLED_MS)) return false;
    await this.fence?.passed();
    await this.changed(namespace, SETTLED_MS);
    return this.#changesIn(namespace) === before;
  }

  #changesIn(namespace: string): number {
    return this.#changes.get(namespace) ?? 0;
  }

  /** What the test's cache of that kind has under the key. */
  held(resource: Resource, key: string): Readonly<KubeObject> | undefined {
    return this.#cacheOf(resource)?.get(key);
  }

  #cacheOf({ resource }: Resource): Informer<KubeObject> | undefined {
    return this.#caches().find((one) => one.resource.resource === resource);
  }

  #caches(): Informer<KubeObject>[] {
    const own = [this.sets, this.pods, this.revisions] as unknown as Informer<KubeObject>[];
    return [...own, ...this.more.values()];
  }

  #waitersOf(namespace: string): Set<() => void> {
    const waiting = this.#waiting.get(namespace) ?? new Set();
    this.#waiting.set(namespace, waiting);
    return waiting;
  }

  /** Resolves once the cache knows what the test has just written, or something newer. */
  async hasSeen(resource: Resource, written: KubeObject): Promise<void> {
    const cache = this.#cacheOf(resource);
    if (cache === undefined) return;
    const { namespace = '', resourceVersion = '0', uid } = written.metadata;
    // The first list may have been before it and the first event after: versions of the kind itself tell.
    const isThere = () => {
      const held = cache.get(objectKey(written));
      const seen = BigInt(held?.metadata.uid === uid ? (held?.metadata.resourceVersion ?? '0') : cache.version);
      return seen >= BigInt(resourceVersion);
    };
    for (const until = this.clock.monotonic() + SEEN_WITHIN_MS; !isThere();) {
      if (this.clock.monotonic() > until) throw new Error(`the test's cache never saw ${resource.kind} ${objectKey(written)}`);
      await this.changed(namespace, 500);
    }
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#server.stop();
  }
}
