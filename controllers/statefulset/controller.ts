import { statefulSets } from '../../kube/api/resources.ts';
import type { Change } from '../../kube/cache/change.ts';
import type { Informer, Key, Lister } from '../../kube/cache/contract.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { matchingOwners } from '../../kube/controller/matching-owners.ts';
import { done, type Outcome } from '../../kube/controller/outcome.ts';
import { OwnWrites } from '../../kube/controller/own-writes.ts';
import { runController } from '../../kube/controller/run-controller.ts';
import type { Runnable } from '../../kube/process/options.ts';
import type { Runtime } from '../../kube/process/runtime.ts';
import { decideFor, News, tellNews, type Told } from '../common/events.ts';
import { GoneSets } from '../common/gone-sets.ts';
import { readRevisions } from '../common/history/read-revisions.ts';
import { ownedOrOrphaned } from '../common/owner-index.ts';
import { readOnce } from '../common/read-once.ts';
import { readableSelector, tooLargeEvent } from '../common/set-size.ts';
import { StatusPace } from '../common/status-pace.ts';
import { earliest } from '../common/wake-ups.ts';
import { cachesOf } from './caches.ts';
import { wakesOfClaim, wakesOfClass, wakesOfName } from './enqueue.ts';
import { execute, type Executor } from './execute.ts';
import { observe } from './observe.ts';
import type { StatefulSetOptions } from './options.ts';
import { rulesOf, type Rules, excessOf, problemsOf, refusal } from './rules.ts';
import type { Claim, Pod, StatefulSet, StorageClass } from './types.ts';

const COMPONENT = 'statefulset-controller';

/** Keeps the pods of each StatefulSet, each with its name and its storage, and replaces them in their order. */
export function statefulSetController(runtime: Runtime, options: StatefulSetOptions = {}): Runnable {
  const { clock, log, client, queue } = runtime;
  const caches = cachesOf(runtime, options);
  const ownWrites = new OwnWrites(clock, { metrics: runtime.meters.ownWrites('statefulset_controller') });
  const pace = new StatusPace(clock);
  const news = new News();
  const rules = readOnce(rulesOf);
  const executor: Executor = { client, caches, ownWrites, pace, events: runtime.events(COMPONENT), gone: new GoneSets(clock) };
  const parts: Parts = { rules, executor, news, observe: (of) => observe(of, caches, clock) };
  const matching = matchingOwners<StatefulSet>(({ spec }) => readableSelector(spec?.selector), log);
  const controller: Controller<StatefulSet> = {
    name: 'statefulset',
    primary: caches.sets,
    owns: [
      { of: caches.pods, matching },
      { of: caches.revisions, matching },
    ],
    reads: [
      { of: caches.claims, mapFunc: (change: Change<Claim>, sets: Lister<StatefulSet>) => wakesOfClaim(change, sets, rules) },
      { of: caches.pods, mapFunc: (change: Change<Pod>, sets: Lister<StatefulSet>) => wakesOfName(change, sets) },
      { of: caches.classes, mapFunc: (change: Change<StorageClass>, sets: Lister<StatefulSet>) => wakesOfClass(change, sets, rules) },
    ],
    gone: (key) => ownWrites.forget(key),
    reconcile: (key, signal) => reconcile(key, parts, signal),
  };
  caches.sets.addHandlers('statefulset-memory', {
    deleted: ({ metadata: { uid = '' } }) => {
      pace.forget(uid);
      for (const about of ['size', 'annotations', 'replicas', 'claims']) news.forget(`${uid} ${about}`);
      executor.gone.forget(uid);
    },
  });
  const own = { queue: queue('statefulset'), workers: options.workers ?? 5, clock, log };
  return { name: controller.name, run: (signal) => runController(controller, own, signal) };
}

interface Parts {
  rules: (set: Readonly<StatefulSet>) => Rules;
  observe: (rules: Rules) => ReturnType<typeof observe>;
  executor: Executor;
  news: News;
}

async function reconcile(key: Key, parts: Parts, signal: AbortSignal): Promise<Outcome> {
  const { rules: read, observe: look, executor } = parts;
  const { caches, ownWrites } = executor;
  const set = caches.sets.get(key);
  if (set === undefined) return done;
  const { uid = '' } = set.metadata;
  const gone = executor.gone.outcome(uid);
  if (gone !== undefined) return gone;
  const to = { events: executor.events, set, resource: statefulSets };
  const rules = decideFor(to, () => read(set));
  warn(parts, set, 'size', rules.tooLarge === undefined ? [] : [tooLargeEvent(rules.tooLarge)]);
  if (rules.tooLarge !== undefined) return { stalled: true, why: rules.tooLarge };
  if (rules.selector === undefined) return { stalled: true, why: 'the selector cannot be read, or selects everything' };
  if (!ownWrites.caughtUp(key, Object.values(caches) as Informer<StatefulSet>[]))
    return { requeueAfter: ownWrites.requeueAfter(key) ?? 0, why: 'own writes are not seen yet' };
  warn(parts, set, 'annotations', problemsOf(rules));
  warn(parts, set, 'replicas', excessOf(rules));
  await readRevisions(ownedOrOrphaned(caches.revisions, set));
  const facts = decideFor(to, () => look(rules));
  const { wakeUps, refused } = await execute(executor, facts, signal);
  warn(parts, set, 'claims', refused.map(refusal));
  return executor.gone.outcome(uid) ?? earliest(wakeUps);
}

/** What the author of a set should know. */
function warn({ executor: { events }, news }: Parts, set: Readonly<StatefulSet>, about: string, warnings: readonly Told[]): void {
  tellNews({ events, set, resource: statefulSets }, warnings, (text) => news.is(`${set.metadata.uid ?? ''} ${about}`, text));
}
