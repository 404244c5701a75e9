import type { PodCondition, PodStatus } from 'kubernetes-types/core/v1.js';
import { rfc3339, type Clock } from '../../base/clock.ts';
import { backoff } from '../../base/waiting.ts';
import type { Log } from '../../base/log.ts';
import { describeError } from '../../base/errors.ts';
import { pods } from '../../kube/api/object.ts';
import { isOlder } from '../../kube/cache/change.ts';
import type { Client } from '../../kube/client/client.ts';
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import { observedOf, type PodInfo } from '../pod/pod-info.ts';
import type { Pod } from '../types.ts';

/** What the status of a pending pod should show. */
export interface Wanted {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  /** nominatedNodeName; '' clears it. undefined: unchanged. */
  readonly nominate: string | undefined;
}

export interface StatusWriterOptions {
  client: Pick<Client, 'patch'>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Log;
  /** Maximum number of requests in flight. */
  atOnce: number;
}

/** Backoff and maximum number of tries of a write; the next scheduling attempt of the pod writes its status anyway. */
const RETRY = { base: 1_000, cap: 30_000, jitter: 0 };
const MAX_TRIES = 6;

/** The written status is remembered for this many pods until the caches show it: they lag by a moment, or under load by seconds. */
const REMEMBERED = 1_000;

/** Share of the requests in flight that is allowed while pods are being bound: Bindings are more urgent. */
const SHARE_BESIDE_BINDINGS = 1 / 4;

