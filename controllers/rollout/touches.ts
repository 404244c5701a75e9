import { type Clock, type Millis, rfc3339 } from '../../base/clock.ts';
import { isOlder } from '../../kube/cache/change.ts';
import type { Key } from '../../kube/cache/contract.ts';
import { sameSpec } from '../fleet/fleet-node.ts';
import { CLUSTER_WAIT } from './cluster/budget.ts';
import { type Action, type Decision, type Facts, specOf } from './contract.ts';
import { hasCondition } from './drain/record.ts';
import type { Groups } from './grouping.ts';
import type { Placement } from './grouping-rules.ts';
import type { WakeUp } from '../common/reconcile.ts';
import { isDrainedBy, nodeOf } from './maintenance.ts';
import type { RolloutNode } from './node.ts';
import { isReturn, type Progress } from './progress.ts';
import { maxUnavailableOf, targetOf } from './rules.ts';
import type { Touch, Touches } from './types.ts';

/** Max nodes that one reconcile touches: the status names them before they are written. */
export const MAX_TOUCHES = 100;
/** Nodes that a reconcile has not begun to write after this time are left to the next one, in ms. */
export const TOUCH_MS: Millis = 20_000;
/**
 * A touch that the caches do not show counts for this long after it was first seen, in ms: the record, the status and the node are each written within 30 s,
 * nodes within 20 s of each other, and a cache may be two minutes behind.
 */
export const COUNTED_MS: Millis = 240_000;
/** A touch that was recorded longer ago than this is recorded again before it is executed, in ms. */
const OLD_MS: Millis = 30_000;
/** The controller does not wait longer than this for caches that are behind, in ms: a store that was restored from a backup has lower versions. */
const MAX_BEHIND_MS: Millis = 300_000;

const keyOf = (touch: Touch & { rollout?: string; drain?: true }): string =>
  [touch.node, touch.rollout, touch.revision, touch.at, touch.drain].join(' ');

/**
 * Since when this process knows the touches that one object names: the status of a rollout, or the record of all touches. Measured by the monotonic
 * clock: the time in a touch is that of the wall clock, which may have been set since, also in the process that wrote the touch.
 */
export class KnownTouches {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When this process saw a touch for the first time. */
  #seen = new Map<string, Millis>();
  /** When this process recorded a touch. A touch that another process recorded may expire there earlier than here. */
  readonly #own = new Map<string, Millis>();
  #behindSince: { versions: string; at: Millis } | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @param touches - all that the object names now */
  see(touches: readonly Touch[]): void {
    const now = this.#clock.monotonic();
    this.#seen = new Map(touches.map(keyOf).map((key) => [key, this.#seen.get(key) ?? now]));
  }

