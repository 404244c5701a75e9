import type { Clock, Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Change } from '../../kube/cache/change.ts';
import { type Informer, type Key, type Lister, objectKey, memoize } from '../../kube/cache/contract.ts';
import { type Controller, type EnqueueRequest, failedWith, type Outcome } from '../../kube/controller/controller.ts';
import { ActionError } from '../../base/errors.ts';
import { isRefused, isRejected, serverWords } from '../../kube/client/errors.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import { holdBack, OwnWrites } from '../../kube/controller/own-writes.ts';
import { runController } from '../../kube/controller/run-controller.ts';
import type { Runnable, Runtime } from '../../kube/process/contract.ts';
import { controllerOf, resolveRef } from '../../kube/controller/owners.ts';
import { earliest, type WakeUp } from '../common/reconcile.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import { abandonedOn, rolloutsLeftOn } from './maintenance.ts';
import { ClockGaps } from './clock-gaps.ts';
import {
  cachesOf,
  COPYING_TO,
  DEFAULT_NAMESPACE,
  isOlder,
  nodesWorkedOn,
  observe,
  type Observer,
  type RolloutOptions,
  ROLLING_OUT,
  versionsOf,
} from './observe.ts';
import { Cluster, clusterMetrics } from './cluster/cluster.ts';
import { RECORD } from './cluster/record.ts';
import { execute, type Executor, type Failure, RECORD_KEY, Unwritten, writeRecord, writeStatus } from './execute.ts';
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
/** Changes of nodes within this time are planned with once, in ms: in a rollout of thousands each brings several. */
const GATHER_MS: Millis = 100;
/** Caches that are behind another process's are looked at again then, in ms. */
const BEHIND_MS: Millis = 1_000;
/** A node that could not be given back is tried again after this time, in ms, however many looks there are meanwhile: refused, or for another reason. */
const REFUSED_MS: Millis = 60_000;
const FAILED_MS: Millis = 5_000;

/** Takes kubelet configurations through the nodes that NodeConfigRollouts select. */
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
  const observer: Observer = { caches, rules, drains, fleets, touches, unwritten, cluster, configs, serves: options.serves, gaps };
  const gates = new GateChecks({ client, clock, log, http: options.http ?? httpGetter(options.prometheusServers), kinds: new Kinds() });
  const events = runtime.events(COMPONENT);
  const executor: Executor = { client, caches, ownWrites, clock, events, drains };
  const sync: Sync = { observer, executor, clock, events, gates, namespace, unwritten, keptUntil: new Map() };
  const ofNode = (change: Change<KubeObject>, sets: Lister<NodeConfigRollout>): EnqueueRequest[] => {
    const { node, keys } = rolloutsOfNode(change, sets, rules, caches.nodes);
    if (caches.nodes.get(node) === undefined) {
      fleets.gone(node);
      drains.nodeGone(node);
    } else for (const key of keys) fleets.changed(key, node);
    cluster?.changed(node);
    // A node of another rollout may leave its place to those that wait.
    return [...new Set([...keys, ...(cluster?.turns.waiting ?? [])])].map((key) => ({ key, after: GATHER_MS }));
  };
  const controller: Controller<NodeConfigRollout> = {
    name: 'rollout',
    primary: caches.rollouts,
    reads: [
      { of: caches.nodes, mapFunc: ofNode },
      { of: caches.nodeConfigs, mapFunc: ofNode },
      { of: caches.configMaps, mapFunc: rolloutsOfConfigMap },
      // An older rollout that goes, or selects less, leaves its nodes to others.
      {
        of: caches.rollouts,
        mapFunc: (change, sets) => {
          // What somebody changes in one rollout may leave its place to those that wait.
          const waiting = isOfSpec(change) ? (cluster?.turns.waiting ?? []) : [];
          if (!isSelectionChange(change, rules)) return waiting;
          fleets.selectionChanged();
          const [first] = objectsOf(change);
          return new Set([...waiting, ...sets.list().flatMap((one) => (isOlder(first, one) ? [objectKey(one)] : []))]);
        },
      },
    ],
    gone: (key) => {
      ownWrites.forget(key);
      drains.forget(key);
      fleets.forget(key);
      touches.forget(key);
      gates.forget(key);
      unwritten.delete(key);
      cluster?.turns.forget(key);
    },
    reconcile: (key, signal) => reconcile(key, sync, signal),
  };
  const own = { queue: queue('rollout'), workers: options.workers ?? 5, clock, log };
  return { name: controller.name, run: (signal) => runController(controller, own, signal) };
}

