import type { Pod as PodFields } from 'kubernetes-types/core/v1.js';
import type { Millis } from '../../base/clock.ts';
import type { Kube } from '../../kube/api/resources.ts';

type Conditions = { readonly status?: Pick<NonNullable<PodFields['status']>, 'conditions'> };

/** Its Ready condition is True. */
export function isReady(pod: Conditions): boolean {
  return readySince(pod) !== undefined;
}

/**
 * How long a pod still has to stay ready before it counts as available: `minReadyMs` after it became ready, on the clock of `now`.
 * @returns 0 when it is available, ms when time alone will make it so, undefined when it is not ready
 */
export function availableIn(pod: Conditions, minReadyMs: Millis, now: Millis): Millis | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  if (minReadyMs <= 0) return 0;
  // Ready without a valid lastTransitionTime never becomes available, as upstream (podutil.IsPodAvailable).
  const at = Date.parse(since);
  return Number.isNaN(at) ? undefined : Math.max(0, at + minReadyMs - now);
}

/** '' when ready without a lastTransitionTime. */
function readySince({ status }: Conditions): string | undefined {
  for (const { type, status: is, lastTransitionTime } of status?.conditions ?? [])
    if (type === 'Ready') return is === 'True' ? (lastTransitionTime ?? '') : undefined;
  return undefined;
}

/** What keeps a pod from being available: a word for scripts, and a few for people. */
export function whyNotAvailable(pod: Readonly<Kube<PodFields>>): { reason: string; text: string } {
  const { reason, text } = inFull(pod);
  return { reason: reason.slice(0, MAX_REASON), text: text.slice(0, MAX_REASON + 100) };
}

/** Characters. Others wrote it, in pods; from here it goes into the status of sets. */
const MAX_REASON = 200;

function inFull({ metadata, spec, status }: Readonly<Kube<PodFields>>): { reason: string; text: string } {
  if (metadata.deletionTimestamp !== undefined)
    return { reason: 'Terminating', text: `terminating, grace period ends at ${metadata.deletionTimestamp}` };
  if (status?.phase === 'Failed')
    return { reason: status.reason ?? 'Failed', text: `failed${status.reason === undefined ? '' : ` (${status.reason})`}` };
  const conditions = status?.conditions ?? [];
  const unscheduled = conditions.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (unscheduled !== undefined)
    return { reason: unscheduled.reason ?? 'Unschedulable', text: `not scheduled (${unscheduled.reason ?? 'no reason given'})` };
  if (spec?.nodeName === undefined || spec.nodeName === '') return { reason: 'NotScheduled', text: 'not scheduled yet' };
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return { reason: 'MinReadySeconds', text: 'ready for less than minReadySeconds' };
  return { reason: ready?.reason ?? 'NotReady', text: `not ready${ready?.reason === undefined ? '' : ` (${ready.reason})`}` };
}