/** Writes to the status of pods why they are pending: only the newest reason of each pod, and only changes. A failed write blocks nothing. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #waiting = new Map<string, { pod: PodInfo; wanted: Wanted }>();
  readonly #inFlight = new Map<string, { wanted: Wanted; flight: Promise<void>; isForgotten: boolean }>();
  /** Writes that failed and wait for a retry, with the number of failures in a row. */
  readonly #failed = new Map<string, { wanted: Wanted; failures: number }>();
  /** The status in the server's responses, oldest first. */
  readonly #answered = new Map<string, { version: string; status: Status }>();
  /** Number of Bindings in flight, which take precedence. */
  #urgent = 0;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** @param pod - its newest known state */
  write(pod: PodInfo, wanted: Wanted, signal: AbortSignal): void {
    const before = this.#waiting.get(pod.uid);
    // A write that waits or is in flight counts as written: the cached pod does not show it yet.
    const last = before ?? this.#inFlight.get(pod.uid);
    if (last !== undefined && includes(last.wanted, wanted)) return;
    const nominate = wanted.nominate ?? (before ?? this.#failed.get(pod.uid))?.wanted.nominate;
    const merged = { ...wanted, nominate };
    // Also if the status shows this already: the retry would replace it with what is older.
    this.#failed.delete(pod.uid);
    if (last === undefined && !differs(this.#statusOf(pod), merged)) return;
    this.#waiting.set(pod.uid, { pod, wanted: merged });
    this.#next(signal);
  }

  /**
   * The pod is about to be bound: drops its waiting write. @returns the write in flight, for which the caller waits: otherwise it could take effect after the
   * Binding and overwrite the condition that the server sets.
   */
  forget(uid: string): Promise<void> | undefined {
    this.#waiting.delete(uid);
    this.#failed.delete(uid);
    const flying = this.#inFlight.get(uid);
    if (flying !== undefined) flying.isForgotten = true;
    return flying?.flight;
  }

  /**
   * Sets nominatedNodeName while the volumes of the pod are being bound, so that autoscalers keep the node. API servers from 1.35 on clear it when the pod is
   * bound. A failure is only logged: the pod is bound without it.
   * @see https://kep.k8s.io/5278
   */
  async nominate(pod: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, key } = pod;
    if (this.#statusOf(pod)?.nominatedNodeName === node) return;
    const patch = { metadata: { uid }, status: { nominatedNodeName: node } };
    const { client, log } = this.#options;
    try {
      this.#remember(uid, await client.patch<Pod>(pods, { namespace, name }, patch, { type: 'strategic', subresource: 'status', signal }));
    } catch (error) {
      if (!signal.aborted && !isNotFound(error) && !isConflict(error))
        log.warn('failed to set nominatedNodeName of a pod, binding its volumes without', { pod: key, node, error: describeError(error) });
    }
  }

  /** A Binding is about to be sent: limits the requests in flight until the result is disposed of. */
  yieldToBinding(): Disposable {
    this.#urgent += 1;
    return { [Symbol.dispose]: () => void (this.#urgent -= 1) };
  }

  /** The newest known status: the cached pod may be older than the last write. */
  #statusOf({ uid, pod }: PodInfo): Status {
    const answered = this.#answered.get(uid);
    if (answered !== undefined && isOlder(pod.metadata.resourceVersion ?? '', answered.version)) return answered.status;
    this.#answered.delete(uid);
    return pod.status;
  }

  #remember(uid: string, { metadata, status }: Pod): void {
    this.#answered.delete(uid);
    const { value: oldest } = this.#answered.keys().next();
    if (oldest !== undefined && this.#answered.size >= REMEMBERED) this.#answered.delete(oldest);
    const { nominatedNodeName = '' } = status ?? {};
    const conditions = status?.conditions?.filter(({ type }) => type === 'PodScheduled') ?? [];
    this.#answered.set(uid, { version: metadata.resourceVersion ?? '', status: { conditions, nominatedNodeName } });
  }

  get #most(): number {
    const { atOnce } = this.#options;
    // At least 1: only the end of a request starts the next ones.
    return this.#urgent > 0 ? Math.max(1, Math.floor(atOnce * SHARE_BESIDE_BINDINGS)) : atOnce;
  }

  /** Resolves when no request is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all([...this.#inFlight.values()].map(({ flight }) => flight));
  }

  #next(signal: AbortSignal): void {
    if (signal.aborted) return;
    for (const [uid, { pod, wanted }] of this.#waiting) {
      if (this.#inFlight.size >= this.#most) return;
      if (this.#inFlight.has(uid)) continue;
      this.#waiting.delete(uid);
      const flight = this.#patch(pod, wanted, signal).finally(() => {
        this.#inFlight.delete(uid);
        this.#next(signal);
      });
      this.#inFlight.set(uid, { wanted, flight, isForgotten: false });
    }
  }

  #retryLater(pod: PodInfo, wanted: Wanted, signal: AbortSignal): void {
    const { uid } = pod;
    const failures = (this.#failed.get(uid)?.failures ?? 0) + 1;
    this.#failed.delete(uid);
    if (this.#inFlight.get(uid)?.isForgotten === true) return;
    const newer = this.#waiting.get(uid);
    if (newer !== undefined) {
      // If the newer write leaves the nomination unchanged, it takes over the nomination of the failed one.
      const { nominate = wanted.nominate } = newer.wanted;
      this.#waiting.set(uid, { pod: newer.pod, wanted: { ...newer.wanted, nominate } });
      return;
    }
    if (failures >= MAX_TRIES) return;
    const failed = { wanted, failures };
    this.#failed.set(uid, failed);
    const then = (): void => {
      // A newer write replaced this one, or {@link forget} dropped it.
      if (this.#failed.get(uid) !== failed) return;
      this.#waiting.set(uid, { pod, wanted });
      this.#next(signal);
    };
    void this.#options.clock
      .sleep(
        backoff(failures, RETRY, () => 0),
        signal,
      )
      .then(then, () => this.#failed.delete(uid));
  }

  async #patch(pod: PodInfo, wanted: Wanted, signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#options;
    const { key, namespace, name, uid } = pod;
    const condition: PodCondition & ReturnType<typeof observedOf> = {
      type: 'PodScheduled',
      status: 'False',
      reason: wanted.reason,
      message: wanted.message,
      ...observedOf(pod.pod),
      // The time since which the pod is not scheduled. If it was not before, the patch omits the field, which leaves it unchanged.
      ...(scheduledOf(this.#statusOf(pod))?.status === 'False' ? {} : { lastTransitionTime: rfc3339(clock.now()) }),
    };
    const nominated = wanted.nominate === undefined ? {} : { nominatedNodeName: wanted.nominate === '' ? null : wanted.nominate };
    const patch = { metadata: { uid }, status: { conditions: [condition], ...nominated } };
    try {
      const after = await client.patch<Pod>(pods, { namespace, name }, patch, { type: 'strategic', subresource: 'status', signal });
      this.#remember(uid, after);
      this.#failed.delete(uid);
    } catch (error) {
      if (isNotFound(error)) this.#failed.delete(uid);
      if (signal.aborted || isNotFound(error)) return;
      // A conflict mostly means another pod of that name, but the server may also return it for other reasons.
      if (!isConflict(error)) log.warn('failed to update the status of a pending pod, retrying', { pod: key, error: describeError(error) });
      this.#retryLater(pod, wanted, signal);
    }
  }
}

function includes(written: Wanted, { reason, message, nominate }: Wanted): boolean {
  return written.reason === reason && written.message === message && (nominate === undefined || written.nominate === nominate);
}

type Status = Readonly<Pick<PodStatus, 'conditions' | 'nominatedNodeName'>> | undefined;

function scheduledOf(status: Status): PodCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled');
}

function differs(status: Status, { reason, message, nominate }: Wanted): boolean {
  const known = scheduledOf(status);
  if (known?.status !== 'False' || known.reason !== reason || known.message !== message) return true;
  return nominate !== undefined && nominate !== (status?.nominatedNodeName ?? '');
}
