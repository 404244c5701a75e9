import type { Log } from '../../../base/log.ts';
import { rfc3339, type Clock, type Millis } from '../../../base/clock.ts';
import { realRandom } from '../../../base/random.ts';
import { nodes as nodeResource, pods as podResource } from '../../../kube/api/object.ts';
import { objectKey, parseKey } from '../../../kube/cache/contract.ts';
import type { Informer, Key } from '../../../kube/cache/contract.ts';
import { Informers } from '../../../kube/cache/informers.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ApiError } from '../../../kube/client/errors.ts';
import { done, type Outcome } from '../../../kube/controller/controller.ts';
import { runWorkers } from '../../../kube/controller/workers.ts';
import { WorkQueue } from '../../../kube/queue/work-queue.ts';
import { annotation, behaviourOf, statusFor } from './behaviour.ts';
import type { Pod } from './behaviour.ts';
import { hollowLabel, nodeObject } from './hollow-node.ts';
import type { HollowNode } from './hollow-node.ts';
import { homeOf, isDead, nextStep } from './next.ts';
import type { Home, Node } from './next.ts';

export interface HollowOptions {
  /** Give it limits of at least {@link WORKERS} writes. Closing it is the caller's. */
  client: Client;
  clock: Clock;
  log: Log;
  /** From the mark of deletion to gone, in ms. @default 0 */
  endMs?: Millis;
  /** Plays the scheduler too, for pods that are pinned to one of the nodes. @default false */
  binds?: boolean;
  /** Every node reports that it lives so often, in ms; spread over the time. @default 0, never */
  heartbeatMs?: Millis;
}

/** Writes under way at once. */
export const WORKERS = 64;

/**
 * The kubelets of nodes that do not exist, all in one: pods that are bound to them run or do what their annotation says, and deletions end. Serves every
 * node that has the label {@link hollowLabel}, whoever made it; a pod of such a node that is deleted goes with it. Keeps nothing that the API has not:
 * started anew, it goes on.
 */
export class HollowNodes {
  readonly #options: HollowOptions;
  readonly #informers: Informers;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #queue: WorkQueue;
  readonly #lost = new Set<string>();
  /** When a deletion ends, by the pod's UID; only where it is not at once. */
  readonly #due = new Map<string, Millis>();

  constructor(options: HollowOptions) {
    const { client, clock, log } = options;
    this.#options = options;
    this.#informers = new Informers({ client, clock, log, random: realRandom });
    const fields = ['metadata.annotations', 'spec.nodeName', 'spec.affinity', 'spec.containers.name', 'spec.containers.image'];
    const status = ['phase', 'startTime', 'conditions', 'containerStatuses.state.waiting.reason'].map((field) => `status.${field}`);
    this.#pods = this.#informers.of<Pod>(podResource, { fields: [...fields, ...status], indexes: { home: (pod) => [homeOf(pod)] } });
    this.#nodes = this.#informers.of<Node>(nodeResource, { fields: ['metadata.annotations'] }, { labelSelector: hollowLabel });
    // The scheduler and the set that owns a pod may be quicker than the watch: what comes back soon need not wait long.
    this.#queue = new WorkQueue('hollow', { clock });
    this.#listen();
  }

