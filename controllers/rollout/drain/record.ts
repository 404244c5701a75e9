import { type Millis, rfc3339 } from '../../../base/clock.ts';
import { isJsonObject, type JsonObject } from '../../../kube/api/json.ts';
import { conditionOf, conditionsOf } from '../../fleet/read-fleet-node.ts';
import type { DrainOwner, Node, PatchNode } from './contract.ts';
import type { NodeCondition } from 'kubernetes-types/core/v1.js';

/** Annotation of a Node that is being drained: which rollout drains it, NAME/UID. */
const DRAINED_BY = 'dkc.dev/drained-by';
/** Annotation beside it: when the drain began, RFC 3339. */
const DRAIN_STARTED = 'dkc.dev/drain-started';
/** Annotation of a Node that a rollout has cordoned, NAME/UID. A user who removes it keeps the node cordoned after the drain. */
const CORDONED_BY = 'dkc.dev/cordoned-by';

/** The manager of our writes in `metadata.managedFields`. */
export const FIELD_MANAGER = 'dkc-drain';
/** The API server keeps ten managers of updates, and merges older ones into this one. */
const FORGOTTEN_MANAGERS = 'ancient-changes';

/** What a Node records of its running drain. */
export interface DrainRecord {
  owner: DrainOwner;
  /** undefined: the annotation is missing or no time. */
  startedAt: Millis | undefined;
}

/** The drain that a Node records; undefined where there is none, or its annotation names no rollout. */
export function recordOf(node: Readonly<Node>): DrainRecord | undefined {
  const annotations = node.metadata.annotations ?? {};
  const owner = parseOwner(annotations[DRAINED_BY]);
  if (owner === undefined) return undefined;
  const startedAt = Date.parse(annotations[DRAIN_STARTED] ?? '');
  return { owner, startedAt: Number.isNaN(startedAt) ? undefined : startedAt };
}

export function printOwner({ name, uid }: DrainOwner): string {
  return `${name}/${uid}`;
}

/** Whether the Node's cordon is this rollout's, according to the annotation. That alone is no proof: see {@link cordonManagers}. */
function isCordonedBy(node: Readonly<Node>, owner: DrainOwner): boolean {
  return node.spec?.unschedulable === true && parseOwner(node.metadata.annotations?.[CORDONED_BY])?.uid === owner.uid;
}

/**
 * Annotations and cordon that begin a drain, in one write. A cordon that somebody else set stays theirs: an annotation left over from an older drain is removed.
 */
export function cordonPatch(node: Readonly<Node>, owner: DrainOwner, now: Millis): JsonObject {
  const isForeign = node.spec?.unschedulable === true && !isCordonedBy(node, owner);
  const cordonedBy = isForeign ? null : printOwner(owner);
  const annotations = { [DRAINED_BY]: printOwner(owner), [DRAIN_STARTED]: rfc3339(now), [CORDONED_BY]: cordonedBy };
  return { metadata: { ...identity(node), annotations }, ...(isForeign ? {} : { spec: { unschedulable: true } }) };
}

/** Restarts the timer of a drain. */
export function timerPatch(node: Readonly<Node>, now: Millis): JsonObject {
  return { metadata: { ...identity(node), annotations: { [DRAIN_STARTED]: rfc3339(now) } } };
}

/**
 * Removes what {@link cordonPatch} wrote for this rollout, and the cordon where it is still ours.
 * @param node - as the server has it, with managedFields: these show that somebody else removed the cordon and cordoned the node again
 * @returns undefined where nothing of it is left
 */
export function uncordonPatch(node: Readonly<Node>, owner: DrainOwner): JsonObject | undefined {
  const annotations = node.metadata.annotations ?? {};
  const isOurs = (name: string): boolean => parseOwner(annotations[name])?.uid === owner.uid;
  const [drained, cordoned] = [isOurs(DRAINED_BY), isOurs(CORDONED_BY)];
  if (!drained && !cordoned) return undefined;
  const removed = [...(drained ? [DRAINED_BY, DRAIN_STARTED] : []), ...(cordoned ? [CORDONED_BY] : [])];
  const uncordons = isCordonedBy(node, owner) && cordonManagers(node).every((manager) => manager === FIELD_MANAGER);
  return {
    metadata: { ...identity(node), annotations: Object.fromEntries(removed.map((name) => [name, null])) },
    ...(uncordons ? { spec: { unschedulable: null } } : {}),
  };
}

