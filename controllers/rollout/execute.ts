import { type Clock, type Millis, rfc3339 } from '../../base/clock.ts';
import { configMaps, type KubeObject, nodes, type Resource, resourceName } from '../../kube/api/object.ts';
import { ActionError } from '../../base/errors.ts';
import { backoff } from '../../base/waiting.ts';
import { jsonEqual } from '../../kube/api/json.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/client/errors.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { OwnWrites } from '../../kube/controller/own-writes.ts';
import { slowStart } from '../../kube/client/limits.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import { sourceText, type SpecSource } from '../../agent/checkpoint/source.ts';
import { newNodeConfig, ownerPatch, sameSpec } from '../fleet/fleet-node.ts';
import { wantedOf } from '../fleet/read-fleet-node.ts';
import { type Action, objectOf, specOf } from './contract.ts';
import type { WakeUp } from '../common/reconcile.ts';
import type { Caches } from './observe.ts';
import type { Drains } from './drains.ts';
import { nodeOf } from './maintenance.ts';
import type { RolloutNode } from './node.ts';
import { type ConfigMap, RETRY_ANNOTATION } from './revision.ts';
import type { Rules } from './rules.ts';
import { TOUCH_MS } from './touches.ts';
import {
  ASSIGNED_AT_ANNOTATION,
  type NodeConfigRollout,
  REVISION_ANNOTATION,
  ROLLOUT_ANNOTATION,
  rollouts,
  type RolloutStatus,
} from './types.ts';

export interface Executor {
  client: Client;
  caches: Caches;
  ownWrites: OwnWrites;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  events: Pick<EventRecorder, 'event'>;
  drains: Drains;
}

/** @member object - that was to be written, for people */
export interface Failure {
  object: string;
  error: unknown;
}

/** The result of executing a plan. */
export interface Executed {
  /** In the order in which it failed. */
  failures: Failure[];
  /** When to continue drains, and to retry nodes that were not written. */
  wakeUps: WakeUp[];
}

/** A failed write is retried after `base`, and after twice as long each further time, up to `cap`. */
const RETRY = { base: 1_000, cap: 60_000, jitter: 0 };

/** Without the copy of the ConfigMap nothing is assigned. */
const needsNoCopy = (action: Action): boolean => isOfRevision(action) || action.do === 'give-back';

/** A write that the new revision needs. The deletion of an old copy is none: its failure must not block the nodes of the new revision. */
const isOfCopy = (action: Action): boolean => isOfRevision(action) && action.do !== 'delete-revision';

/**
 * Objects of a rollout that could not be written, why, and when each is retried. A webhook may reject with another message each time: without the backoff, the
 * message would change the status at each try, and so enqueue the next one.
 */
export class Unwritten {
  readonly #objects = new Map<string, { why: string; failures: number; until: Millis }>();

