import { rfc3339, type Millis } from '../../../base/clock.ts';
import { isJsonObject, type JsonObject } from '../../../kube/api/json.ts';
import type { DrainOwner, Node } from './contract.ts';

/** Annotation of a Node that is being drained: which rollout drains it, NAME/UID. */
export const DRAINED_BY = 'dkc.dev/drained-by';
/** Annotation beside it: when the drain began, RFC 3339. */
export const DRAIN_STARTED = 'dkc.dev/drain-started';
/** Annotation of a Node that a rollout has cordoned, NAME/UID. Who removes it keeps the node cordoned after the drain. */
export const CORDONED_BY = 'dkc.dev/cordoned-by';

/** The manager of our writes in `metadata.managedFields`. */
export const FIELD_MANAGER = 'dkc-drain';
/** The API server keeps ten managers of updates; the fields of older ones are this one's. */
const FORGOTTEN_MANAGERS = 'ancient-changes';

/** What a Node says of the drain that is under way on it. */
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

/** Whether the Node's cordon is this rollout's. An annotation that nothing else agrees with proves nothing: see {@link cordonManagers}. */
export function isCordonedBy(node: Readonly<Node>, owner: DrainOwner): boolean {
  return node.spec?.unschedulable === true && parseOwner(node.metadata.annotations?.[CORDONED_BY])?.uid === owner.uid;
}

/**
 * Annotations and cordon that begin a drain, in one write. A cordon of somebody else's stays his: an annotation left over from an older drain is removed.
 */
export function cordonPatch(node: Readonly<Node>, owner: DrainOwner, now: Millis): JsonObject {
  const isForeign = node.spec?.unschedulable === true && !isCordonedBy(node, owner);
  const cordonedBy = isForeign ? null : printOwner(owner);
  const annotations = { [DRAINED_BY]: printOwner(owner), [DRAIN_STARTED]: rfc3339(now), [CORDONED_BY]: cordonedBy };
  return { metadata: { ...identity(node), annotations }, ...(isForeign ? {} : { spec: { unschedulable: true } }) };
}

/** Counts the time of a drain from now on. */
export function timerPatch(node: Readonly<Node>, now: Millis): JsonObject {
  return { metadata: { ...identity(node), annotations: { [DRAIN_STARTED]: rfc3339(now) } } };
}

/**
 * Removes what {@link cordonPatch} wrote for this rollout, and the cordon where it is still ours.
 * @param node - as the server has it, with managedFields: they show a person who removed the cordon and cordoned the node again
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

/** Who set `spec.unschedulable`, by `metadata.managedFields`. Empty where those do not say. */
function cordonManagers(node: Readonly<Node>): string[] {
  const managers: string[] = [];
  for (const entry of node.metadata.managedFields ?? []) {
    if (!isJsonObject(entry) || typeof entry['manager'] !== 'string' || !isJsonObject(entry['fieldsV1'])) continue;
    const spec = entry['fieldsV1']['f:spec'];
    if (isJsonObject(spec) && Object.hasOwn(spec, 'f:unschedulable')) managers.push(entry['manager']);
  }
  return managers.filter((manager) => manager !== FORGOTTEN_MANAGERS);
}

/** What makes a patch fail where the Node is another one, or another version, than the one it was planned from. */
export function identity({ metadata: { uid, resourceVersion } }: Readonly<Node>): JsonObject {
  return { uid, resourceVersion };
}

/** NAME/UID, neither of which holds a slash; undefined for anything else. */
export function parseOwner(text: string | undefined): DrainOwner | undefined {
  const [name = '', uid = '', ...rest] = (text ?? '').split('/');
  return name === '' || uid === '' || rest.length > 0 ? undefined : { name, uid };
}
