import { resourceName } from '../api/object.ts';
import { StringPool } from './sharing.ts';
import { SharedInformer } from './shared-informer.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Informer } from './contract.ts';
import type { Problem, ReflectorMetrics } from './failure-log.ts';
import type { Ignored, Selection } from './reflector.ts';
import type { InformerOptions, Needs } from './shared-informer.ts';

interface InformersOptions extends Omit<InformerOptions, 'resource' | 'selection' | 'metrics' | 'strings' | 'onIgnored'> {
  /** Called for objects that a cache leaves out: too large, or storing them failed. */
  onIgnored?: (resource: Resource, object: Ignored) => void;
  /** @param name - the kind, and the selection where there is one */
  metrics?: (name: string) => ReflectorMetrics;
}

/** A cache that is not synced, or cannot list or watch at this moment. */
export interface Waiting {
  /** The kind, and the selection where there is one: `pods`, `daemonsets.apps`, `pods?fieldSelector=spec.nodeName=a`. */
  name: string;
  /** The last failure; undefined where nothing failed and the response is pending. */
  problem: Problem | undefined;
}

/** The state of a cache. */
export interface CacheState extends Waiting {
  /** Number of objects. */
  size: number;
  synced: boolean;
  version: string;
}

/** The caches of a process: one for each kind and selection, shared by its readers. Request every cache first, then run them together. */
export class Informers {
  readonly #options: InformersOptions;
  readonly #strings = new StringPool();
  readonly #informers = new Map<string, SharedInformer<KubeObject>>();
  #runs = false;

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /**
   * The cache of a kind, shared by all callers with the same selection; it keeps the union of what they need.
   * @throws {RangeError} once the caches run, and for another version of the same kind
   */
  of<T extends KubeObject>(resource: Resource, needs: Needs<T> = {}, selection: Selection = {}): Informer<T> {
    const name = nameOf(resource, selection);
    let informer = this.#informers.get(name) as SharedInformer<T> | undefined;
    if (informer === undefined) {
      if (this.#runs) throw new RangeError(`the caches are already running; request ${name} before they start`);
      const { metrics, onIgnored, ...options } = this.#options;
      const reported = {
        ...(metrics === undefined ? {} : { metrics: metrics(name) }),
        ...(onIgnored === undefined ? {} : { onIgnored: (object: Ignored) => onIgnored(resource, object) }),
      };
      informer = new SharedInformer<T>({ ...options, ...reported, resource, selection, strings: this.#strings });
      this.#informers.set(name, informer as unknown as SharedInformer<KubeObject>);
    }
    const { version } = informer.resource;
    if (version !== resource.version)
      throw new RangeError(`${name} is already read in version ${version}, and cannot also be read in ${resource.version}`);
    informer.need(needs);
    return informer;
  }

  /** Caches without their first list, and why: for the readiness check and for debugging. */
  get unsynced(): Waiting[] {
    return this.#waiting((informer) => !informer.synced);
  }

  /** Caches that cannot list or watch, synced or not: a synced one becomes stale. */
  get failing(): Waiting[] {
    return this.#waiting(({ problem }) => problem !== undefined);
  }

  /** All caches, for debugging. */
  get states(): CacheState[] {
    return [...this.#informers].map(([name, { size, synced, version, problem }]) => ({ name, size, synced, version, problem }));
  }

  /** Runs all caches until the signal aborts. Call it once only. @throws what a cache throws, after the other caches have ended as well */
  async run(signal: AbortSignal): Promise<void> {
    this.#runs = true;
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const running = [...this.#informers.values()].map((informer) => informer.run(either));
    try {
      await Promise.all(running);
    } finally {
      over.abort();
      await Promise.allSettled(running);
    }
  }

  /** Resolves once every cache has its first list; rejects with the signal's reason. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced(signal)));
  }

  /** Every cache shows a state that the server had. @see Informer.settled */
  get settled(): boolean {
    for (const informer of this.#informers.values()) if (!informer.settled) return false;
    return true;
  }

  /** Resolves once all caches are settled at the same moment: a caller may decide before its next `await`. Rejects with the signal's reason. */
  async whenSettled(signal: AbortSignal): Promise<void> {
    while (!this.settled) await Promise.all([...this.#informers.values()].map((informer) => informer.whenSettled(signal)));
  }

  #waiting(isWanted: (informer: SharedInformer<KubeObject>) => boolean): Waiting[] {
    return [...this.#informers].flatMap(([name, informer]) => (isWanted(informer) ? [{ name, problem: informer.problem }] : []));
  }
}

/** `pods`, `daemonsets.apps`, `pods?fieldSelector=spec.nodeName=a`. */
function nameOf(resource: Resource, selection: Selection): string {
  const chosen = Object.entries(selection).filter(([, value]) => value !== undefined && value !== '');
  const base = resourceName(resource);
  return chosen.length === 0
    ? base
    : `${base}?${chosen
        .map(([field, value]) => `${field}=${value}`)
        .toSorted()
        .join('&')}`;
}
