import type { Action, DrainState, Facts } from './contract.ts';
import { memoize } from '../../kube/cache/contract.ts';
import { hasCondition, recordOf, rolloutsOn } from './drain/record.ts';
import type { DrainOwner, Node } from './drain/contract.ts';
import type { Precedence } from './fleet.ts';
import type { RolloutNode } from './node.ts';
import { keyOf } from './revision.ts';
import type { Rules } from './rules.ts';

/** The owner of what this rollout writes on Nodes. */
export const ownerOf = ({ name, uid }: Pick<Rules, 'name' | 'uid'>): DrainOwner => ({ name, uid });

export const nodeOf = ({ object }: RolloutNode): Readonly<Node> => object as Readonly<Node>;

/** This rollout drains the node, or has drained it and not given it back. */
export const isDrainedBy = (node: RolloutNode, rules: Rules): boolean => recordOf(nodeOf(node))?.owner.uid === rules.uid;

/** The state of a node's drain for a revision. A drain that the Node does not record has not begun, or is over, unless it failed. */
export function drainOf(
  { rules, drains }: Pick<Facts, 'rules' | 'drains'>,
  node: RolloutNode,
  revision: string | undefined,
): DrainState | undefined {
  const known = drains.get(node.node);
  const isFor = known?.revision === revision && known?.attempt === rules.attempt && known.uid === node.uid;
  if (isFor && known.at === 'failed') return known;
  if (!isDrainedBy(node, rules)) return undefined;
  return isFor ? known : { at: 'draining', why: 'it was begun' };
}

/** Rollouts that have left something on a Node. Computed once per version of the Node, since every reconcile needs it of every node. */
export const rolloutsRecordedOn = memoize((node: Readonly<Node>) => rolloutsOn(node));

/** Whether anything of this rollout is left on the Node. */
export const isWorkedOn = (node: RolloutNode, rules: Rules): boolean =>
  rolloutsRecordedOn(nodeOf(node)).some(({ uid }) => uid === rules.uid);

/** The Node has the condition MaintenancePlanned of this rollout. */
export const isPlannedBy = (node: RolloutNode, rules: Rules): boolean =>
  isWorkedOn(node, rules) && hasCondition(nodeOf(node), 'MaintenancePlanned', ownerOf(rules));

/**
 * How a node gets a revision: drained first if the change needs it, unless it is drained already. During a rollback the node is assigned even when the drain
 * failed: the configuration that it has is worse.
 */
export function planTouch(facts: Facts, node: RolloutNode, revision: string | undefined, { isBack = false } = {}): Action {
  const state = drainOf(facts, node, revision)?.at;
  const assign: Action = { do: 'assign', node, revision };
  if (state === 'drained' || (state === 'failed' && isBack)) return assign;
  return state === 'draining' || needsDrain(facts, node, revision) ? { do: 'drain', node, revision } : assign;
}

function needsDrain({ rules, configs, payloadOf, revisions }: Facts, node: RolloutNode, revision: string | undefined): boolean {
  if (rules.drain !== 'Auto') return rules.drain === 'Always';
  if (node.kubeletVersion === '') return false;
  const to = revisions.find(({ metadata }) => metadata.name === revision);
  const from = payloadOf(node.active);
  return (
    configs.needsDrain(
      from && { map: from, key: node.active?.kubeletConfigKey ?? '' },
      to && { map: to, key: keyOf(to, rules.configMap.kubeletConfigKey) },
      node.kubeletVersion,
    ).length > 0
  );
}

/**
 * Rollouts that have left a cordon, a record or a condition on a Node that is not theirs any more: they were deleted, perhaps while no controller ran; they do
 * not select the Node since its labels or their selector changed; or an older rollout has it now. What a rollout with an invalid spec has begun stays, until
 * its spec is valid.
 * @param alive - all rollouts that are not being deleted
 */
export function abandonedOn(node: Readonly<Node>, alive: Pick<Precedence, 'holderOf' | 'named'>): DrainOwner[] {
  const found = rolloutsRecordedOn(node);
  if (found.length === 0) return found;
  const holder = alive.holderOf(node);
  return found.filter(({ uid }) => {
    const owner = alive.named(uid);
    return owner === undefined || (owner.problems.length === 0 && owner !== holder);
  });
}