interface Sync {
  observer: Observer;
  executor: Executor;
  clock: Clock;
  events: Pick<EventRecorder, 'event'>;
  gates: GateChecks;
  /** Of ConfigMaps that agents may read. */
  namespace: string;
  /** What the last look at each rollout could not write, and why. */
  unwritten: Map<Key, Unwritten>;
  /** Monotonic, by node and what is left there: it is not taken away before. */
  keptUntil: Map<string, Millis>;
}

/**
 * One look at a rollout: observe, plan (twice where gates have to be asked), write the record of touches where the cluster has a budget, write the status,
 * execute, events.
 *
 * The status goes first: it says which revision is rolled out and that it has stopped, and what is done follows from it. A process that is killed in between
 * does the rest when it starts again.
 */
async function reconcile(key: Key, by: Sync, signal: AbortSignal): Promise<Outcome> {
  const { observer, executor, clock, events, namespace } = by;
  const { caches, cluster } = observer;
  // After a restore of etcd one cache shows it up to minutes before another: nodes that are done there would be done for a rollout that has just begun.
  const informers = Object.values(caches) as Informer<KubeObject>[];
  if (!informers.every(({ current }) => current)) return { requeueAfter: BEHIND_MS, why: 'a cache is not current' };
  const rollout = caches.rollouts.get(key);
  const abandoned = await giveBackAbandoned(by, signal);
  if (rollout === undefined || rollout.metadata.deletionTimestamp !== undefined) {
    const again = earliest(abandoned.wakeUps);
    return abandoned.failures.length > 0 ? failedWith(abandoned.failures[0], again) : again;
  }
  const written = { ownWrites: executor.ownWrites, caches: informers };
  const held = holdBack(key, written) ?? holdBack(RECORD_KEY, written);
  if (held !== undefined) return held;
  const touches = observer.touches.rollout(key);
  const { resourceVersion } = rollout.metadata;
  if (touches.isBehind(rollout.status?.touches ?? {}, versionsOf(caches), resourceVersion) || cluster?.isBehind(caches) === true)
    return { requeueAfter: BEHIND_MS, why: 'caches are behind' };
  const rules = observer.rules(rollout);
  // The version that is planned from: while gates are asked the cache goes on.
  const record = caches.configMaps.get(`${namespace}/${RECORD}`);
  const facts = observe(rules, clock.now(), observer);
  if (facts === undefined) return { requeueAfter: 0, why: 'more of its nodes are to be read' };
  const first = plan({ ...facts, gates: undefined });
  const planned = first?.asksGates === true ? plan({ ...facts, gates: await by.gates.results(rules, signal) }) : first;
  if (planned === undefined) return { requeueAfter: 0, why: 'more of its nodes are to be placed' };
  cluster?.turns.said(key, planned.waitsForPlace, clock.monotonic());
  // Without a budget there is no record, so that nobody takes it for one.
  const isStale = cluster === undefined && record !== undefined;
  const writesRecord = planned.record !== undefined || isStale;
  const asPlanned = { namespace, known: record, data: planned.record };
  if (writesRecord && !(await orTold(by, rollout, `ConfigMap ${namespace}/${RECORD}`, writeRecord(executor, asPlanned, signal))))
    return { requeueAfter: GATHER_MS, why: 'the record of touches has changed' };
  if (planned.record !== undefined) cluster?.wrote(planned.record);
  const unwritten = by.unwritten.get(key) ?? new Unwritten();
  by.unwritten.set(key, unwritten);
  const due = unwritten.due(planned.actions, clock.monotonic());
  const always = due.length > 0;
  const writing = writeStatus(executor, rollout, planned.status, { always, signal });
  if (!(await orTold(by, rollout, `status of NodeConfigRollout ${key}`, writing)))
    return { requeueAfter: GATHER_MS, why: 'the rollout has changed' };
  touches.wrote(planned.status.touches?.nodes ?? []);
  for (const { type, reason, message } of planned.events) events.event(rollout, type, reason, message, { resource: rollouts });
  const { failures: failed, wakeUps } = await execute(executor, rules, due, signal);
  signal.throwIfAborted();
  const now = clock.monotonic();
  unwritten.tried(due, planned.actions, new Map(failed.map((failure) => [failure.object, whyFailed(failure)])), now);
  tellRefused(by, rollout, failed);
  const failures = [...failed.map(({ error }) => error), ...abandoned.failures];
  const next = earliest([...planned.wakeUps, ...wakeUps, ...abandoned.wakeUps, ...unwritten.wakeUps(now)]);
  return failures.length > 0 ? failedWith(failures[0], next) : next;
}

