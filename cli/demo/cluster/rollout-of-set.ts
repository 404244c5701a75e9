import { ActionError } from '../../../base/errors.ts';
import type { Millis } from '../../../base/clock.ts';
import type { Pod } from '../../../controllers/common/types.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import { isReady, type DemoCluster, type Pods } from './demo-cluster.ts';

/** Timeout of each wait; no step takes nearly as long, even on a slow machine. */
const PATIENCE: Millis = 120_000;

/** Reference of a demo image. */
export const image = (name: string, tag: string): string => `registry.example.com/${name}:${tag}`;

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** A DaemonSet or StatefulSet of a demo with one container: changes by the admin, and waits for its pods. */
export class RolledSet {
  readonly #cluster: DemoCluster;
  readonly #resource: Resource;
  readonly #namespace: string;
  readonly #signal: AbortSignal;
  readonly name: string;
  /** Desired number of pods. */
  readonly count: number;
  /** Maximum number of pods of `count` that were not ready at once since `resetPeak`. */
  peak = 0;

  constructor(
    cluster: DemoCluster,
    resource: Resource,
    { namespace, name, count }: { namespace: string; name: string; count: number },
    signal: AbortSignal,
  ) {
    this.#cluster = cluster;
    this.#resource = resource;
    this.#namespace = namespace;
    this.#signal = signal;
    this.name = name;
    this.count = count;
    cluster.onChange((kind) => {
      if (kind === '/pods') this.peak = Math.max(this.peak, count - this.places(cluster.pods.last ?? new Map()));
    });
  }

  /** Changes the set as the admin. */
  async patch(patch: object): Promise<void> {
    const ref = { name: this.name, namespace: this.#namespace };
    await this.#cluster.client.patch(this.#resource, ref, patch, { type: 'merge', signal: this.#signal });
  }

  /** `kubectl set image`, with other changes in the same write. */
  async setImage(tag: string, spec: object = {}, annotations: Readonly<Record<string, string | null>> = {}): Promise<void> {
    const containers = [{ name: this.name, image: image(this.name, tag) }];
    await this.patch({ metadata: { annotations }, spec: { ...spec, template: { spec: { containers } } } });
  }

  annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    return this.patch({ metadata: { annotations } });
  }

  /** Ready pods with this image; with any image if `tag` is undefined. */
  ready(now: Pods, tag?: string): Pod[] {
    return [...now.values()].filter(
      (pod) =>
        pod.metadata.labels?.['app'] === this.name &&
        isReady(pod) &&
        (tag === undefined || pod.spec?.containers[0]?.image === image(this.name, tag)),
    );
  }

  /** Number of nodes or names that have a ready pod. */
  places(now: Pods): number {
    const ready = this.ready(now);
    return this.#resource.kind === 'DaemonSet' ? new Set(ready.map(({ spec }) => spec?.nodeName)).size : ready.length;
  }

  /** Waits until all pods are ready with this image and no pod with another image is left. */
  async rolledOut(tag: string): Promise<void> {
    await this.until(`all pods of ${this.name} ready with ${tag}`, (now) => {
      const all = [...now.values()].filter(({ metadata }) => metadata.labels?.['app'] === this.name);
      return all.length === this.count && this.ready(now, tag).length === this.count;
    });
  }

  async until(what: string, fits: (now: Pods) => boolean): Promise<void> {
    await this.#cluster.pods.until(what, fits, PATIENCE, this.#signal);
  }

  /** Waits for a condition of the set's status. @returns its message */
  async condition(type: string, status: string, reason?: string): Promise<string> {
    const { client, onChange, pods } = this.#cluster;
    const seen = pods.beside<string>();
    const look = (object: KubeObject): void => {
      const { conditions = [] } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
      const found = conditions.find((one) => one.type === type && one.status === status && (reason === undefined || one.reason === reason));
      if (found) seen.see(found.message ?? '');
    };
    onChange((kind, { object }) => {
      if (kind === `${this.#resource.group}/${this.#resource.resource}` && object.metadata.name === this.name) look(object);
    });
    look(await client.get<KubeObject>(this.#resource, { name: this.name, namespace: this.#namespace }));
    return seen.until(`condition ${type} ${status} of ${this.name}`, () => true, PATIENCE, this.#signal);
  }

  /** Restarts the count of unavailable pods. */
  resetPeak(): void {
    this.peak = 0;
  }

  /** Throws if more pods were unavailable than the scenario claims. @param most - pods that may be unavailable at once */
  keptTo(most: number): void {
    if (this.peak <= most) return;
    const hint = `${this.peak} were unavailable at once`;
    throw new ActionError('confirm', `that at most ${most} pods of ${this.name} were unavailable`, { hint });
  }
}
