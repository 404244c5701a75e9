import type { Clock, Millis } from '../../../base/clock.ts';
import { ActionError } from '../../../base/errors.ts';
import { pods } from '../../../kube/api/object.ts';
import { type Client, resourcesIn } from '../../../kube/client/client.ts';
import { ApiError, isConflict, isNotFound, isTooManyRequests } from '../../../kube/client/errors.ts';
import type { HeldBack, PodRef } from './contract.ts';

/** gone: the pod does not exist any more. refused: not now; retry after `retryAfterMs` at the earliest. */
type Eviction = { pod: 'evicted' } | { pod: 'gone' } | { pod: 'refused'; why: string; retryAfterMs: Millis };

/**
 * Asks for the eviction of one pod. There is one implementation, {@link ApiEvictor}. Servers with the API `lifecycle.k8s.io` (alpha in 1.37) take an
 * EvictionRequest, which lets the pod's own responders act first: an Evictor that creates one answers `refused` with the request's progress as `why`
 * until the pod terminates, and is chosen by discovery where the server serves it. Nothing else of a drain depends on which one it is.
 */
export interface Evictor {
  /** @throws when the server does not answer, or does not authenticate this client: other pods need not be tried */
  evict(pod: PodRef, options: { gracePeriodSeconds: number | undefined; signal: AbortSignal }): Promise<Eviction>;
}

/** The wait of kubectl drain after a refused eviction. */
const RETRY_MS: Millis = 5_000;
const MIN_RETRY_MS: Millis = 1_000;
const MAX_RETRY_MS: Millis = 60_000;
/**
 * Timeout of one eviction. Not longer than the `Retry-After` of a budget that its controller has not seen yet (10 s), so that other pods and nodes are served.
 */
const TIMEOUT_MS: Millis = 10_000;

/** Evicts through the subresource `pods/eviction`: policy/v1 from Kubernetes 1.22 on, before that policy/v1beta1. */
export class ApiEvictor implements Evictor {
  readonly #client: Pick<Client, 'post' | 'raw'>;
  #apiVersion: Promise<string> | undefined;

  constructor(client: Pick<Client, 'post' | 'raw'>) {
    this.#client = client;
  }

  async evict(
    { namespace, name, uid }: PodRef,
    { gracePeriodSeconds, signal }: { gracePeriodSeconds: number | undefined; signal: AbortSignal },
  ): Promise<Eviction> {
    const deleteOptions = { preconditions: { uid }, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) };
    const body = { apiVersion: await this.#version(signal), kind: 'Eviction', metadata: { namespace, name }, deleteOptions };
    try {
      await this.#client.post(pods, { namespace, name }, 'eviction', body, { signal, timeoutMs: TIMEOUT_MS });
      return { pod: 'evicted' };
    } catch (error) {
      signal.throwIfAborted();
      // Another pod of this name has another uid, which is a conflict.
      if (isNotFound(error) || isConflict(error)) return { pod: 'gone' };
      if (!(error instanceof ApiError) || error.code === 401) throw error;
      // The server may have been replaced by one that serves the other version.
      if (error.code === 400 || error.code === 415) this.#apiVersion = undefined;
      return { pod: 'refused', why: refusal(error), retryAfterMs: retryAfter(error) };
    }
  }

  /** Discovered once for all pods, and again after a failure. */
  async #version(signal: AbortSignal): Promise<string> {
    this.#apiVersion ??= discover(this.#client, signal);
    try {
      return await this.#apiVersion;
    } catch (error) {
      this.#apiVersion = undefined;
      throw error;
    }
  }
}

/** As kubectl finds it: the version that the core API names for `pods/eviction`. */
async function discover(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<string> {
  const answer = await client.raw('GET', '/api/v1', { signal });
  for (const { name, group, version } of resourcesIn(answer))
    if (name === 'pods/eviction' && group === 'policy' && typeof version === 'string') return `policy/${version}`;
  throw new ActionError('evict pods', 'through pods/eviction', {
    hint: 'the API server does not serve it; set spec.drain: Never',
  });
}

/** The causes of the error name the budget; other errors say everything in the message. */
function refusal(error: ApiError): string {
  const causes = Array.isArray(error.details?.causes) ? error.details.causes : [];
  const messages = causes.flatMap(({ message }) => (typeof message === 'string' && message !== '' ? [message] : []));
  return isTooManyRequests(error) && messages.length > 0 ? messages.join('; ') : `${error.code} ${error.serverMessage || error.reason}`;
}

function retryAfter(error: ApiError): Millis {
  return Math.min(Math.max(error.retryAfterMs ?? RETRY_MS, MIN_RETRY_MS), MAX_RETRY_MS);
}

/** Pods remembered; beyond that the oldest are forgotten, and tried again too early. */
const MAX_HELD_BACK = 10_000;

/**
 * Evictions that are not retried yet: rejected ones, and those whose effect may not be visible yet. Losing this with the process costs one more request
 * for each pod.
 */
export class EvictionBackoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #held = new Map<string, { until: Millis; why: string }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @param forMs - counted from now */
  hold(uid: string, forMs: Millis, why: string): void {
    this.#held.delete(uid);
    this.#held.set(uid, { until: this.#clock.monotonic() + forMs, why });
    if (this.#held.size <= MAX_HELD_BACK) return;
    const [oldest] = this.#held.keys();
    if (oldest !== undefined) this.#held.delete(oldest);
  }

  /** For {@link DrainInput.heldBack}. */
  readonly heldBack = (uid: string): HeldBack | undefined => {
    const found = this.#held.get(uid);
    if (found === undefined) return undefined;
    return { why: found.why, leftMs: Math.max(0, found.until - this.#clock.monotonic()) };
  };
}
