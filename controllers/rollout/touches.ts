import { type Millis, rfc3339 } from '../../base/clock.ts';
import { isOlder } from '../../kube/cache/change.ts';
import { sameSpec } from '../fleet/fleet-node.ts';
import { type Action, type Facts, specOf } from './contract.ts';
import type { WakeUp } from '../common/reconcile.ts';
import { isDrainedBy } from './maintenance.ts';
import type { RolloutNode } from './node.ts';
import type { RolloutStatus, Touch, Touches } from './types.ts';

/** Nodes that are touched in one look: the status names them before they are written. */
export const MAX_TOUCHES = 100;
/** Nodes that a look has not begun to write by then are left to the next one, in ms. */
export const TOUCH_MS: Millis = 20_000;
/** A write that was decided on may arrive this much later, in ms, and a cache show it later still: requests end after 30 s, caches may be two minutes behind. */
const LATE_MS: Millis = 180_000;
/** A cache that is behind for longer than this is not waited for, in ms: a store that was restored from a backup counts lower. */
const MAX_BEHIND_MS: Millis = 300_000;

/**
 * Touches that the status names and the caches do not show. The plan counts them, whatever process decided on them: it may have been killed before it
 * wrote the node, its write may be on the way, or this cache may be older than the write.
 */
export function pendingTouches({
  rules,
  now,
  fleet,
  revisions,
}: Pick<Facts, 'rules' | 'now' | 'fleet' | 'revisions'>): ReadonlyMap<string, Touch> {
  const pending = new Map<string, Touch>();
  for (const touch of rules.rollout.status?.touches?.nodes ?? []) {
    const node = fleet.get(touch.node);
    if (node !== undefined && mayArrive(touch, now) && !isShown(node, touch, { rules, revisions })) pending.set(touch.node, touch);
  }
  return pending;
}

function isShown(node: RolloutNode, { revision }: Touch, { rules, revisions }: Pick<Facts, 'rules' | 'revisions'>): boolean {
  return sameSpec(node.wanted, specOf(rules, revision, revisions)) || isDrainedBy(node, rules);
}

const mayArrive = ({ at }: Touch, now: Millis): boolean => Math.abs(now - Date.parse(at)) < LATE_MS;

/** When touches that do not show count no more. */
export const pendingWakeUps = (facts: Facts): WakeUp[] =>
  pendingTouches(facts).size === 0 ? [] : [{ requeueAfter: LATE_MS, why: 'a node is about to be written' }];

/**
 * What the status says of touches before the nodes are written: those that are decided on now, beside those that are pending. It changes only where one is
 * new, so that going on with drains writes nothing.
 */
export function touchesOf(facts: Facts, actions: readonly Action[], prior: RolloutStatus | undefined): Touches | undefined {
  const { now, versions } = facts;
  const pending = pendingTouches(facts);
  const all = new Map(pending);
  let isNew = false;
  for (const action of actions) {
    if (action.do !== 'assign' && action.do !== 'drain') continue;
    const { node, revision } = action;
    const known = prior?.touches?.nodes.find((touch) => touch.node === node.node);
    const isSame = known?.revision === revision;
    if (isDrainedBy(node, facts.rules) ? known === undefined || isSame : pending.has(node.node) && isSame) continue;
    isNew = true;
    all.set(node.node, { node: node.node, ...(revision === undefined ? {} : { revision }), at: rfc3339(now) });
  }
  if (!isNew) return prior?.touches;
  return { nodes: [...all.values()], ...(versions === undefined ? {} : versions) };
}

/**
 * The caches are older than those that the last touches were decided on: another process has seen more than this one, and what it did could be done twice.
 * They catch up by themselves.
 */
export function isBehind(touches: Touches | undefined, versions: NonNullable<Facts['versions']>, now: Millis): boolean {
  if (touches === undefined) return false;
  const last = Math.max(...touches.nodes.map(({ at }) => Date.parse(at)));
  if (Math.abs(now - last) > MAX_BEHIND_MS) return false;
  const { nodesVersion = '', nodeConfigsVersion = '' } = touches;
  return isOlder(versions.nodesVersion, nodesVersion) || isOlder(versions.nodeConfigsVersion, nodeConfigsVersion);
}
