import { type Millis, rfc3339 } from '../../base/clock.ts';
import { jsonEqual } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { StatusPlan } from './reconcile.ts';
import type { Memory } from './set-memory.ts';

/** As sets of all kinds have them in their status. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

interface ProgressFacts {
  /** Of the status as it is, others' too. */
  has: readonly Condition[];
  /** Wall clock. */
  now: Millis;
  /** undefined: the set asks for no conditions. */
  deadlineMs: Millis | undefined;
  state: 'complete' | 'paused' | 'updating';
  /** How far it is: `2 of 3 pods are updated, 3 available`. */
  message: string;
  /** Since the status was last written. */
  moved: boolean;
  /** What it waits for; asked when the deadline is over. */
  blocker: () => { reason: string; message: string };
}

export interface Progress {
  /** All that the status should have. */
  conditions: readonly Condition[];
  /** Ms until the deadline is over, if nothing moves. */
  deadlineIn: Millis | undefined;
}

const OURS = new Set(['Progressing', 'Stalled']);
const EXCEEDED = 'ProgressDeadlineExceeded';
const reasons = {
  complete: { status: 'True', reason: 'RolloutComplete' },
  paused: { status: 'Unknown', reason: 'RolloutPaused' },
  updating: { status: 'True', reason: 'PodsUpdating' },
} as const;

/**
 * The progress of a rollout, in two conditions that only sets with a deadline have; `Progressing` holds in `lastTransitionTime` when anything last moved,
 * so that any process can go on counting. Pure.
 *
 * | rollout | Progressing | Stalled |
 * | --- | --- | --- |
 * | complete | True, RolloutComplete | False |
 * | paused | Unknown, RolloutPaused | False |
 * | moved within the deadline | True, PodsUpdating | False |
 * | did not | False, ProgressDeadlineExceeded | True, with pod and reason |
 */
export function progressOf({ has, now, deadlineMs, state, message, moved, blocker }: ProgressFacts): Progress {
  const others = has.filter(({ type }) => !OURS.has(type));
  if (deadlineMs === undefined) return { conditions: others, deadlineIn: undefined };
  const before = has.find(({ type }) => type === 'Progressing');
  const time = rfc3339(now);
  const is = reasons[state];
  const since = before?.reason === is.reason || before?.reason === EXCEEDED ? Date.parse(before.lastTransitionTime ?? '') : Number.NaN;
  // A time to come was written by a clock that was wrong, or ours is: counted from now on, or it would be over after years.
  const fresh = Number.isNaN(since) || since > now || moved;
  const left = fresh ? deadlineMs : since + deadlineMs - now;
  const stalled = state === 'updating' && left <= 0;
  const progressing = stalled
    ? { status: 'False', reason: EXCEEDED, message: `no progress for more than ${deadlineMs / 1_000} s: ${message}` }
    : { ...is, message };
  const conditions = [
    ...others,
    // Kept while it stands still, also when the deadline passes: it tells when something last moved.
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
 * The conditions of a status that somebody else may have written meanwhile: others' as they are there, ours as they should be. Pure.
 * @returns undefined for none
 */
export function conditionsOnto(there: readonly Condition[] = [], wants: readonly Condition[] = []): Condition[] | undefined {
  const conditions = [...there.filter(({ type }) => !OURS.has(type)), ...wants.filter(({ type }) => OURS.has(type))];
  return conditions.length === 0 ? undefined : conditions;
}

/** What differs. `words`: messages and times alone, as with each pod that gets on. Pure. */
export function conditionsDiffer(has: readonly Condition[] = [], wants: readonly Condition[] = []): 'no' | 'words' | 'more' {
  if (jsonEqual(has, wants)) return 'no';
  const verdicts = (all: readonly Condition[]): unknown => all.map(({ type, status, reason = '' }) => [type, status, reason]);
  return jsonEqual(verdicts(has), verdicts(wants)) ? 'words' : 'more';
}

/** What a new status would change, and when. */
export interface StatusNews {
  /** What writing it would change; `numbers` are words of conditions too. */
  change: 'nothing' | 'numbers' | 'more';
  /** A number changes to what it should be. */
  reached: boolean;
  /** The numbers are about to change again: pods that were created or deleted are not in the cache yet, or are being created now. */
  busy: boolean;
}

/** Whether a count differs from the one in the status and is now what it should be. @param counts - as the status has it, as it is now */
export function reaches(wanted: number, counts: readonly (readonly [has: number | undefined, is: number])[]): boolean {
  return counts.some(([has, is]) => is === wanted && (has ?? 0) !== is);
}

/**
 * Whether to write a status now. Each write of it is waited for, and then for its event, before the set continues, so numbers that are about to change again wait:
 *
 * | what changes | when |
 * | --- | --- |
 * | more than numbers, such as the generation that was observed | now |
 * | a number reaches what it should be | now: people and scripts wait for that |
 * | other numbers | 100 ms after the last write; 500 ms while they are about to change again |
 */
export function paceStatus<S extends KubeObject & { status?: object }>(
  status: S['status'],
  { change, reached, busy }: StatusNews,
  memory: Pick<Memory, 'statusHeldMs'>,
): StatusPlan<S> {
  if (change === 'nothing') return { status: undefined, wakeUps: [] };
  const held = change === 'more' || reached ? 0 : memory.statusHeldMs(busy ? 'busy' : 'idle');
  if (held === 0) return { status, wakeUps: [] };
  return { status: undefined, wakeUps: [{ requeueAfter: held, why: 'the status was written a moment ago' }] };
}
