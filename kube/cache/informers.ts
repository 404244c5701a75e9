import { StringPool } from './intern.ts';
import { SharedInformer } from './shared-informer.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Informer } from './contract.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import type { Selection } from './reflector.ts';
import type { InformerOptions, Needs } from './shared-informer.ts';

export interface InformersOptions extends Omit<InformerOptions, 'resource' | 'selection' | 'metrics' | 'strings'> {
  /** @param name - the kind, and the selection where there is one */
  metrics?: (name: string) => ReflectorMetrics;
}

/** The caches of a process: one for each kind and selection, however many read it. Say what is needed, then run them together. */
export class Informers {
  readonly #options: InformersOptions;
  readonly #strings = new StringPool();
  readonly #informers = new Map<string, SharedInformer<KubeObject>>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /**
   * The cache of a kind, shared by all who ask for the same selection; it keeps what all of them need together.
   * @throws {RangeError} once it runs
   */
  of<T extends KubeObject>(resource: Resource, needs: Needs<T> = {}, selection: Selection = {}): Informer<T> {
    const name = nameOf(resource, selection);
    let informer = this.#informers.get(name) as SharedInformer<T> | undefined;
    if (informer === undefined) {
      const { metrics, ...options } = this.#options;
      const reported = metrics === undefined ? {} : { metrics: metrics(name) };
      informer = new SharedInformer<T>({ ...options, ...reported, resource, selection, strings: this.#strings });
      this.#informers.set(name, informer as unknown as SharedInformer<KubeObject>);
    }
    informer.need(needs);
    return informer;
  }

  /** Names of caches that wait for their first list. */
  get unsynced(): string[] {
    return [...this.#informers].filter(([, informer]) => !informer.synced).map(([name]) => name);
  }

  /** Runs all of them until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.run(signal)));
  }

  /** Resolves once every first list is in; rejects with the signal's reason. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced(signal)));
  }
}

/** `pods`, `daemonsets.apps`, `pods?fieldSelector=spec.nodeName=a`. */
function nameOf({ resource, group }: Resource, selection: Selection): string {
  const chosen = Object.entries(selection).filter(([, value]) => value !== undefined && value !== '');
  const base = group === '' ? resource : `${resource}.${group}`;
  return chosen.length === 0
    ? base
    : `${base}?${chosen
        .map(([field, value]) => `${field}=${value}`)
        .toSorted()
        .join('&')}`;
}
