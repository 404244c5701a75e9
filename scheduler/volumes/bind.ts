import type { Clock, Millis } from '../../base/clock.ts';
import { ActionError, unreachable } from '../../base/errors.ts';
import { persistentVolumeClaims, persistentVolumes, type Resource } from '../../kube/api/object.ts';
import { type Informer, type Key, objectKey } from '../../kube/cache/contract.ts';
import type { Client, ObjectRef } from '../../kube/client/client.ts';
import { ApiError, isConflict, isNotFound, mayHaveTakenEffect, serverMessageOf } from '../../kube/client/errors.ts';
import type { Claim, ClusterEvent, Node, PersistentVolume } from '../types.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { AssumingView, VolumeDecision } from './contract.ts';
import { planProvision, planReservation, type Progress, progressOf, type Step } from './binding.ts';

export interface VolumeBinderOptions {
  client: Pick<Client, 'get' | 'patch'>;
  /** The view in which decisions count before they are written. */
  view: Pick<AssumingView, 'forget'>;
  caches: { claims: Informer<Claim>; volumes: Informer<PersistentVolume>; nodes: Pick<Informer<Node>, 'get' | 'addHandlers'> };
  clock: Clock;
  /** Called with volumes and claims that were assumed for a pod and are free again: other pods may have been rejected for them. @default nothing */
  freed?: (event: ClusterEvent) => void;
  /** Longest time for all claims of a pod. @default 600_000 */
  timeoutMs?: Millis;
}

/** Attempts of a write that fails because the object changed since it was read. */
const MAX_TRIES = 4;

/** A pod in PreBind that waits for its claims: checked whenever one of them, its volume or the node may have changed. */
interface Waiter {
  readonly node: string;
  check(): void;
}

/**
 * PreBind of VolumeBinding, for decisions that are assumed already: sets claimRefs of volumes and selected nodes of claims; the PV controller and the
 * provisioner do the rest.
 */
export class VolumeBinder {
  readonly #options: VolumeBinderOptions;
  readonly #timeoutMs: Millis;
  /** By claim. */
  readonly #waiters = new Map<Key, Set<Waiter>>();

  constructor(options: VolumeBinderOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 600_000;
    const { claims, volumes, nodes } = options.caches;
    const claimChanged = (claim: Readonly<Claim>): void => this.#notify(objectKey(claim));
    const volumeChanged = ({ spec }: Readonly<PersistentVolume>): void => {
      if (spec?.claimRef) this.#notify(`${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`);
    };
    claims.addHandlers('volume binding', { added: claimChanged, updated: (_, after) => claimChanged(after), deleted: claimChanged });
    volumes.addHandlers('volume binding', {
      added: volumeChanged,
      updated: (before, after) => {
        volumeChanged(before);
        volumeChanged(after);
      },
      deleted: volumeChanged,
    });
    nodes.addHandlers('volume binding', { deleted: ({ metadata }) => this.#notifyNode(metadata.name ?? '') });
  }

  /**
   * Writes the decision and waits until all its claims are bound to volumes that the node can use. Resolves at once if nothing was decided.
   * Then the decision is no longer assumed: the caches show the result, or binding has failed. Writes are not reverted: a provisioner that fails removes the
   * selected node from the claim itself.
   * @throws ActionError if binding fails or times out; the signal's reason
   */
  async preBind(pod: PodInfo, node: string, decision: VolumeDecision, signal: AbortSignal): Promise<void> {
    if (decision.reserve.length + decision.provision.length === 0) return;
    try {
      const written = new Map<string, string>();
      // One after the other: after a failure the rest is not written.
      for (const { volume, claim } of decision.reserve) await this.#reserveVolume(volume, claim, written, signal);
      for (const { claim } of decision.provision) await this.#selectNode(claim, node, written, signal);
      await this.#allBound(pod, node, decision, written, signal);
    } finally {
      // The caches show the result by now, or binding has failed.
      for (const event of this.#options.view.forget(pod.uid)) this.#options.freed?.(event);
    }
  }

  async #reserveVolume(
    volume: Readonly<PersistentVolume>,
    claim: Readonly<Claim>,
    written: Map<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '' } = volume.metadata;
    await this.#write<PersistentVolume>({
      action: `bind claim ${objectKey(claim)} to volume`,
      resource: persistentVolumes,
      ref: { name },
      first: this.#options.caches.volumes.get(name),
      plan: (now) => planReservation(now, this.#options.caches.claims.get(objectKey(claim)), claim),
      written,
      signal,
    });
  }

