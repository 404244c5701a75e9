import { rfc3339 } from '../../base/clock.ts';
import type { SetEvent } from '../common/events.ts';
import type { Condition } from '../common/progress.ts';
import { type Action, type Work, waitsFor } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { pvcOwners } from './place.ts';
import type { Slots } from './slots.ts';
import type { Counts } from './status.ts';
import { isOld } from './update.ts';

/**
 * The strategy Recreate: all pods of old revisions go at once, those without a place too, and nothing is made before they are gone.
 * @returns undefined when there is no such pod
 */
export function planRecreate(facts: SetFacts, { wanted, condemned }: Slots): Work | undefined {
  const { optIns, update } = facts.rules;
  if (update.type !== 'Recreate' || optIns.paused || optIns.problems.length > 0) return undefined;
  const old = [...wanted, ...condemned].filter((slot) => isOld(facts, slot));
  const [first] = old;
  if (first === undefined) return undefined;
  const actions = old.flatMap(({ pod, health }): Action[] =>
    pod === undefined || health.terminating ? [] : [{ do: 'delete', pod, reason: 'recreate' }],
  );
  // With a pod that there is no place for its claims may go: who owns them is said while it is there.
  const owners = condemned.flatMap((slot) => pvcOwners(facts, slot, true));
  return { groups: [owners, actions], waits: waitsFor(first, 'recreating') };
}

const IN_PROGRESS = 'RecreateInProgress';
const COMPLETE = 'RecreateComplete';
const messages = {
  [IN_PROGRESS]: 'pods of old revisions are deleted; pods of the update revision are created when they are gone',
  [COMPLETE]: 'all pods are of the update revision',
};

/** What people read of a set with the strategy Recreate. */
export interface RecreateNews {
  /** `Progressing`, or none before there is anything to say. */
  conditions: readonly Condition[];
  events: readonly SetEvent[];
}

/**
 * The condition `Progressing` and the event `RecreateStarted`, as upstream has them since 1.37. Pure.
 *
 * | pods | Progressing |
 * | --- | --- |
 * | of old revisions are deleted, or terminating | True, RecreateInProgress; the event, unless the condition was there |
 * | all there, of the update revision | True, RecreateComplete |
 * | else | as it was |
 * @param work - what {@link planRecreate} plans
 * @see https://kep.k8s.io/3541
 */
export function recreateNews({ rules, now }: Pick<SetFacts, 'rules' | 'now'>, counts: Counts, work: Work | undefined): RecreateNews {
  const before = rules.set.status?.conditions?.find(
    ({ type, reason }) => type === 'Progressing' && (reason === IN_PROGRESS || reason === COMPLETE),
  );
  const complete = counts.updated >= rules.places.length && counts.replicas === counts.updated;
  if (work === undefined && !complete) return { conditions: before === undefined ? [] : [before], events: [] };
  const reason = work === undefined ? COMPLETE : IN_PROGRESS;
  const lastTransitionTime = before?.lastTransitionTime ?? rfc3339(now);
  const started = reason === IN_PROGRESS && before?.reason !== IN_PROGRESS;
  return {
    conditions: [{ type: 'Progressing', status: 'True', reason, message: messages[reason], lastTransitionTime }],
    events: started ? [{ type: 'Normal', reason: 'RecreateStarted', message: 'Deleting all pods for Recreate update' }] : [],
  };
}
