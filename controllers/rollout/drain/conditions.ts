import type { NodeCondition } from 'kubernetes-types/core/v1.js';
import { rfc3339, type Millis } from '../../../base/clock.ts';
import type { DrainOwner, Node, PatchNode } from './contract.ts';
import { CORDONED_BY, identity, parseOwner, printOwner, recordOf } from './record.ts';

/**
 * Conditions of a Node that is being worked on. Any API server takes them; controllers heed them from 1.37 on, behind the gate NodeLifecycleConditions.
 * @see https://kep.k8s.io/5683
 */
export const lifecycleConditions = ['MaintenancePlanned', 'MaintenanceInProgress', 'DrainInProgress', 'Drained'] as const;
export type LifecycleCondition = (typeof lifecycleConditions)[number];

const texts: Readonly<Record<LifecycleCondition, { reason: string; message: string }>> = {
  MaintenancePlanned: { reason: 'AdminRequested', message: 'the kubelet configuration of this node is going to change' },
  MaintenanceInProgress: { reason: 'AdminRequested', message: 'the kubelet configuration of this node is being changed' },
  DrainInProgress: { reason: 'AdminRequested', message: 'this node is being drained' },
  Drained: { reason: 'DrainCompleted', message: 'this node is drained' },
};

/**
 * The write that leaves a Node with these lifecycle conditions of this rollout and no others of it. Conditions that anybody else has written, True or
 * False, are never changed: ours are known by their message, which begins with the rollout's name and uid.
 * @returns undefined where the Node is like that already
 */
export function planConditions(
  node: Readonly<Node>,
  owner: DrainOwner,
  wanted: readonly LifecycleCondition[],
  now: Millis,
): PatchNode | undefined {
  const changes: object[] = [];
  for (const type of lifecycleConditions) {
    const found = conditionOf(node, type);
    const isOurs = found !== undefined && isWrittenBy(found, owner);
    if (wanted.includes(type) && found === undefined) changes.push(condition(type, owner, now));
    if (!wanted.includes(type) && isOurs) changes.push({ type, $patch: 'delete' });
  }
  if (changes.length === 0) return undefined;
  const body = { metadata: identity(node), status: { conditions: changes } };
  const what = wanted.length === 0 ? 'remove conditions' : 'set conditions';
  return { do: 'patch', what, node: node.metadata.name ?? '', subresource: 'status', body };
}

/**
 * The rollouts that have left something on a Node: a record, a cordon or a condition, in this order. One that does not exist any more cannot remove it:
 * give the node back in its name.
 */
export function rolloutsOn(node: Readonly<Node>): DrainOwner[] {
  const found = [recordOf(node)?.owner, parseOwner(node.metadata.annotations?.[CORDONED_BY])];
  for (const type of lifecycleConditions) {
    const [, text] = /^NodeConfigRollout ([^ ]+): /.exec(conditionOf(node, type)?.message ?? '') ?? [];
    found.push(parseOwner(text));
  }
  const byUid = new Map(found.flatMap((owner) => (owner === undefined ? [] : [[owner.uid, owner] as const])));
  return [...byUid.values()];
}

/** Whether a Node has this condition, whatever it says: of this rollout, or of anybody. */
export function hasCondition(node: Readonly<Node>, type: LifecycleCondition, owner?: DrainOwner): boolean {
  const found = conditionOf(node, type);
  return found !== undefined && (owner === undefined || isWrittenBy(found, owner));
}

function condition(type: LifecycleCondition, owner: DrainOwner, now: Millis): NodeCondition {
  const at = rfc3339(now);
  const { reason, message } = texts[type];
  return { type, status: 'True', reason, message: `${prefix(owner)}${message}`, lastHeartbeatTime: at, lastTransitionTime: at };
}

function conditionOf(node: Readonly<Node>, type: LifecycleCondition): NodeCondition | undefined {
  return node.status?.conditions?.find((one) => one.type === type);
}

function isWrittenBy({ message }: NodeCondition, owner: DrainOwner): boolean {
  return message?.startsWith(prefix(owner)) === true;
}

function prefix(owner: DrainOwner): string {
  return `NodeConfigRollout ${printOwner(owner)}: `;
}