  async #selectNode(claim: Readonly<Claim>, node: string, written: Map<string, string>, signal: AbortSignal): Promise<void> {
    const { namespace = '', name = '' } = claim.metadata;
    await this.#write<Claim>({
      action: `provision a volume on node ${node} for claim`,
      resource: persistentVolumeClaims,
      ref: { namespace, name },
      first: this.#options.caches.claims.get(objectKey(claim)),
      plan: (now) => planProvision(now, claim, node),
      written,
      signal,
    });
  }

  async #write<T extends Claim | PersistentVolume>(job: {
    action: string;
    resource: Resource;
    ref: ObjectRef;
    first: Readonly<T> | undefined;
    plan: (now: Readonly<T> | undefined) => Step;
    written: Map<string, string>;
    signal: AbortSignal;
  }): Promise<void> {
    const { resource, ref, signal } = job;
    const object = objectKey({ metadata: ref });
    let now = job.first;
    for (let tries = 1; ; tries++) {
      const step = job.plan(now);
      switch (step.do) {
        case 'nothing':
          // Perhaps the previous try took effect.
          if (tries > 1) job.written.set(`${resource.kind} ${object}`, now?.metadata.resourceVersion ?? '');
          return;
        case 'give-up':
          throw new ActionError(job.action, object, { hint: step.why });
        case 'patch':
          break;
        default:
          return unreachable(step);
      }
      try {
        const after = await this.#options.client.patch<T>(resource, ref, step.patch, { type: 'merge', signal });
        job.written.set(`${resource.kind} ${object}`, after.metadata.resourceVersion ?? '');
        return;
      } catch (cause) {
        signal.throwIfAborted();
        const failed = mayHaveTakenEffect(cause) || (cause instanceof ApiError && cause.code >= 500);
        const again = isConflict(cause) || isNotFound(cause) || failed;
        if (!again || tries === MAX_TRIES)
          throw new ActionError(job.action, object, { hint: `${serverMessageOf(cause)}; the pod will be retried`, cause });
      }
      now = await this.#fresh<T>(resource, ref, signal);
    }
  }

  async #fresh<T extends Claim | PersistentVolume>(resource: Resource, ref: ObjectRef, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.#options.client.get<T>(resource, ref, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #allBound(
    pod: PodInfo,
    node: string,
    decision: VolumeDecision,
    written: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const { clock } = this.#options;
    const keys = [...decision.reserve, ...decision.provision].map(({ claim }) => objectKey(claim));
    const over = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const failed = (hint: string): void => reject(new ActionError('bind the volumes of pod', `${pod.key} on node ${node}`, { hint }));
    const waiter: Waiter = {
      node,
      check: () => {
        try {
          const progress = this.#progress(node, decision, written);
          if (progress.is === 'bound') resolve(undefined);
          else if (progress.is === 'impossible') failed(progress.why);
        } catch (error) {
          // Concerns only the claims of this pod: the event handler that called must continue.
          reject(error);
        }
      },
    };
    for (const key of keys) this.#waitFor(key, waiter);
    const timedOut = (): void => {
      const progress = this.#progress(node, decision, written);
      failed(`${progress.is === 'bound' ? 'it was bound too late' : progress.why} (waited ${this.#timeoutMs / 1_000} s)`);
    };
    clock
      .sleep(this.#timeoutMs, AbortSignal.any([signal, over.signal]))
      .then(timedOut)
      .catch(reject);
    try {
      waiter.check();
      await promise;
    } finally {
      over.abort();
      for (const key of keys) this.#leave(key, waiter);
    }
  }

  #progress(node: string, decision: VolumeDecision, written: ReadonlyMap<string, string>): Progress {
    const { claims, volumes, nodes } = this.#options.caches;
    return progressOf(decision, {
      node: nodes.get(node),
      claim: (wanted) => claims.get(objectKey(wanted)),
      volume: (name) => volumes.get(name),
      written: (object) =>
        written.get(
          `${object.metadata.namespace === undefined ? persistentVolumes.kind : persistentVolumeClaims.kind} ${objectKey(object)}`,
        ),
    });
  }

  #waitFor(key: Key, waiter: Waiter): void {
    const there = this.#waiters.get(key);
    if (there === undefined) this.#waiters.set(key, new Set([waiter]));
    else there.add(waiter);
  }

  #leave(key: Key, waiter: Waiter): void {
    const there = this.#waiters.get(key);
    if (there?.delete(waiter) && there.size === 0) this.#waiters.delete(key);
  }

  #notify(key: Key): void {
    for (const waiter of this.#waiters.get(key) ?? []) waiter.check();
  }

  #notifyNode(node: string): void {
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) if (waiter.node === node) waiter.check();
  }
}
