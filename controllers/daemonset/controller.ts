import type { Change } from '../../kube/cache/change.ts';
import { type Lister, memoize } from '../../kube/cache/contract.ts';
import { daemonSets } from '../../kube/api/object.ts';
import { Expectations } from '../../kube/controller/expectations.ts';
import { controllerOf, matchingOwners } from '../../kube/controller/owners.ts';
import { type Controller, done } from '../../kube/controller/controller.ts';
import { OwnWrites } from '../../kube/controller/own-writes.ts';
import { Turns } from '../../kube/controller/workers.ts';
import { runController } from '../../kube/controller/run-controller.ts';
import type { Runnable, Runtime } from '../../kube/process/contract.ts';
import { type Executed, reconcileSet, type SetSync } from '../common/reconcile.ts';
import { readableSelector } from '../common/set-size.ts';
import { BY_NODE, type Caches, cachesOf, nodeValue, observe, type Observed, type ObserveDeps, type SetFacts } from './observe.ts';
import { enqueueOnFreedNode, enqueueOnNode, isRelevant, SuspendedSets } from './enqueue.ts';
import { execute, executeOwnership, type Executor, keptStatus } from './execute.ts';
import { StatusCounter } from './status-counter.ts';
import type { DaemonSet, DaemonSetOptions, Node, Pod } from '../common/types.ts';
import { type Plan, planInTurns, planOwnership } from './plan.ts';
import { nameOf, targetNode } from './pods.ts';
import { decideByFit } from './placement/simulate.ts';
import { SetMemory } from '../common/set-memory.ts';
import { type Rules, rulesOf, warningsOf } from './rules.ts';
import { planStatus } from './status.ts';
import { decision } from './placement/node-decision.ts';

const COMPONENT = 'daemonset-controller';

/** Keeps one pod of each DaemonSet on each node that should have one. */
export function daemonSetController(runtime: Runtime, options: DaemonSetOptions = {}): Runnable {
  const { clock, log, client, queue } = runtime;
  const caches = cachesOf(runtime, options);
  const counter = new StatusCounter(caches);
  const expectations = new Expectations(clock, {
    reached: () => caches.pods.version,
    onExpired: (key, missing) => log.warn('pod creations or deletions were not observed in time', { daemonset: key, ...missing }),
  });
  const ownWrites = new OwnWrites(clock, { metrics: runtime.meters.ownWrites('daemonset_controller') });
  const memory = new SetMemory(clock);
  const events = runtime.events(COMPONENT);
  const rules = memoize((set: Readonly<DaemonSet>) => rulesOf(set, options.placement ?? 'scheduler'));
  const places = options.placement === 'controller';
  const suspended = new SuspendedSets();
  const decide = places ? (of: Rules) => decideByFit(of, caches.pods) : decision;
  const observer: ObserveDeps = { caches, counter, memory, expectations, clock, decide };
  const executor: Executor = { client, caches, expectations, ownWrites, memory, events };
  const sync = syncOf({ rules, observer, executor, suspended });
  const matching = matchingOwners<DaemonSet>(({ spec }) => readableSelector(spec?.selector), log);
  const controller: Controller<DaemonSet> = {
    name: 'daemonset',
    primary: caches.sets,
    owns: [
      { of: caches.pods, matching, expectations },
      { of: caches.revisions, matching },
    ],
    reads: [
      {
        of: caches.nodes,
        mapFunc: (change: Change<Node>, sets: Lister<DaemonSet>) =>
          enqueueOnNode(change, { sets: sets.list(), rules, hasPods: hasPods(caches) }),
      },
      ...(places ? [{ of: caches.pods, mapFunc: (change: Change<Pod>) => enqueueOnFreedNode(change, suspended) }] : []),
    ],
    onDeleted: (key, uid) => sync.forget(key, uid),
    // The garbage collector deletes the pods and revisions of a terminating set.
    reconcile: async (key, signal) =>
      caches.sets.get(key)?.metadata.deletionTimestamp === undefined ? reconcileSet(key, sync, signal) : done,
  };
  keepCount(caches, counter, places);
  const workers = options.workers ?? 5;
  const own = { queue: queue('daemonset'), workers, clock, log };
  return { name: controller.name, run: (signal) => runController(controller, own, signal) };
}

interface Parts {
  rules: (set: Readonly<DaemonSet>) => Rules;
  observer: ObserveDeps;
  executor: Executor;
  suspended: SuspendedSets;
}

/** What `reconcileSet` calls for a DaemonSet. */
function syncOf({ rules, observer, executor, suspended }: Parts): SetSync<DaemonSet, Rules, Observed, SetFacts, Plan, Executed> {
  const { client, caches, events, ownWrites, memory } = executor;
  return {
    resource: daemonSets,
    client,
    caches,
    allCaches: Object.values(caches),
    ownWrites,
    events,
    memory,
    turns: new Turns(observer.clock),
    rules,
    unusable: (of) => unusable(of, events),
    warnings: (of) => [{ about: 'rules', events: warningsOf(of) }],
    observe: (key, of) => observe(key, of, observer),
    planOwnership,
    executeOwnership: (facts, signal) => executeOwnership(executor, facts, signal),
    plan: planInTurns,
    execute(key, { rules: of }, todo, signal) {
      suspended.forgetSet(key);
      for (const node of todo.suspendedOn) suspended.add(key, node);
      return execute(executor, of, todo, signal);
    },
    planStatus,
    forget(key, uid) {
      observer.expectations.forget(key);
      ownWrites.forget(key);
      suspended.forgetSet(key);
      observer.counter.forget(uid);
      memory.forget(uid);
    },
    keptStatus,
  };
}

function unusable({ set, selector }: Rules, events: Executor['events']): string | undefined {
  if (selector.kind === 'bad') return `invalid selector: ${selector.why}`;
  if (selector.kind === 'labels') return undefined;
  const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
  events.event(set, 'Warning', 'SelectingAll', message, { resource: daemonSets });
  return 'the selector is empty and would select all pods';
}

function hasPods({ pods }: Caches): (set: Readonly<DaemonSet>, node: string) => boolean {
  return ({ metadata }, node) => pods.indexed(BY_NODE, nodeValue(metadata.uid ?? '', node)).length > 0;
}

/** The counter gets every change in the same turn of the event loop as the cache, before any worker reconciles. */
function keepCount({ pods, nodes }: Caches, counter: StatusCounter, places: boolean): void {
  const changed = (pod: Readonly<Pod>): void => {
    const owner = controllerOf(pod);
    if (owner !== undefined) counter.podChanged(owner.uid, targetNode(pod));
    // Capacity that this pod takes is not available to pods of other sets.
    if (places && pod.spec?.nodeName !== undefined) counter.nodeChanged(pod.spec.nodeName);
  };
  pods.addHandlers('daemonset-status-counter', {
    added: changed,
    updated: (before, after) => {
      changed(before);
      changed(after);
    },
    deleted: changed,
  });
  nodes.addHandlers('daemonset-status-counter', {
    added: (node) => counter.nodeChanged(nameOf(node)),
    updated: (before, after) => {
      if (isRelevant({ before, after })) counter.nodeChanged(nameOf(after));
    },
    deleted: (node) => counter.nodeChanged(nameOf(node)),
  });
}
