import type { Millis } from '../../base/clock.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';
import { sameSpec } from '../fleet/fleet-node.ts';
import { type Facts, type Placed, specOf } from './contract.ts';
import { drainOf, isDrainedBy, isPlannedBy, isWorkedOn } from './maintenance.ts';
import {
  hasWrongTime,
  isDegraded,
  isChanging,
  isDown,
  type StateFacts,
  type RolloutNode,
  type RolloutState,
  rolloutState,
  type RetryAttempt,
} from './node.ts';
import { requestsRetry, isReturn, type Progress } from './progress.ts';
import { type ConfigMap, numberOf } from './revision.ts';
import { bounded } from './text.ts';
import { pendingTouches } from './touches.ts';
import type { Touch } from './types.ts';

/** The input for placing nodes, besides the nodes. Everything but the time, drains and touches stays the same between reconciles. */
export interface PlacementContext extends Pick<Facts, 'rules' | 'now' | 'drains' | 'configs' | 'gaps'> {
  /** Absent: no retry was requested from the nodes that have the revision. */
  retryAttempt: RetryAttempt | undefined;
  /** Nodes that are about to be written, as far as the caches show. */
  pending: ReadonlyMap<string, Touch>;
  revision: string;
  /** Absent: the local configuration. */
  previousRevision: string | undefined;
  /** How the revision, and the one before, are written in the spec of a node. */
  target: SpecSource | null;
  back: SpecSource | null;
  /** The ConfigMap of the revision; absent: not found. */
  copy: Readonly<ConfigMap> | undefined;
  /** Names of revisions that came after the previous one and were never complete: an edit or an undo superseded them. */
  superseded: ReadonlySet<string>;
  /** Two contexts with the same key place a node alike, as long as time, drains and touches are the same. */
  key: string;
}

export function placementContext(
  facts: Facts,
  { revision, previousRevision, attemptAt }: Pick<Progress, 'revision' | 'previousRevision' | 'attemptAt'>,
): PlacementContext {
  const { rules, now, drains, configs, revisions, gaps = [] } = facts;
  const copy = revisions.find(({ metadata }) => metadata.name === revision);
  const { uid, generation } = rules;
  const [target, back] = [specOf(rules, revision, revisions), specOf(rules, previousRevision, revisions)];
  const superseded = supersededOf(revisions, { revision, previousRevision });
  const { resourceVersion = '' } = copy?.metadata ?? {};
  const version = copy !== undefined && requestsRetry(copy, rules) ? resourceVersion : undefined;
  const retryAttempt = attemptAt === undefined ? undefined : { since: Date.parse(attemptAt), resourceVersion: version };
  const key = JSON.stringify([uid, generation, target, back, copy?.metadata.uid, resourceVersion, [...superseded], attemptAt, gaps]);
  return { rules, now, drains, configs, gaps, retryAttempt, pending: pendingTouches(facts), revision, previousRevision, target, back, copy, superseded, key }; // prettier-ignore
}

/** Copies are numbered in the order in which they were last rolled out. A return gives an older copy the highest number, so creation times count then. */
function supersededOf(revisions: Facts['revisions'], progress: Pick<Progress, 'revision' | 'previousRevision'>): Set<string> {
  const { revision, previousRevision } = progress;
  const previous = revisions.find(({ metadata }) => metadata.name === previousRevision);
  const madeAt = ({ metadata }: Readonly<ConfigMap>): number => Date.parse(metadata.creationTimestamp ?? '');
  const isLater = (one: Readonly<ConfigMap>): boolean =>
    previous === undefined || (isReturn(progress) ? madeAt(one) > madeAt(previous) : numberOf(one) > numberOf(previous));
  const names = revisions.filter(isLater).map(({ metadata: { name = '' } }) => name);
  return new Set(names.filter((name) => name !== revision && name !== previousRevision).toSorted());
}

/** The node has a revision of this rollout that was superseded before it was complete. */
const isSuperseded = ({ rollout, wanted }: RolloutNode, { rules, superseded }: PlacementContext): boolean =>
  wanted !== null && rollout === rules.name && wanted.namespace === rules.configMap.namespace && superseded.has(wanted.name);

