import type { Clock, Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Change } from '../../kube/cache/change.ts';
import { type Key, type Lister, objectKey, memoize } from '../../kube/cache/contract.ts';
import { type Controller, type EnqueueRequest, failedWith, type Outcome } from '../../kube/controller/controller.ts';
import { ActionError, asOneError, describeError } from '../../base/errors.ts';
import { isRefused, isRejected, serverMessageOf } from '../../kube/client/errors.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import { holdBack, OwnWrites } from '../../kube/controller/own-writes.ts';
import { runController } from '../../kube/controller/run-controller.ts';
import type { Runnable, Runtime } from '../../kube/process/contract.ts';
import { controllerOf, resolveRef } from '../../kube/controller/owners.ts';
import { earliest, type WakeUp } from '../common/reconcile.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import { abandonedOn, rolloutsRecordedOn } from './maintenance.ts';
import { ClockGaps } from './clock-gaps.ts';
import {
  cachesOf,
  COPYING_TO,
  DEFAULT_NAMESPACE,
  isOlder,
  nodesWorkedOn,
  observe,
  type ObserveDeps,
  type RolloutOptions,
  ROLLING_OUT,
  versionsOf,
} from './observe.ts';
import { Cluster, clusterMetrics, RECORD_KEY, writeRecord } from './cluster/cluster.ts';
import { RECORD } from './cluster/record.ts';
import { execute, type Executor, type Failure, Unwritten, writeStatus } from './execute.ts';
import { cut } from './text.ts';
import type { Node } from './drain/contract.ts';
import { Drains } from './drains.ts';
import { Fleets, selectionOf } from './fleet.ts';
import { GateChecks, Kinds } from './gates/check.ts';
import type { HttpGet } from './gates/contract.ts';
import { httpGetter } from './gates/http-get.ts';
import { kubeletConfigs } from './kubelet-configs.ts';
import { plan } from './plan.ts';
import { withoutHash } from './revision.ts';
import { type Rules, rulesOf } from './rules.ts';
import { rolloutMetrics } from './status.ts';
import { KnownTouchesOf } from './touches.ts';
import { type NodeConfigRollout, rollouts } from './types.ts';

const COMPONENT = 'rollout-controller';
/** Changes of nodes within this time cause one reconcile, in ms: in a rollout of thousands each node changes several times. */
const GATHER_MS: Millis = 100;
/** Time to wait while caches are behind those of another process, in ms. */
const BEHIND_MS: Millis = 1_000;
/** Time until a node that could not be given back is retried, in ms, however many reconciles there are: after a rejection, and after another failure. */
const REFUSED_MS: Millis = 60_000;
const FAILED_MS: Millis = 5_000;