  /** Registers them; one that is there already is left as it is. */
  async add(wanted: readonly HollowNode[], signal?: AbortSignal): Promise<void> {
    const at = this.#now();
    await this.#each(wanted, async (node) => {
      const options = signal === undefined ? {} : { signal };
      await this.#options.client.create(nodeResource, nodeObject(node, at), options).catch(unless(409));
    });
  }

  /** Deletes them; their pods go too while {@link run} goes on. */
  async remove(names: readonly string[]): Promise<void> {
    await this.#each(names, (name) => this.#options.client.delete(nodeResource, { name }).catch(unless(404)));
  }

  /** Whether it has heard that this kubelet does nothing any more. */
  isDead(name: string): boolean {
    const node = this.#nodes.get(name);
    return node !== undefined && isDead(node);
  }

  /** Resolves once it knows all nodes and pods that there were. */
  whenSynced(signal: AbortSignal): Promise<void> {
    return this.#informers.whenSynced(signal);
  }

  /** Plays until the signal aborts. Once only. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#options;
    const playing = this.whenSynced(signal).then(
      () =>
        runWorkers({ queue: this.#queue, workers: WORKERS, log, clock, drainMs: 0, reconcile: (key, own) => this.#play(key, own) }, signal),
      () => this.#queue.shutDown(),
    );
    await Promise.all([this.#informers.run(signal), playing, this.#heartbeats(signal)]);
  }

  #listen(): void {
    const look = (pod: Readonly<Pod>) => this.#queue.add(objectKey(pod));
    this.#pods.addHandlers('hollow', {
      added: look,
      updated: (_, pod) => look(pod),
      deleted: ({ metadata: { uid = '' } }) => void this.#due.delete(uid),
    });
    const lookAtAll = (name: string) => this.#pods.indexed('home', name).forEach(look);
    this.#nodes.addHandlers('hollow', {
      added: ({ metadata: { name = '' } }) => {
        this.#lost.delete(name);
        lookAtAll(name);
      },
      updated: (before, after) => {
        if (isDead(before) !== isDead(after)) lookAtAll(after.metadata.name ?? '');
      },
      deleted: ({ metadata: { name = '' } }) => {
        this.#lost.add(name);
        lookAtAll(name);
      },
    });
  }

  async #play(key: Key, signal: AbortSignal): Promise<Outcome> {
    const { client, binds = false } = this.#options;
    const pod = this.#pods.get(key);
    if (pod === undefined) return done;
    const ref = parseKey(key);
    const { uid = '' } = pod.metadata;
    const step = nextStep(pod, this.#home(homeOf(pod)), binds);
    switch (step.do) {
      case 'nothing':
        return done;
      case 'bind': {
        const target = { apiVersion: 'v1', kind: 'Node', name: step.node };
        const body = { apiVersion: 'v1', kind: 'Binding', metadata: { ...ref, uid }, target };
        await client.post(podResource, ref, 'binding', body, { signal }).catch(unless(404, 409));
        return done;
      }
      case 'report': {
        const status = statusFor(pod, behaviourOf(pod), this.#now());
        if (status === undefined) return done;
        // With its uid: of another pod with this name, nothing is known yet.
        const change = { metadata: { uid }, status };
        await client.patch(podResource, ref, change, { type: 'merge', subresource: 'status', signal }).catch(unless(404, 409));
        return done;
      }
      case 'remove': {
        const after = this.#msUntilEnd(uid);
        if (after > 0) return { requeueAfter: after, why: 'it ends' };
        const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
        await client.delete(podResource, ref, { body, signal }).catch(unless(404, 409));
        return done;
      }
    }
  }

  #home(name: string): Home {
    const node = this.#nodes.get(name);
    if (node !== undefined) return { node };
    return this.#lost.has(name) ? 'lost' : 'foreign';
  }

  #msUntilEnd(uid: string): Millis {
    const { endMs = 0, clock } = this.#options;
    if (endMs <= 0) return 0;
    const now = clock.monotonic();
    const due = this.#due.get(uid) ?? now + endMs;
    this.#due.set(uid, due);
    return due - now;
  }

  #now(): string {
    return rfc3339(this.#options.clock.now());
  }

  async #each<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
    const rest = items.values();
    const work = async (): Promise<void> => {
      for (const item of rest) await act(item);
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
  }

  async #heartbeats(signal: AbortSignal): Promise<void> {
    const { heartbeatMs = 0, client, clock, log } = this.#options;
    if (heartbeatMs === 0) return;
    await this.whenSynced(signal).catch(() => {});
    while (!signal.aborted) {
      const names = this.#nodes.list().flatMap((node) => (isDead(node) ? [] : [node.metadata.name ?? '']));
      const pause = heartbeatMs / Math.max(1, names.length);
      for (const name of names.length === 0 ? [''] : names) {
        if (name !== '') void this.#beat(client, name, signal).catch((error: unknown) => log.warn('no heartbeat', { name, error }));
        await clock.sleep(pause, signal).catch(() => {});
        if (signal.aborted) return;
      }
    }
  }

  /** As kubelets do when nothing changed: the times of the conditions alone. */
  async #beat(client: Client, name: string, signal: AbortSignal): Promise<void> {
    const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: this.#now() };
    const options = { type: 'strategic', subresource: 'status', signal } as const;
    await client.patch(nodeResource, { name }, { status: { conditions: [condition] } }, options).catch(unless(404));
  }
}

/** Makes pods or nodes behave from outside: their annotation, for a patch. @param text - undefined takes it away */
export function behave(text: string | undefined): { metadata: { annotations: Record<string, string | null> } } {
  return { metadata: { annotations: { [annotation]: text ?? null } } };
}

/** Others may be quicker, and then there is nothing to do. */
function unless(...codes: readonly number[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ApiError && codes.includes(error.code))) throw error;
  };
}