/**
 * The groups of nodes that plans read.
 *
 * ```text
 * in-flight, settled, failed   where they stand on their way to the revision; all three were touched
 * left, left-down              not touched; of these, not Ready or marked as unschedulable
 * refused                      not touched, and their kubelet would reject the revision
 * candidates                   can be touched; candidates-down: of these, unavailable already; joiners: of these, on their local configuration
 * degraded                     of these, with an unhealthy kubelet or an error, as their agent reports: they come last
 * stranded                     of these, not Ready, presumably because of a superseded revision
 * unavailable                  in flight, failed, changing to anything else, or down
 * pending                      about to be written, by this process or another
 * misdated                     assigned before the clock was set
 * planned                      not touched, and with the condition MaintenancePlanned
 * maintained                   being drained, or arrived and to be given back
 *
 * On the way back, of a revision that has stopped:
 * free                         still assigned it, or one that it superseded, and unavailable already: they take no place
 * others                       still assigned it: they wait for a place
 * begun                        still assigned it, and about to be written
 * returning, stuck             assigned the previous one: in flight, or not settled in time
 * taken                        unavailable while others go back
 * drained                      drained, and not given back yet
 * worked-on                    something of this rollout is on the Node
 * ```
 */
export type Group =
  | 'in-flight'
  | 'settled'
  | 'failed'
  | 'left'
  | 'left-down'
  | 'refused'
  | 'candidates'
  | 'candidates-down'
  | 'joiners'
  | 'degraded'
  | 'stranded'
  | 'unavailable'
  | 'pending'
  | 'misdated'
  | 'maintained'
  | 'planned'
  | 'begun'
  | 'drained'
  | 'free'
  | 'others'
  | 'returning'
  | 'stuck'
  | 'taken'
  | 'worked-on';

/** A node, where it stands, and the groups that it is in. */
export interface Placement extends Placed {
  groups: readonly Group[];
  /** When the node fails if nothing changes until then; Infinity: never. */
  failsAt: Millis;
  isUnavailable: boolean;
  /** The state on the way back; absent: the node is not on it. */
  returning?: RolloutState;
  /** Why its kubelet would reject the revision. */
  refusal?: string;
}

/** Places one node. Pure. */
export type Placer = (node: RolloutNode, context: PlacementContext) => Placement;

const failsAtOf = (state: RolloutState | undefined): Millis => (state?.at === 'in-flight' ? state.failsAt : Infinity);

const stateFacts = ({ rules, now, gaps = [], retryAttempt }: PlacementContext): StateFacts => ({
  deadlineMs: rules.nodeDeadlineMs,
  now,
  gaps,
  retryAttempt,
});

/** On the way to the revision. */
export const placeForward: Placer = (node, context) => {
  const { rules, target, now, gaps, pending } = context;
  const state = withDrain(node, rolloutState(node, target, stateFacts(context)), context);
  const isUnavailable = pending.has(node.node) || state.at === 'in-flight' || state.at === 'failed' || isDown(node) || isChanging(node);
  const placement = { node, state, isUnavailable, failsAt: failsAtOf(state) };
  const groups: Group[] = isUnavailable ? ['unavailable'] : [];
  switch (state.at) {
    case 'in-flight': {
      groups.push('in-flight');
      if (!sameSpec(node.wanted, target)) groups.push(isDrainedBy(node, rules) ? 'maintained' : 'pending');
      else if (hasWrongTime(node, now, gaps)) groups.push('misdated');
      return { ...placement, groups };
    }
    case 'settled':
    case 'failed':
      groups.push(state.at, ...(isWorkedOn(node, rules) ? (['maintained'] as const) : []));
      return { ...placement, groups };
    case 'waiting':
    case 'no-agent':
      groups.push('left', ...(isDown(node) ? (['left-down'] as const) : []), ...(isPlannedBy(node, rules) ? (['planned'] as const) : []));
  }
  const refusal = refusalOf(node, context);
  if (refusal !== undefined) return { ...placement, refusal, groups: [...groups, 'refused'] };
  // A superseded revision of this rollout may be why the node is not Ready: without a new one it would stay so, and use up budget.
  const isStranded = node.ready !== true && isSuperseded(node, context);
  if (state.at !== 'waiting' || (node.ready !== true && !isStranded)) return { ...placement, groups };
  groups.push('candidates', ...(isStranded ? (['stranded'] as const) : []));
  if (isUnavailable) groups.push('candidates-down');
  if (!isStranded && isDegraded(node)) groups.push('degraded');
  if (node.wanted === null) groups.push('joiners');
  return { ...placement, groups };
};