/** Rolls out kubelet configurations to the nodes that NodeConfigRollouts select. */
export function rolloutController(runtime: Runtime, options: RolloutOptions & { serves: ServerFacts; http?: HttpGet }): Runnable {
  const { clock, log, client, queue } = runtime;
  const caches = cachesOf(runtime, options);
  const ownWrites = new OwnWrites(clock, { metrics: runtime.meters.ownWrites('rollout_controller') });
  const rules = memoize(rulesOf);
  const gaps = new ClockGaps(clock);
  const drains = new Drains(client, clock, gaps);
  const fleets = new Fleets();
  const { configMapNamespace: namespace = DEFAULT_NAMESPACE, maxUnavailable } = options;
  const cluster = maxUnavailable === undefined ? undefined : new Cluster(maxUnavailable, clock, namespace);
  rolloutMetrics(runtime.meters, () => caches.rollouts.list());
  if (cluster !== undefined) clusterMetrics(runtime.meters, () => cluster.last);
  const touches = new KnownTouchesOf(clock);
  const unwritten = new Map<Key, Unwritten>();
  const configs = kubeletConfigs();
  const observer: ObserveDeps = { caches, rules, drains, fleets, touches, unwritten, cluster, configs, serves: options.serves, gaps };
  const gates = new GateChecks({ client, clock, log, http: options.http ?? httpGetter(options.prometheusServers), kinds: new Kinds() });
  const events = runtime.events(COMPONENT);
  const executor: Executor = { client, caches, ownWrites, clock, events, drains };
  const forget = (key: Key): void => {
    ownWrites.forget(key);
    drains.forget(key);
    fleets.forget(key);
    touches.forget(key);
    gates.forget(key);
    unwritten.delete(key);
    cluster?.turns.forget(key);
  };
  const sync: Sync = { observer, executor, clock, events, gates, namespace, unwritten, keptUntil: new Map(), forget };
  const ofNode = (change: Change<KubeObject>, sets: Lister<NodeConfigRollout>): EnqueueRequest[] => {
    const { node, keys } = rolloutsOfNode(change, sets, rules, caches.nodes);
    if (caches.nodes.get(node) === undefined) {
      fleets.nodeDeleted(node);
      drains.nodeDeleted(node);
    } else for (const key of keys) fleets.changed(key, node);
    cluster?.changed(node);
    // A node of another rollout may free a place for the rollouts that wait.
    return [...new Set([...keys, ...(cluster?.turns.waiting ?? [])])].map((key) => ({ key, after: GATHER_MS }));
  };
  const controller: Controller<NodeConfigRollout> = {
    name: 'rollout',
    primary: caches.rollouts,
    reads: [
      { of: caches.nodes, mapFunc: ofNode },
      { of: caches.nodeConfigs, mapFunc: ofNode },
      { of: caches.configMaps, mapFunc: rolloutsOfConfigMap },
      // An older rollout that is deleted, or selects less, leaves nodes to others.
      {
        of: caches.rollouts,
        mapFunc: (change, sets) => {
          // A change in the spec of one rollout may free a place for those that wait.
          const waiting = isOfSpec(change) ? (cluster?.turns.waiting ?? []) : [];
          if (!isSelectionChange(change, rules)) return waiting;
          fleets.selectionChanged();
          const [first] = objectsOf(change);
          return new Set([...waiting, ...sets.list().flatMap((one) => (isOlder(first, one) ? [objectKey(one)] : []))]);
        },
      },
    ],
    onDeleted: forget,
    reconcile: (key, signal) => reconcile(key, sync, signal),
  };
  const own = { queue: queue('rollout'), workers: options.workers ?? 5, clock, log };
  return { name: controller.name, run: (signal) => runController(controller, own, signal) };
}

interface Sync {
  observer: ObserveDeps;
  executor: Executor;
  clock: Clock;
  events: Pick<EventRecorder, 'event'>;
  gates: GateChecks;
  /** Of ConfigMaps that agents may read. */
  namespace: string;
  /** What the last reconcile of each rollout could not write, and why. */
  unwritten: Map<Key, Unwritten>;
  /** Monotonic, by node and former rollout: no retry of giving the node back before. */
  keptUntil: Map<string, Millis>;
  /** Drops all memory of a rollout. */
  forget: (key: Key) => void;
}

/** One reconcile of a key: removes from nodes what former rollouts left there, then reconciles the rollout of that name. */
async function reconcile(key: Key, by: Sync, signal: AbortSignal): Promise<Outcome> {
  const { caches } = by.observer;
  // After a restore of etcd, one cache may show the restored state minutes before another: nodes of a stale cache would count as done for a new rollout.
  const informers = Object.values(caches);
  if (!informers.every(({ current }) => current)) return { requeueAfter: BEHIND_MS, why: 'a cache is not current' };
  const abandoned = await giveBackAbandoned(by, signal);
  const rollout = caches.rollouts.get(key);
  if (rollout === undefined || rollout.metadata.deletionTimestamp !== undefined) return outcomeOf(abandoned);
  try {
    return outcomeOf(await reconcileRollout(rollout, by, signal), abandoned);
  } catch (error) {
    return outcomeOf({ failures: [error], wakeUps: [] }, abandoned);
  } finally {
    // A rollout that was deleted during its reconcile: what was noted after the delete event would stay forever, or count for another one of its name.
    if (caches.rollouts.get(key)?.metadata.uid !== rollout.metadata.uid) by.forget(key);
  }
}

/** What one piece of work came to. */
interface Worked {
  /** In the order in which they happened. */
  failures: readonly unknown[];
  /** When to continue or retry it. */
  wakeUps: readonly WakeUp[];
}

/** Fails with the first failure of each piece of work, if there is one, and requeues at the first time. @throws the failure, if nothing requeues */
function outcomeOf(...work: readonly Worked[]): Outcome {
  const failures = work.flatMap((one) => one.failures.slice(0, 1));
  const next = earliest(work.flatMap(({ wakeUps }) => wakeUps));
  if (failures.length === 0) return next;
  return failedWith(asOneError(failures, () => failures.map(describeError).join('; ')), next); // prettier-ignore
}

const after = (requeueAfter: Millis, why: string): Worked => ({ failures: [], wakeUps: [{ requeueAfter, why }] });