/** The managers that set `spec.unschedulable`, by `metadata.managedFields`; empty when these do not say. */
function cordonManagers(node: Readonly<Node>): string[] {
  const managers: string[] = [];
  for (const entry of node.metadata.managedFields ?? []) {
    if (!isJsonObject(entry) || typeof entry['manager'] !== 'string' || !isJsonObject(entry['fieldsV1'])) continue;
    const spec = entry['fieldsV1']['f:spec'];
    if (isJsonObject(spec) && Object.hasOwn(spec, 'f:unschedulable')) managers.push(entry['manager']);
  }
  return managers.filter((manager) => manager !== FORGOTTEN_MANAGERS);
}

/** Makes a patch fail when the Node is not the one, or not the version, that it was planned from. */
function identity({ metadata: { uid, resourceVersion } }: Readonly<Node>): JsonObject {
  return { uid, resourceVersion };
}

/** NAME/UID, neither of which holds a slash; undefined for anything else. */
function parseOwner(text: string | undefined): DrainOwner | undefined {
  const [name = '', uid = '', ...rest] = (text ?? '').split('/');
  return name === '' || uid === '' || rest.length > 0 ? undefined : { name, uid };
}

/**
 * Conditions of a Node under maintenance. Any API server accepts them; controllers honor them from 1.37 on, behind the gate NodeLifecycleConditions.
 * @see https://kep.k8s.io/5683
 */
const lifecycleConditions = ['MaintenancePlanned', 'MaintenanceInProgress', 'DrainInProgress', 'Drained'] as const;
export type LifecycleCondition = (typeof lifecycleConditions)[number];

const texts: Readonly<Record<LifecycleCondition, { reason: string; message: string }>> = {
  MaintenancePlanned: { reason: 'AdminRequested', message: 'the kubelet configuration of this node is going to change' },
  MaintenanceInProgress: { reason: 'AdminRequested', message: 'the kubelet configuration of this node is being changed' },
  DrainInProgress: { reason: 'AdminRequested', message: 'this node is being drained' },
  Drained: { reason: 'DrainCompleted', message: 'this node is drained' },
};

/**
 * The write after which a Node has exactly these lifecycle conditions of this rollout. Conditions of other writers, True or False, are never changed: ours
 * are recognized by their message, which begins with the rollout's name and uid.
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
    const found = findCondition(node, type);
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
 * The rollouts that have left something on a Node: a record, a cordon or a condition, in this order. A deleted rollout cannot remove it: give the node
 * back in its name.
 */
export function rolloutsOn(node: Readonly<Node>): DrainOwner[] {
  const found = [recordOf(node)?.owner, parseOwner(node.metadata.annotations?.[CORDONED_BY])];
  for (const type of lifecycleConditions) {
    const [, text] = /^NodeConfigRollout ([^ ]+): /.exec(String(findCondition(node, type)?.['message'])) ?? [];
    found.push(parseOwner(text));
  }
  const byUid = new Map(found.flatMap((owner) => (owner === undefined ? [] : [[owner.uid, owner] as const])));
  return [...byUid.values()];
}

/** Whether a Node has this condition, whatever its status. @param owner - the rollout that wrote it; absent: any writer */
export function hasCondition(node: Readonly<Node>, type: LifecycleCondition, owner?: DrainOwner): boolean {
  const found = findCondition(node, type);
  return found !== undefined && (owner === undefined || isWrittenBy(found, owner));
}

function condition(type: LifecycleCondition, owner: DrainOwner, now: Millis): NodeCondition {
  const at = rfc3339(now);
  const { reason, message } = texts[type];
  return { type, status: 'True', reason, message: `${prefix(owner)}${message}`, lastHeartbeatTime: at, lastTransitionTime: at };
}

const findCondition = (node: Readonly<Node>, type: LifecycleCondition): JsonObject | undefined => conditionOf(type, conditionsOf(node));

function isWrittenBy({ message }: JsonObject, owner: DrainOwner): boolean {
  return typeof message === 'string' && message.startsWith(prefix(owner));
}

function prefix(owner: DrainOwner): string {
  return `NodeConfigRollout ${printOwner(owner)}: `;
}