/** A node that is touched or drained for the revision is in flight; a node whose drain failed has failed. */
function withDrain(node: RolloutNode, state: RolloutState, context: PlacementContext): RolloutState {
  if (state.at !== 'waiting') return state;
  const drain = drainOf(context, node, context.revision);
  if (drain?.at === 'failed') return { at: 'failed', error: `drain: ${drain.error}` };
  if (drain === undefined && context.pending.get(node.node)?.revision !== context.revision) return state;
  const why =
    drain === undefined ? 'about to be assigned the revision' : drain.at === 'drained' ? 'drained' : `being drained: ${drain.why}`;
  return { at: 'in-flight', why, failsAt: Infinity };
}

/** undefined: the kubelet would accept the revision, as far as that can be predicted. Nodes that have the revision report the outcome themselves. */
function refusalOf({ kubeletVersion }: RolloutNode, { target, copy, configs }: PlacementContext): string | undefined {
  if (copy === undefined || kubeletVersion === '') return undefined;
  const why = configs.rejects(copy, target?.kubeletConfigKey ?? '', kubeletVersion);
  return why.length === 0 ? undefined : bounded(`kubelet ${kubeletVersion}: ${why.join('; ')}`, 300);
}

/** On the way back from a revision that has stopped. */
export const placeBack: Placer = (node, context) => {
  const { rules, now, gaps, target, previousRevision, back, pending } = context;
  const state = rolloutState(node, target, stateFacts(context));
  const groups: Group[] = [];
  if (state.at === 'in-flight' || state.at === 'settled' || state.at === 'failed') groups.push(state.at);
  if (isWorkedOn(node, rules)) groups.push('worked-on');
  if (isDrainedBy(node, rules)) groups.push('drained');
  // Nodes that undid the revision themselves, are still on the way to it, hang, or cannot run pods now, are unavailable already.
  const isOld = isSuperseded(node, context);
  const isBehind = isOld || sameSpec(node.wanted, target);
  const isOnTheWay = state.at === 'in-flight' || state.at === 'failed' || (isOld && isChanging(node));
  const isFree = isBehind && (node.error !== null || isDown(node) || isOnTheWay);
  const touch = pending.get(node.node);
  const isBegun = touch !== undefined && touch.revision === previousRevision;
  if (touch !== undefined) groups.push('pending');
  if (isBehind) groups.push(isFree ? 'free' : isBegun ? 'begun' : 'others');
  const isOurs = node.rollout === rules.name && sameSpec(node.wanted, back);
  const returning = isOurs ? rolloutState(node, back, { ...stateFacts(context), retryAttempt: undefined }) : undefined;
  // A node that proved the configuration before has arrived, even if it is not Ready for another reason.
  const isReturning = failsAtOf(returning) !== Infinity;
  if (isReturning) groups.push('returning', ...(hasWrongTime(node, now, gaps) ? (['misdated'] as const) : []));
  if (returning?.at === 'failed') groups.push('stuck');
  const isUnavailable = isReturning || returning?.at === 'failed' || touch !== undefined || isDown(node) || isFree;
  if (isUnavailable) groups.push('taken');
  const failsAt = Math.min(failsAtOf(state), failsAtOf(returning));
  return { node, state, isUnavailable, groups, failsAt, ...(returning === undefined ? {} : { returning }) };
};
