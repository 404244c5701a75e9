import { type Millis, rfc3339 } from '../../base/clock.ts';
import { jsonEqual } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { StatusPlan } from './reconcile.ts';
import type { Memory } from './set-memory.ts';

/** A condition in the status of a set of any kind. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

interface ProgressFacts {
  /** All conditions of the present status, including those of other writers. */
  has: readonly Condition[];
  /** Wall clock. */
  now: Millis;
  /** undefined: the set asks for no conditions. */
  deadlineMs: Millis | undefined;
  state: 'complete' | 'paused' | 'updating';
  /** Progress as text: `2 of 3 pods are updated, 3 available`. */
  message: string;
  /** There was progress since the status was last written. */
  moved: boolean;
  /** What the rollout waits for; called when the deadline has passed. */
  blocker: () => { reason: string; message: string };
}

export interface Progress {
  /** All conditions that the status should have. */
  conditions: readonly Condition[];
  /** Ms until the deadline passes if there is no progress. */
  deadlineIn: Millis | undefined;
}

const OWN_CONDITIONS = new Set(['Progressing', 'Stalled']);
const EXCEEDED = 'ProgressDeadlineExceeded';
const reasons = {
  complete: { status: 'True', reason: 'RolloutComplete' },
  paused: { status: 'Unknown', reason: 'RolloutPaused' },
  updating: { status: 'True', reason: 'PodsUpdating' },
} as const;

/**
 * The progress of a rollout as two conditions, which only sets with a deadline have. `lastTransitionTime` of `Progressing` is the time of the last progress,
 * so that any process can continue the count. Pure.
 *
 * | rollout | Progressing | Stalled |
 * | --- | --- | --- |
 * | complete | True, RolloutComplete | False |
 * | paused | Unknown, RolloutPaused | False |
 * | progress within the deadline | True, PodsUpdating | False |
 * | none | False, ProgressDeadlineExceeded | True, with pod and reason |
 */
export function progressOf({ has, now, deadlineMs, state, message, moved, blocker }: ProgressFacts): Progress {
  const others = has.filter(({ type }) => !OWN_CONDITIONS.has(type));
  if (deadlineMs === undefined) return { conditions: others, deadlineIn: undefined };
  const before = has.find(({ type }) => type === 'Progressing');
  const time = rfc3339(now);
  const is = reasons[state];
  const since = before?.reason === is.reason || before?.reason === EXCEEDED ? Date.parse(before.lastTransitionTime ?? '') : Number.NaN;
  // A time in the future means that a clock is or was wrong: count from now, or the deadline might pass only after years.
  const fresh = Number.isNaN(since) || since > now || moved;
  const left = fresh ? deadlineMs : since + deadlineMs - now;
  const stalled = state === 'updating' && left <= 0;
  const progressing = stalled
    ? { status: 'False', reason: EXCEEDED, message: `no progress for more than ${deadlineMs / 1_000} s: ${message}` }
    : { ...is, message };
  const conditions = [
    ...others,
    // Unchanged without progress, also when the deadline passes: this is the time of the last progress.
    { type: 'Progressing', ...progressing, lastTransitionTime: fresh ? time : (before?.lastTransitionTime ?? time) },
    stalledCondition(has, stalled ? blocker() : undefined, time),
  ];
  return { conditions, deadlineIn: state === 'updating' && !stalled ? left : undefined };
}

function stalledCondition(has: readonly Condition[], why: { reason: string; message: string } | undefined, time: string): Condition {
  const before = has.find(({ type }) => type === 'Stalled');
  const now =
    why === undefined
      ? { status: 'False', reason: 'NotStalled', message: 'the rollout is progressing or complete' }
      : { status: 'True', ...why };
  const turned = before?.status !== now.status;
  return { type: 'Stalled', ...now, lastTransitionTime: turned ? time : (before.lastTransitionTime ?? time) };
}

/**
 * Conditions for a status that another writer may have changed: those of other writers stay, ours are replaced. Pure.
 * @returns undefined for none
 */
export function conditionsOnto(there: readonly Condition[] = [], wants: readonly Condition[] = []): Condition[] | undefined {
  const conditions = [...there.filter(({ type }) => !OWN_CONDITIONS.has(type)), ...wants.filter(({ type }) => OWN_CONDITIONS.has(type))];
  return conditions.length === 0 ? undefined : conditions;
}

/** What differs. `words`: only messages and times, as whenever a pod progresses. Pure. */
export function conditionsDiffer(has: readonly Condition[] = [], wants: readonly Condition[] = []): 'no' | 'words' | 'more' {
  if (jsonEqual(has, wants)) return 'no';
  const verdicts = (all: readonly Condition[]): unknown => all.map(({ type, status, reason = '' }) => [type, status, reason]);
  return jsonEqual(verdicts(has), verdicts(wants)) ? 'words' : 'more';
}

/** What a new status would change, and when. */
export interface StatusDiff {
  /** What the write would change; `numbers` includes messages and times of conditions. */
  change: 'nothing' | 'numbers' | 'more';
  /** A number reaches its desired value. */
  reached: boolean;
  /** The numbers are about to change again: pods that were created or deleted are not in the cache yet, or are being created now. */
  busy: boolean;
}

/** Whether a count reaches `wanted`, and the status does not show it yet. @param counts - in the status, and now */
export function reaches(wanted: number, counts: readonly (readonly [has: number | undefined, is: number])[]): boolean {
  return counts.some(([has, is]) => is === wanted && (has ?? 0) !== is);
}

/**
 * Whether to write a status now. A set waits for each write, and then for its event, before it continues, so numbers that are about to change again wait:
 *
 * | what changes | when |
 * | --- | --- |
 * | more than numbers, such as the generation that was observed | now |
 * | a number reaches its desired value | now: people and scripts wait for that |
 * | other numbers | 100 ms after the last write; 500 ms while they are about to change again |
 */
export function paceStatus<S extends KubeObject & { status?: object }>(
  status: S['status'],
  { change, reached, busy }: StatusDiff,
  memory: Pick<Memory, 'statusHeldMs'>,
): StatusPlan<S> {
  if (change === 'nothing') return { status: undefined, wakeUps: [] };
  const held = change === 'more' || reached ? 0 : memory.statusHeldMs(busy ? 'busy' : 'idle');
  if (held === 0) return { status, wakeUps: [] };
  return { status: undefined, wakeUps: [{ requeueAfter: held, why: 'the status was written a moment ago' }] };
}
