import type { Millis } from '../../../base/clock.ts';
import { unreachable } from '../../../base/errors.ts';
import { nodes } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isConflict, isNotFound } from '../../../kube/client/errors.ts';
import { slowStart } from '../../../kube/client/limits.ts';
import type { EvictionBackoff, Evictor } from './eviction.ts';
import type { DrainOutcome, DrainStep, Node, PodRef, RefusedPod } from './contract.ts';
import { POLL_MS } from './plan.ts';
import { FIELD_MANAGER, uncordonPatch } from './record.ts';

/** Max concurrent evictions of one node. */
const MAX_EVICTIONS_AT_ONCE = 16;
/** A stale cache needs a moment to show the write. */
const CONFLICT_RETRY_MS: Millis = 1_000;

/** What a drain writes with: rights are get and patch of nodes, patch of nodes/status, create of pods/eviction. */
export interface DrainWorld {
  client: Pick<Client, 'get' | 'patch'>;
  evictor: Evictor;
  /** Shared by all nodes, and by {@link DrainInput.heldBack}. */
  backoff: EvictionBackoff;
}

/**
 * Does one step. Repeating it is harmless: writes carry the version they were planned from, evictions the uid of their pod.
 * @throws ApiError, TransportError when the server rejects a write of the Node, does not answer, or does not authenticate this client (401)
 */
export async function executeDrain(step: DrainStep, world: DrainWorld, signal: AbortSignal): Promise<DrainOutcome> {
  switch (step.do) {
    case 'patch':
      return patchNode(step.node, step.body, step.subresource, world, signal);
    case 'uncordon': {
      let live: Node;
      try {
        live = await world.client.get<Node>(nodes, { name: step.node }, { signal });
      } catch (error) {
        if (isNotFound(error)) return { result: 'gone', requeueAfterMs: undefined };
        throw error;
      }
      const body = uncordonPatch(live, step.owner);
      if (body === undefined) return { result: 'patched', node: live, requeueAfterMs: 0 };
      return patchNode(step.node, body, undefined, world, signal);
    }
    case 'evict':
      return evict(step, world, signal);
    case 'wait':
      return { result: 'nothing', requeueAfterMs: step.requeueAfterMs };
    case 'drained':
    case 'failed':
    case 'given-back':
      return { result: 'nothing', requeueAfterMs: undefined };
    default:
      return unreachable(step);
  }
}

async function patchNode(
  name: string,
  body: unknown,
  subresource: 'status' | undefined,
  { client }: DrainWorld,
  signal: AbortSignal,
): Promise<DrainOutcome> {
  const options = { type: 'strategic' as const, fieldManager: FIELD_MANAGER, signal, ...(subresource ? { subresource } : {}) };
  try {
    return { result: 'patched', node: await client.patch<Node>(nodes, { name }, body, options), requeueAfterMs: 0 };
  } catch (error) {
    if (isNotFound(error)) return { result: 'gone', requeueAfterMs: undefined };
    if (isConflict(error)) return { result: 'conflict', requeueAfterMs: CONFLICT_RETRY_MS };
    throw error;
  }
}

async function evict(step: Extract<DrainStep, { do: 'evict' }>, world: DrainWorld, signal: AbortSignal): Promise<DrainOutcome> {
  const { evictor, backoff } = world;
  const { gracePeriodSeconds } = step;
  const { done, failed, skipped } = await slowStart(step.pods, (pod) => evictor.evict(pod, { gracePeriodSeconds, signal }), {
    first: 4,
    largest: MAX_EVICTIONS_AT_ONCE,
    signal,
  });
  const [evicted, deleted, refused]: [PodRef[], PodRef[], RefusedPod[]] = [[], [], []];
  for (const { item, value } of done) {
    if (value.pod === 'refused') refused.push({ ...item, why: value.why });
    else (value.pod === 'gone' ? deleted : evicted).push(item);
    if (value.pod === 'refused') backoff.hold(item.uid, value.retryAfterMs, value.why);
    else backoff.hold(item.uid, POLL_MS, 'it was evicted and is not terminating yet');
  }
  // The backoff has the results so far: the next plan continues with the other pods.
  for (const { error } of failed) throw error;
  signal.throwIfAborted();
  return { result: 'evicted', evicted, deleted, refused, skipped: skipped.length, requeueAfterMs: POLL_MS };
}
