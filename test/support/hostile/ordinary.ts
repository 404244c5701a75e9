import { setTimeout as sleep } from 'node:timers/promises';
import { daemonSets, type Kube, type KubeObject, namespaces, nodes, pods, statefulSets } from '../../../kube/api/object.ts';
import { rfc3339 } from '../../../base/clock.ts';
import { isAlreadyExists } from '../../../kube/client/errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Pod as PodFields } from 'kubernetes-types/core/v1.js';
import { nodeObject } from '../hollow/hollow-node.ts';
import { many } from './corpus/hostile.ts';

type Pod = Kube<PodFields>;

const NAMESPACE = 'ordinary';
const NODES = 3;
const STATEFUL_SETS = 10;
const REPLICAS = 1;
const DAEMON_SETS = 5;
const PODS = 85;
/** Pods of one round. */
const ALL = STATEFUL_SETS * REPLICAS + DAEMON_SETS * NODES + PODS;
const WITHIN_MS = 60_000;
const AT_ONCE = 20;

const labelled = (app: string): object => ({ metadata: { labels: { app } }, spec: spec() });
const spec = (): object => ({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1m' } } }] });

/**
 * A hundred objects as everybody has them: 85 pods, 10 StatefulSets and 5 DaemonSets, on three nodes. They are served when each of their 110 pods is made
 * and has a node.
 */
export class Ordinary {
  readonly #client: Client;
  readonly #over = new AbortController();
  readonly #pods = new Map<string, Pod>();
  #changed = Promise.withResolvers<void>();
  #watching: Promise<void> = Promise.resolve();
  #round = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  async prepare(): Promise<void> {
    await this.#create(namespaces, { metadata: { name: NAMESPACE } });
    this.#watching = this.#watch();
    const at = rfc3339(Date.now());
    for (let n = 0; n < NODES; n++) {
      const allocatable = { cpu: '1000', memory: '1Ti', pods: '100000' };
      await this.#create(nodes, nodeObject({ name: `node-${n}`, labels: { ordinary: 'yes' }, allocatable }, at));
    }
    const set = (name: string, spec: object): object => ({
      metadata: { name, namespace: NAMESPACE },
      spec: { selector: { matchLabels: { app: name } }, ...spec },
    });
    for (let n = 0; n < STATEFUL_SETS; n++) {
      const more = { serviceName: 'ordinary', replicas: REPLICAS, podManagementPolicy: 'Parallel', template: labelled(`set-${n}`) };
      await this.#create(statefulSets, set(`set-${n}`, more));
    }
    for (let n = 0; n < DAEMON_SETS; n++) {
      const template = { ...labelled(`daemons-${n}`), spec: { ...spec(), nodeSelector: { ordinary: 'yes' } } };
      await this.#create(daemonSets, set(`daemons-${n}`, { template }));
    }
  }

  /**
   * Takes all pods away and waits until they are there again, on their nodes.
   * @returns how long it took, in ms
   * @throws when they are not within a minute
   */
  async served(): Promise<number> {
    const round = ++this.#round;
    const from = performance.now();
    const before = new Set(this.#pods.keys());
    const clean = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    await this.#client.raw('DELETE', `/api/v1/namespaces/${NAMESPACE}/pods`, { body: clean });
    await inParallel(
      many(PODS, (at) => `pod-${round}-${at}`),
      (name) => this.#create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE }, spec: spec() }),
    );
    const late = sleep(WITHIN_MS, undefined, { ref: false });
    for (let over = false; ;) {
      const isOn = (uid: string): boolean => (this.#pods.get(uid)?.spec?.nodeName ?? '') !== '';
      const bound = [...this.#pods.keys()].filter((uid) => !before.has(uid) && isOn(uid));
      if (bound.length === ALL) return performance.now() - from;
      if (over) throw new Error(`${bound.length} of ${ALL} ordinary pods have a node; ${this.#pods.size} are there`);
      await Promise.race([this.#changed.promise, late.then(() => (over = true))]);
    }
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const { metadata } = await this.#client.list<Pod>(pods, { namespace: NAMESPACE, limit: 1 });
      try {
        for await (const { type, object } of this.#client.watch<Pod>(
          pods,
          { namespace: NAMESPACE, resourceVersion: metadata.resourceVersion ?? '' },
          signal,
        )) {
          if (type === 'DELETED') this.#pods.delete(object.metadata.uid ?? '');
          else if (type !== 'BOOKMARK') this.#pods.set(object.metadata.uid ?? '', object);
          this.#changed.resolve();
          this.#changed = Promise.withResolvers();
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async #create(resource: Parameters<Client['create']>[0], object: object): Promise<void> {
    const { metadata } = object as KubeObject;
    const within = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
    await this.#client.create(resource, object as KubeObject, within).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

/** Some at once, so that a server has something to do and is not flooded. */
export async function inParallel<T>(items: Iterable<T>, call: (item: T) => Promise<unknown>): Promise<void> {
  const left = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) await call(next.value);
  };
  await Promise.all(many(AT_ONCE, work));
}