/**
 * Observe, plan (twice when gates must be checked), write the record of touches if the cluster has a budget, write the status, record events, execute.
 *
 * The status is written before the actions, which follow from it: it has the revision that is rolled out, and whether the rollout has stopped. After a crash in
 * between, the next process executes the rest.
 */
async function reconcileRollout(rollout: Readonly<NodeConfigRollout>, by: Sync, signal: AbortSignal): Promise<Worked> {
  const { observer, executor, clock, events, namespace } = by;
  const { caches, cluster } = observer;
  const key = objectKey(rollout);
  const written = { ownWrites: executor.ownWrites, caches: Object.values(caches) };
  const held = holdBack(key, written) ?? holdBack(RECORD_KEY, written);
  if (held !== undefined) return { failures: [], wakeUps: [held] };
  const touches = observer.touches.rollout(key);
  const rules = observer.rules(rollout);
  const { resourceVersion } = rollout.metadata;
  if (touches.isBehind(rules.status.touches ?? {}, versionsOf(caches), resourceVersion) || cluster?.isBehind(caches) === true)
    return after(BEHIND_MS, 'caches are behind');
  // The version that the plan is based on: the cache may change while gates are checked.
  const record = caches.configMaps.get(`${namespace}/${RECORD}`);
  const facts = observe(rules, clock.now(), observer);
  if (facts === undefined) return after(0, 'more of its nodes are to be read');
  const first = plan({ ...facts, gates: undefined });
  const planned = first?.needsGates === true ? plan({ ...facts, gates: await by.gates.results(rules, signal) }) : first;
  if (planned === undefined) return after(0, 'more of its nodes are to be placed');
  cluster?.turns.reconciled(key, planned.waitsForPlace, clock.monotonic());
  // Without a budget the record is deleted, so that no process takes it for current.
  const isStale = cluster === undefined && record !== undefined;
  const writesRecord = planned.record !== undefined || isStale;
  const asPlanned = { namespace, known: record, data: planned.record };
  if (writesRecord && !(await orReport(by, rollout, `ConfigMap ${namespace}/${RECORD}`, writeRecord(executor, asPlanned, signal))))
    return after(GATHER_MS, 'the record of touches has changed');
  if (planned.record !== undefined) cluster?.wrote(planned.record);
  const unwritten = by.unwritten.get(key) ?? new Unwritten();
  by.unwritten.set(key, unwritten);
  const due = unwritten.due(planned.actions, clock.monotonic());
  const always = due.length > 0;
  const writing = writeStatus(executor, rollout, planned.status, { always, signal });
  if (!(await orReport(by, rollout, `status of NodeConfigRollout ${key}`, writing))) return after(GATHER_MS, 'the rollout has changed');
  touches.wrote(planned.status.touches?.nodes ?? []);
  for (const { type, reason, message } of planned.events) events.event(rollout, type, reason, message, { resource: rollouts });
  const { failures: failed, wakeUps } = await execute(executor, rules, due, signal);
  signal.throwIfAborted();
  const now = clock.monotonic();
  unwritten.tried(due, planned.actions, new Map(failed.map((failure) => [failure.object, whyFailed(failure)])), now);
  reportRefused(by, rollout, failed);
  return { failures: failed.map(({ error }) => error), wakeUps: [...planned.wakeUps, ...wakeUps, ...unwritten.wakeUps(now)] };
}