  /** By object, as {@link objectOf} names it. */
  get why(): ReadonlyMap<string, string> {
    return new Map([...this.#objects].map(([object, { why }]) => [object, why]));
  }

  /** The planned actions that may be tried now. @param now - monotonic */
  due(actions: readonly Action[], now: Millis): readonly Action[] {
    const isHeld = (action: Action): boolean => now < (this.#objects.get(objectOf(action))?.until ?? 0);
    const isWaiting = actions.some((action) => isOfCopy(action) && isHeld(action));
    return actions.filter((action) => !isHeld(action) && (!isWaiting || needsNoCopy(action)));
  }

  /** Records the results of the actions that were tried. @param planned - all actions, tried or not @param failed - by object, why it could not be written */
  tried(due: readonly Action[], planned: readonly Action[], failed: ReadonlyMap<string, string>, now: Millis): void {
    const [wanted, tried] = [new Set(planned.map(objectOf)), new Set(due.map(objectOf))];
    for (const object of this.#objects.keys())
      if (!wanted.has(object) || (tried.has(object) && !failed.has(object))) this.#objects.delete(object);
    for (const [object, why] of failed) {
      const failures = (this.#objects.get(object)?.failures ?? 0) + 1;
      this.#objects.set(object, { why, failures, until: now + backoff(failures, RETRY, () => 0) });
    }
  }

  /** The obstacle may disappear without an event. */
  wakeUps(now: Millis): WakeUp[] {
    const first = Math.min(...[...this.#objects.values()].map(({ until }) => until));
    return first === Infinity ? [] : [{ requeueAfter: Math.max(0, first - now), why: 'what could not be written' }];
  }
}

/** After a conflict the rollout is planned again after this time, or when the watch delivers the change; in ms. */
const CHANGED_MS = 1_000;
/** Max nodes that are written concurrently. */
const AT_ONCE = 16;

/** Executes the plan. A failure on one node does not stop the others. */
export async function execute(by: Executor, rules: Rules, actions: readonly Action[], signal: AbortSignal): Promise<Executed> {
  const failures: Failure[] = [];
  const failed = (action: Action, error: unknown): void => void failures.push({ object: objectOf(action), error });
  const wakeUps: WakeUp[] = [];
  const until = by.clock.monotonic() + TOUCH_MS;
  let isWaiting = false;
  for (const action of actions) {
    if (!isOfRevision(action)) continue;
    await executeRevision(by, rules, action, signal).catch((error: unknown) => {
      failed(action, error);
      isWaiting ||= isOfCopy(action);
    });
  }
  const isDone = (action: Action): action is OnNode => !isOfRevision(action) && (!isWaiting || needsNoCopy(action));
  const tried = await slowStart(
    actions.filter(isDone),
    async (action) => {
      const isTouch = action.do === 'assign' || action.do === 'drain';
      if (isTouch && by.clock.monotonic() > until) return void wakeUps.push({ requeueAfter: CHANGED_MS, why: 'writing took long' });
      const wakeUp = await executeOnNode(by, rules, action, signal).catch((error: unknown) => failed(action, error));
      if (wakeUp !== undefined) wakeUps.push(wakeUp);
    },
    { first: AT_ONCE, largest: AT_ONCE, signal },
  );
  for (const { item, error } of tried.failed) failed(item, error);
  return { failures, wakeUps };
}

type OfRevision = Extract<Action, { revision: Readonly<ConfigMap> }>;
type OnNode = Extract<Action, { node: RolloutNode }>;

const isOfRevision = (action: Action): action is OfRevision => !('node' in action);

async function executeOnNode(by: Executor, rules: Rules, action: OnNode, signal: AbortSignal): Promise<WakeUp | undefined> {
  const { drains, events } = by;
  const onNode = (node: KubeObject): void => void wrote(by, rules, nodes, node);
  const { node } = action;
  switch (action.do) {
    case 'drain':
      return { requeueAfter: await drains.advance(rules, action, onNode, signal), why: `the drain of node ${node.node}` };
    case 'plan-maintenance':
      await drains.announce(rules, node, 'MaintenancePlanned', onNode, signal);
      return undefined;
    case 'give-back':
      await drains.giveBack(rules, nodeOf(node), onNode, signal);
      return undefined;
    case 'restart-deadline': {
      const annotations = { [ASSIGNED_AT_ANNOTATION]: rfc3339(by.clock.now()) };
      await patchCarrier(by, rules, node, { metadata: { annotations } }, signal);
      return undefined;
    }
    case 'assign': {
      await drains.announce(rules, node, 'MaintenanceInProgress', onNode, signal);
      const configMap = assignedBy(by, rules, action.revision);
      const written = await assign(by, rules, { node, configMap }, signal);
      if (written === undefined) return { requeueAfter: CHANGED_MS, why: `node ${node.node} has changed` };
      const kept = wantedOf(written, node.carrier === 'node' ? 'node' : 'nodeconfig');
      if (!sameSpec(kept, configMap)) throw altered(action, `keeps ${sourceText(kept)} instead of ${sourceText(configMap)}`);
      drains.forget(rules.name, node.node);
      const what = `NodeConfigRollout ${rules.name} assigns ${sourceText(configMap)}`;
      events.event(node.object, 'Normal', 'RolloutAssigned', what, { resource: nodes });
      if (written.metadata.annotations?.[ASSIGNED_AT_ANNOTATION] === undefined)
        throw altered(action, `drops the annotation ${ASSIGNED_AT_ANNOTATION}, from which spec.nodeDeadline counts`);
      return undefined;
    }
  }
}

/** The API server accepted a write but stored something else: without this error a rollout would wait for an assignment that no agent got. */
const altered = (action: Action, what: string): ActionError =>
  new ActionError('write', objectOf(action), {
    hint: `the API server accepts the write, but ${what}; an admission webhook or policy changes it`,
  });

function wrote(by: Executor, rules: Rules, resource: Resource, object: KubeObject): KubeObject {
  const cache = Object.values(by.caches).find((one) => resourceName(one.resource) === resourceName(resource));
  if (cache !== undefined) by.ownWrites.wrote(objectKey(rules.rollout), cache, object);
  return object;
}

async function executeRevision(by: Executor, rules: Rules, action: OfRevision, signal: AbortSignal): Promise<void> {
  const { name = '', namespace = '', uid = '' } = action.revision.metadata;
  switch (action.do) {
    case 'create-revision':
      try {
        wrote(by, rules, configMaps, await by.client.create(configMaps, action.revision, { signal, namespace }));
      } catch (error) {
        // An earlier try succeeded after all; if the object has another owner, the next plan reports that and waits.
        if (!isAlreadyExists(error)) throw error;
      }
      return;
    case 'number-revision': {
      const patch = { metadata: { annotations: { [REVISION_ANNOTATION]: String(action.number) } } };
      wrote(by, rules, configMaps, await by.client.patch(configMaps, { name, namespace }, patch, { type: 'merge', signal }));
      return;
    }
    case 'retry-revision': {
      const patch = { metadata: { annotations: { [RETRY_ANNOTATION]: action.retry } } };
      wrote(by, rules, configMaps, await by.client.patch(configMaps, { name, namespace }, patch, { type: 'merge', signal }));
      return;
    }
    case 'delete-revision':
      await by.client.delete(configMaps, { name, namespace }, { signal, body: { preconditions: { uid } } }).catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
      by.ownWrites.deleted(objectKey(rules.rollout), by.caches.configMaps, action.revision);
  }
}

/**
 * Writes the assignment of a node where its agent reads it, with annotations for the rollout and the time, onto the version that the plan is based on.
 * @returns the object as the API server has it now; undefined: there is a newer one
 */
async function assign(
  by: Executor,
  rules: Rules,
  { node, configMap }: { node: RolloutNode; configMap: SpecSource | null },
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const annotations = { [ROLLOUT_ANNOTATION]: rules.name, [ASSIGNED_AT_ANNOTATION]: rfc3339(by.clock.now()) };
  if (node.carrier === 'node') return patchCarrier(by, rules, node, { metadata: { annotations }, spec: { configSource: configMap && { configMap } } }, signal); // prettier-ignore
  if (node.config !== undefined)
    return patchCarrier(by, rules, node, { metadata: { ...ownerPatch(node).metadata, annotations }, spec: { configMap } }, signal);
  const fresh = newNodeConfig(node, configMap);
  const object = { ...fresh, metadata: { ...fresh.metadata, annotations } };
  return unlessChanged(async () => wrote(by, rules, nodeConfigs, await by.client.create(nodeConfigs, object, { signal })));
}

function assignedBy({ caches: { configMaps: cache } }: Executor, rules: Rules, revision: string | undefined): SpecSource | null {
  const copy = revision === undefined ? undefined : cache.get(`${rules.configMap.namespace}/${revision}`);
  return specOf(rules, revision, copy === undefined ? [] : [copy]);
}

/** @returns undefined: another writer has changed the object since it was read */
function patchCarrier(
  by: Executor,
  rules: Rules,
  { node: name, carrier, object, config }: RolloutNode,
  { metadata, ...patch }: { metadata: object; spec?: object },
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const resource = carrier === 'node' ? nodes : nodeConfigs;
  const { uid, resourceVersion } = (carrier === 'node' ? object : (config ?? object)).metadata;
  const body = { metadata: { ...metadata, uid, resourceVersion }, ...patch };
  return unlessChanged(async () => wrote(by, rules, resource, await by.client.patch(resource, { name }, body, { type: 'merge', signal })));
}

/** undefined when another writer changed, created or deleted the object: the watch has delivered that already, or is about to. */
export async function unlessChanged<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Writes the status onto the rollout as the cache has it. If that is not the newest version, nothing is written: the change, such as an approval, enqueues
 * the rollout for another plan.
 * @param always - write an unchanged status too: so the server checks that the version is the newest, even when a second process leads as well
 * @returns false: there is a newer one
 */
export async function writeStatus(
  by: Executor,
  rollout: Readonly<NodeConfigRollout>,
  status: RolloutStatus,
  { always, signal }: { always: boolean; signal: AbortSignal },
): Promise<boolean> {
  if (!always && jsonEqual(rollout.status ?? {}, status)) return true;
  try {
    const written = await by.client.replace<NodeConfigRollout>(rollouts, { ...rollout, status }, { subresource: 'status', signal });
    by.ownWrites.wrote(objectKey(rollout), by.caches.rollouts, written);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    if (isNotFound(error)) return true;
    throw error;
  }
}