/** Who looks at the rollout has to see that nothing comes of what its status says. */
function tellRefused({ events }: Pick<Sync, 'events'>, rollout: Readonly<NodeConfigRollout>, failed: readonly Failure[]): void {
  const [refused, ...others] = failed.filter(({ error }) => isRefused(error) || error instanceof ActionError);
  if (refused === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const what = `The API server refused what was planned: ${whyFailed(refused)}${more}`;
  events.event(rollout, 'Warning', 'WriteRefused', what, { resource: rollouts });
}

/** Longest reason that a message has from the API server, in characters: those of webhooks are as long as they like. */
const MAX_WHY = 400;

/** What RBAC and quotas say names the object; what webhooks say does not. */
function whyFailed({ object, error }: Failure): string {
  const words = error instanceof ActionError ? error.hint : serverWords(error);
  const name = object.slice(object.lastIndexOf(' ') + 1).replace(/^.*\//, '');
  return cut(words.includes(`"${name}"`) ? words : `${object}: ${words}`, MAX_WHY);
}

/** @throws what keeps it from being written, of which an event tells */
async function orTold<T>(by: Sync, rollout: Readonly<NodeConfigRollout>, object: string, write: Promise<T>): Promise<T> {
  return write.catch((error: unknown) => {
    tellRefused(by, rollout, [{ object, error }]);
    throw error;
  });
}

/** Takes from nodes what rollouts left there that do not have them any more. No node keeps another from its turn. */
async function giveBackAbandoned(
  { observer, executor, clock, keptUntil }: Sync,
  signal: AbortSignal,
): Promise<{ failures: unknown[]; wakeUps: WakeUp[] }> {
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
      // Looks at other rollouts leave it to this one.
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
  // A NodeConfig has no labels: those of its Node count. Where they have not changed both states of a Node share them.
  const labels = new Set(
    objects.map(({ metadata, kind }) => (kind === 'Node' ? metadata.labels : nodes.get(metadata.name ?? '')?.metadata.labels)),
  );
  const selecting = sets.list().filter((rollout) => [...labels].some((one) => matchesLabels(rules(rollout).selector, one)));
  const keys = new Set(selecting.map(objectKey));
  // A rollout that does not exist any more has to take from a Node what it left there.
  const latest = objects.at(-1);
  if (latest?.kind === 'Node' && change.do !== 'delete') for (const { name } of rolloutsLeftOn(latest as Readonly<Node>)) keys.add(name);
  return { node: latest?.metadata.name ?? '', keys: [...keys] };
}

/**
 * The rollouts whose plan reads a ConfigMap of agents: those that roll it out, or have made it, or wait because it has the name of their copy. The record of
 * touches is everybody's.
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

/** Others may have to take its nodes, or leave them to it. */
function isSelectionChange(change: Change<NodeConfigRollout>, rules: (rollout: Readonly<NodeConfigRollout>) => Rules): boolean {
  if (change.do !== 'update') return true;
  const { before, after } = change;
  return selectionOf(rules(before)) !== selectionOf(rules(after)) || after.metadata.deletionTimestamp !== undefined;
}