/** Tells users of the rollout that what its status announces could not be written. */
function reportRefused({ events }: Pick<Sync, 'events'>, rollout: Readonly<NodeConfigRollout>, failed: readonly Failure[]): void {
  const [refused, ...others] = failed.filter(({ error }) => isRefused(error) || error instanceof ActionError);
  if (refused === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const what = `The API server refused what was planned: ${whyFailed(refused)}${more}`;
  events.event(rollout, 'Warning', 'WriteRefused', what, { resource: rollouts });
}

/** Max characters of a reason from the API server in a message: messages of webhooks have no limit. */
const MAX_WHY = 400;

/** Adds the object's name where it is missing: errors of RBAC and quotas name the object, those of webhooks do not. */
function whyFailed({ object, error }: Failure): string {
  const words = error instanceof ActionError ? error.hint : serverMessageOf(error);
  const name = object.slice(object.lastIndexOf(' ') + 1).replace(/^.*\//, '');
  return cut(words.includes(`"${name}"`) ? words : `${object}: ${words}`, MAX_WHY);
}

/** Records an event when a write fails. @throws the failure */
async function orReport<T>(by: Sync, rollout: Readonly<NodeConfigRollout>, object: string, write: Promise<T>): Promise<T> {
  return write.catch((error: unknown) => {
    reportRefused(by, rollout, [{ object, error }]);
    throw error;
  });
}

/** Removes from nodes what former rollouts left there. A failure on one node does not stop the others. */
async function giveBackAbandoned({ observer, executor, clock, keptUntil }: Sync, signal: AbortSignal): Promise<Worked> {
  const alive = observer.fleets.inOrder(observer);
  const failures: unknown[] = [];
  const wakeUps: WakeUp[] = [];
  const now = clock.monotonic();
  for (const [key, until] of keptUntil) if (until <= now) keptUntil.delete(key);
  for (const node of nodesWorkedOn(observer.caches)) {
    for (const owner of abandonedOn(node, alive)) {
      const key = `${node.metadata.uid}/${owner.uid}`;
      const wait = (ms: Millis): void => void wakeUps.push({ requeueAfter: ms, why: 'a node that could not be given back' });
      const until = keptUntil.get(key);
      if (until !== undefined) {
        wait(until - now);
        continue;
      }
      // Concurrent reconciles of other rollouts skip this node.
      keptUntil.set(key, now + FAILED_MS);
      try {
        await executor.drains.giveBack(owner, node, () => {}, signal);
        keptUntil.delete(key);
      } catch (error) {
        const ms = isRejected(error) ? REFUSED_MS : FAILED_MS;
        keptUntil.set(key, clock.monotonic() + ms);
        failures.push(error);
        wait(ms);
      }
      signal.throwIfAborted();
    }
  }
  return { failures, wakeUps };
}

/** The rollouts whose plan reads a node that changed: those that select it, or did before. */
function rolloutsOfNode(
  change: Change<KubeObject>,
  sets: Lister<NodeConfigRollout>,
  rules: (rollout: Readonly<NodeConfigRollout>) => Rules,
  nodes: Lister<KubeObject>,
): { node: string; keys: Key[] } {
  const objects = objectsOf(change);
  // A NodeConfig has no labels: those of its Node count. Both states of a Node share one object of unchanged labels.
  const labels = new Set(
    objects.map(({ metadata, kind }) => (kind === 'Node' ? metadata.labels : nodes.get(metadata.name ?? '')?.metadata.labels)),
  );
  const selecting = sets.list().filter((rollout) => [...labels].some((one) => matchesLabels(rules(rollout).selector, one)));
  const keys = new Set(selecting.map(objectKey));
  // A deleted rollout is enqueued too: what it left on the Node must be removed.
  const latest = objects.at(-1);
  if (latest?.kind === 'Node' && change.do !== 'delete')
    for (const { name } of rolloutsRecordedOn(latest as Readonly<Node>)) keys.add(name);
  return { node: latest?.metadata.name ?? '', keys: [...keys] };
}

/**
 * The rollouts whose plan reads a ConfigMap of agents: those that roll it out, created it, or wait because it has the name of their copy. All rollouts
 * read the record of touches.
 */
export function rolloutsOfConfigMap(change: Change<KubeObject>, sets: Lister<NodeConfigRollout>): Iterable<Key> {
  const maps = objectsOf(change);
  const { name = '', namespace } = maps[0].metadata;
  if (name === RECORD) return sets.list().map(objectKey);
  const makers = maps.flatMap((map) => {
    const ref = controllerOf(map);
    return (ref && resolveRef(ref, undefined, rollouts, sets)) ?? [];
  });
  const reading = [...sets.indexed(ROLLING_OUT, `${namespace}/${name}`), ...sets.indexed(COPYING_TO, withoutHash(name)), ...makers];
  return new Set(reading.map(objectKey));
}

function objectsOf<T extends KubeObject>(change: Change<T>): [T, ...T[]] {
  if (change.do === 'update') return [change.before, change.after];
  return [change.do === 'add' ? change.object : change.last];
}

const isOfSpec = (change: Change<NodeConfigRollout>): boolean =>
  change.do !== 'update' || change.before.metadata.generation !== change.after.metadata.generation;

/** Whether other rollouts may gain or lose nodes. */
function isSelectionChange(change: Change<NodeConfigRollout>, rules: (rollout: Readonly<NodeConfigRollout>) => Rules): boolean {
  if (change.do !== 'update') return true;
  const { before, after } = change;
  return selectionOf(rules(before)) !== selectionOf(rules(after)) || after.metadata.deletionTimestamp !== undefined;
}
