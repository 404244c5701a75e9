import type { Clock } from '../../base/clock.ts';
import { statefulSets } from '../../kube/api/object.ts';
import type { Change } from '../../kube/cache/change.ts';
import { type Lister, memoize } from '../../kube/cache/contract.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { matchingOwners } from '../../kube/controller/owners.ts';
import { OwnWrites } from '../../kube/controller/own-writes.ts';
import { Turns } from '../../kube/controller/workers.ts';
import { runController } from '../../kube/controller/run-controller.ts';
import type { Meters, Runnable, Runtime } from '../../kube/process/contract.ts';
import { reconcileSet, type SetSync } from '../common/reconcile.ts';
import { SetMemory } from '../common/set-memory.ts';
import { readableSelector } from '../common/set-size.ts';
import { cachesOf, observe, type Observed, type SetFacts } from './observe.ts';
import { enqueueOnPodName, enqueueOnPvc, enqueueOnStorageClass } from './enqueue.ts';
import { execute, executeOwnership, type Executor, type Progressed } from './execute.ts';
import type { Pod, Pvc, StatefulSet, StatefulSetOptions, StorageClass } from '../common/types.ts';
import { type Plan, planInTurns, planOwnership } from './plan.ts';
import { excessOf, problemsOf, type Rules, rulesOf } from './rules.ts';
import { planStatus } from './status.ts';
import type { Unavailability } from './update.ts';

const COMPONENT = 'statefulset-controller';

/** Keeps the pods of each StatefulSet, each with its name and its storage, and replaces them in their order. */
export function statefulSetController(runtime: Runtime, options: StatefulSetOptions = {}): Runnable {
  const { clock, log, client, queue } = runtime;
  const caches = cachesOf(runtime, options);
  const ownWrites = new OwnWrites(clock, { metrics: runtime.meters.ownWrites('statefulset_controller') });
  const memory = new SetMemory(clock);
  const rules = memoize(rulesOf);
  const executor: Executor = { client, caches, ownWrites, memory, events: runtime.events(COMPONENT) };
  const sync = syncOf(executor, rules, { clock, unavailability: unavailabilityGauges(runtime.meters) });
  const matching = matchingOwners<StatefulSet>(({ spec }) => readableSelector(spec?.selector), log);
  const controller: Controller<StatefulSet> = {
    name: 'statefulset',
    primary: caches.sets,
    owns: [
      { of: caches.pods, matching },
      { of: caches.revisions, matching },
    ],
    reads: [
      { of: caches.pvcs, mapFunc: (change: Change<Pvc>, sets: Lister<StatefulSet>) => enqueueOnPvc(change, sets, rules) },
      { of: caches.pods, mapFunc: (change: Change<Pod>, sets: Lister<StatefulSet>) => enqueueOnPodName(change, sets) },
      {
        of: caches.classes,
        mapFunc: (change: Change<StorageClass>, sets: Lister<StatefulSet>) => enqueueOnStorageClass(change, sets, rules),
      },
    ],
    onDeleted: (key, uid) => sync.forget(key, uid),
    reconcile: (key, signal) => reconcileSet(key, sync, signal),
  };
  const own = { queue: queue('statefulset'), workers: options.workers ?? 5, clock, log };
  return { name: controller.name, run: (signal) => runController(controller, own, signal) };
}

/** The gauge values of one set. */
interface Noted extends Unavailability {
  labels: { statefulset_namespace: string; statefulset_name: string; pod_management_policy: string };
}

/** Gauges of unavailable pods during rolling updates, as upstream since 1.35. @returns the values that the gauges report, by UID of the set */
export function unavailabilityGauges(meters: Pick<Meters, 'series'>): Map<string, Noted> {
  const noted = new Map<string, Noted>();
  const gauge = (name: string, help: string, of: keyof Unavailability): void =>
    meters.series(`statefulset_controller_${name}`, help, ['statefulset_namespace', 'statefulset_name', 'pod_management_policy'], () =>
      [...noted.values()].map((one) => ({ labels: one.labels, value: one[of] })),
    );
  gauge('statefulset_max_unavailable', 'Maximum number of unavailable pods allowed during StatefulSet rolling updates', 'max');
  gauge('statefulset_unavailable_replicas', 'Current number of unavailable pods in StatefulSet', 'now');
  return noted;
}

function note(noted: Map<string, Noted>, { set, namespace, name, parallel }: Rules, unavailability: Unavailability | undefined): void {
  const { uid = '' } = set.metadata;
  const policy = parallel ? 'Parallel' : 'OrderedReady';
  const labels = { statefulset_namespace: namespace, statefulset_name: name, pod_management_policy: policy };
  if (unavailability === undefined) noted.delete(uid);
  else noted.set(uid, { ...unavailability, labels });
}

/** What `reconcileSet` calls for a StatefulSet, also for a terminating one, which still gets its status. */
function syncOf(
  executor: Executor,
  rules: (set: Readonly<StatefulSet>) => Rules,
  { clock, unavailability }: { clock: Clock; unavailability: Map<string, Noted> },
): SetSync<StatefulSet, Rules, Observed, SetFacts, Plan, Progressed> {
  const { client, caches, events, ownWrites, memory } = executor;
  return {
    resource: statefulSets,
    client,
    caches,
    allCaches: Object.values(caches),
    ownWrites,
    events,
    memory,
    turns: new Turns(clock),
    rules,
    unusable: ({ selector }) => (selector === undefined ? 'the selector is invalid, or is empty and would select all pods' : undefined),
    warnings: (of) => [
      { about: 'annotations', events: problemsOf(of) },
      { about: 'replicas', events: excessOf(of) },
    ],
    observe: (_, of) => observe(of, { caches, memory, clock }),
    planOwnership,
    executeOwnership: (facts, signal) => executeOwnership(executor, facts, signal),
    plan: planInTurns,
    execute(_, facts, todo, signal) {
      note(unavailability, facts.rules, todo.unavailability);
      return execute(executor, facts, todo, signal);
    },
    planStatus,
    forget(key, uid) {
      ownWrites.forget(key);
      unavailability.delete(uid);
      memory.forget(uid);
    },
  };
}
