import type { Pod as PodFields, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { Kube, KubeObject, Resource } from '../../kube/api/object.ts';
import { controllerRef } from '../../kube/controller/owners.ts';
import type { Millis } from '../../base/clock.ts';
import type { WakeUp } from './reconcile.ts';

/** A valid prefix for the five random characters that the API server appends. */
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*-?$/;

/**
 * A pod made from the owner's template, without a node. The pod shares `spec` with the template: copy it before changing it.
 * @throws {Error} `unable to create pods, no labels`, since no selector would ever match such a pod
 */
export function podFromTemplate(template: Readonly<PodTemplateSpec>, owner: Readonly<KubeObject>, ownerKind: Resource): Kube<PodFields> {
  const { labels = {}, annotations, finalizers } = template.metadata ?? {};
  if (Object.keys(labels).length === 0) throw new Error('unable to create pods, no labels');
  const { name = '', namespace = '' } = owner.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: namePrefix(name),
      namespace,
      labels: { ...labels },
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [controllerRef(owner, ownerKind)],
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  };
}

/** `NAME-`, or the name alone when `NAME-` is not a valid prefix. The API server truncates a prefix that is too long. */
export function namePrefix(name: string): string {
  const prefix = `${name}-`;
  return PREFIX.test(prefix) ? prefix : name;
}

/** Max characters of the pods serialized in one turn of the event loop: a few ms. */
const MAX_TURN_TEXT = 4 * 2 ** 20;

const sizes = new WeakMap<object, number>();

/**
 * How many pods of a template may be created at once. Each pod is copied and serialized in the turn in which it is sent, so a template of a megabyte
 * allows a few at once and not five hundred.
 * @param template - never changed afterwards: its size is measured once
 * @returns 1 to `most`
 */
export function batchOf(template: object, most: number): number {
  let size = sizes.get(template);
  if (size === undefined) {
    size = JSON.stringify(template).length;
    sizes.set(template, size);
  }
  return Math.max(1, Math.min(most, Math.floor(MAX_TURN_TEXT / Math.max(1, size))));
}

type Conditions = { readonly status?: Pick<NonNullable<PodFields['status']>, 'conditions'> };

/** The pod's Ready condition is True. */
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

/** Why a pod is not available: `reason` is one word for scripts, `text` a phrase for people. */
export function whyNotAvailable(pod: Readonly<Kube<PodFields>>): { reason: string; text: string } {
  const { reason, text } = inFull(pod);
  return { reason: reason.slice(0, MAX_REASON), text: text.slice(0, MAX_REASON + 100) };
}

/** Max characters. Other programs write these texts into the status of pods; this controller copies them into the status of sets. */
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

/**
 * When to reconcile for a pod that will become available. The ready time comes from another machine's clock, which may be wrong by years for a while: the
 * wait is at most `minReadySeconds`, which it never exceeds with a correct clock.
 * @param at - wall clock, as `now`
 */
export function availableWakeUp(at: Millis, now: Millis, minReadyMs: Millis): WakeUp {
  return { requeueAfter: Math.min(at - now, minReadyMs), why: 'a pod will be available' };
}