  /** Called when the API server has accepted the object with these touches. */
  wrote(touches: readonly Touch[]): void {
    const now = this.#clock.monotonic();
    for (const [key, at] of this.#own) if (now - at > OLD_MS) this.#own.delete(key);
    for (const key of touches.map(keyOf)) if (!this.#seen.has(key)) this.#own.set(key, now);
  }

  /** The touch may still be written, or may not be in the caches yet. */
  mayArrive(touch: Touch): boolean {
    const now = this.#clock.monotonic();
    return now - (this.#seen.get(keyOf(touch)) ?? now) < COUNTED_MS;
  }

  /** The touch must be recorded again before it is executed: this process has not recorded it recently. */
  isOld(touch: Touch): boolean {
    return this.#clock.monotonic() - (this.#own.get(keyOf(touch)) ?? -Infinity) > OLD_MS;
  }

  /**
   * The caches are older than those that the last touches were planned from: another process has seen more than this one, and its work could be done twice.
   * The caches catch up by themselves. Versions later than that of the object that names them never come: the store was restored from a backup before the
   * object was written, by a process whose caches did not show the restore yet.
   * @param writtenAt - resource version of the object that names them
   */
  isBehind(
    { nodesVersion = '', nodeConfigsVersion = '' }: Omit<Touches, 'nodes'>,
    has: NonNullable<Facts['versions']>,
    writtenAt = '',
  ): boolean {
    if ([nodesVersion, nodeConfigsVersion].some((version) => isOlder(writtenAt, version))) return false;
    const now = this.#clock.monotonic();
    const versions = `${nodesVersion} ${nodeConfigsVersion}`;
    if (this.#behindSince?.versions !== versions) this.#behindSince = { versions, at: now };
    const isOne = isOlder(has.nodesVersion, nodesVersion) || isOlder(has.nodeConfigsVersion, nodeConfigsVersion);
    return isOne && now - this.#behindSince.at < MAX_BEHIND_MS;
  }
}

/** What one process knows of the touches of every rollout. */
export class KnownTouchesOf {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<Key, KnownTouches>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  rollout(key: Key): KnownTouches {
    const known = this.#known.get(key) ?? new KnownTouches(this.#clock);
    this.#known.set(key, known);
    return known;
  }

  forget(rollout: Key): void {
    this.#known.delete(rollout);
  }
}

/**
 * Touches that the status names and the caches do not show. The plan counts them, whichever process planned them: that process may have crashed before it
 * wrote the node, its write may be on the way, or this cache may be older than the write.
 */
export function pendingTouches({ rules, fleet, revisions, touches }: Facts): ReadonlyMap<string, Touch> {
  const pending = new Map<string, Touch>();
  for (const touch of rules.status.touches?.nodes ?? []) {
    const node = fleet.get(touch.node);
    if (node !== undefined && touches?.mayArrive(touch) !== false && !isShown(node, touch, { rules, revisions }))
      pending.set(touch.node, touch);
  }
  return pending;
}

function isShown(node: RolloutNode, { revision }: Touch, { rules, revisions }: Pick<Facts, 'rules' | 'revisions'>): boolean {
  return sameSpec(node.wanted, specOf(rules, revision, revisions)) || isDrainedBy(node, rules);
}

/** When touches that the caches do not show stop counting. */
export const pendingWakeUps = (facts: Facts): WakeUp[] =>
  pendingTouches(facts).size === 0 ? [] : [{ requeueAfter: COUNTED_MS, why: 'a node is about to be written' }];

/**
 * The touches in the status before the nodes are written: those of this plan, and the pending ones. They change only when a touch is new, or old, so that
 * a plan that only continues drains writes nothing.
 */
export function touchesOf(facts: Facts, actions: readonly Action[]): Touches | undefined {
  const { rules, now, versions, touches } = facts;
  const prior = rules.status.touches;
  const pending = pendingTouches(facts);
  const all = new Map(pending);
  let isNew = false;
  for (const action of actions) {
    if (action.do !== 'assign' && action.do !== 'drain') continue;
    const { node, revision } = action;
    const known = prior?.nodes.find((touch) => touch.node === node.node);
    const isSame = known?.revision === revision;
    const isSaid = known !== undefined && isSame && touches?.isOld(known) !== true;
    if (isDrainedBy(node, rules) ? known === undefined || isSame : pending.has(node.node) && isSaid) continue;
    isNew = true;
    all.set(node.node, { node: node.node, ...(revision === undefined ? {} : { revision }), at: rfc3339(now) });
  }
  if (!isNew) return prior;
  return { nodes: [...all.values()], ...(versions === undefined ? {} : versions) };
}

/** Waits that may be long, and end with time or by a user. Not `Resume`: a paused rollout has nothing planned. */
const WAITS: ReadonlySet<string> = new Set(['Window', 'Approval', 'Hold', 'Gates', 'MaxUnavailable', CLUSTER_WAIT]);

interface Waiting {
  facts: Facts;
  groups: Groups;
  touched: number;
  /** In the order in which they are touched. */
  candidates: readonly Placement[];
}

/**
 * While a rollout waits with nothing in flight, the nodes that come next get the condition MaintenancePlanned: as many as are touched at once. They keep it
 * until they are touched, which replaces it in the same write, or until other nodes come next. So each wait costs one write for each of these nodes, whatever
 * the size of the fleet, and going from node to node costs none.
 */
export function withPlanned(waiting: Waiting, decision: Decision): Decision {
  const next = new Set(nextOf(waiting, decision).map(({ node }) => node));
  const touched = new Set(decision.actions?.flatMap((action) => ('node' in action ? [action.node.node] : [])));
  const over = waiting.groups.of('planned').filter(({ node }) => !next.has(node) && !touched.has(node.node));
  const more = [...next].filter((node) => !hasCondition(nodeOf(node), 'MaintenancePlanned') && !touched.has(node.node));
  if (over.length + more.length === 0) return decision;
  const actions: Action[] = [
    ...over.map(({ node }): Action => ({ do: 'give-back', node })),
    ...more.map((node): Action => ({ do: 'plan-maintenance', node })),
  ];
  return { ...decision, actions: [...(decision.actions ?? []), ...actions] };
}

function nextOf({ facts, groups, touched, candidates }: Waiting, { progress, waitsFor = '' }: Decision): readonly Placement[] {
  const { rules, fleet } = facts;
  if (progress === undefined || !WAITS.has(waitsFor) || groups.of('in-flight').length > 0) return [];
  const most = Math.min(stepEnd(facts, progress, touched) - touched, maxUnavailableOf(rules, fleet.size), MAX_TOUCHES);
  const { spreadBy } = rules;
  const domain = spreadBy === undefined ? undefined : candidates[0]?.node.labels[spreadBy];
  const next: Placement[] = [];
  for (const one of candidates) {
    if (next.length >= most) break;
    if (spreadBy === undefined || one.node.labels[spreadBy] === domain) next.push(one);
  }
  return next;
}

/** How many nodes have the revision at the end of the step that touches the next one. */
function stepEnd({ rules, fleet: { size } }: Facts, progress: Progress, touched: number): number {
  if (progress.complete || isReturn(progress)) return size;
  const ends = rules.steps.slice(progress.step - 1).map((step) => targetOf(step, size));
  return ends.find((end) => end > touched) ?? size;
}
