import { explain, type Explained } from '../../controllers/statefulset/explain.ts';
import { noMemory } from '../../controllers/common/set-memory.ts';
import { defaultClassOf, type SetFacts } from '../../controllers/statefulset/observe.ts';
import { plan, planOwnership } from '../../controllers/statefulset/plan.ts';
import { excessOf, rulesOf } from '../../controllers/statefulset/rules.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { Pod } from '../../controllers/statefulset/types.ts';
import type { StatefulSetInCluster } from './why-statefulset.ts';

/** Asks the controller's own decision, as one would find it that has just been started: what concerns the set as a whole, its pods, its claims. Pure. */
export function explainStatefulSet({ set, pods, revisions, claims, classes, now }: StatefulSetInCluster): Explained[] {
  const rules = rulesOf(set);
  const whole = (reason: string, detail: string): Explained => ({ object: rules.name, reason, detail });
  if (set.metadata.deletionTimestamp !== undefined)
    return [whole('deleting', 'the set is terminating; the garbage collector deletes its pods')];
  if (rules.tooLarge !== undefined) return [whole('too-large', `the set is not synced: ${rules.tooLarge}`)];
  if (rules.selector === undefined)
    return [whole('selector', 'the set is not synced: its selector is invalid, or is empty and would select all pods')];
  const podNames = new Set(pods.map(({ metadata }) => metadata.name));
  const claimsByName = new Map(claims.map((claim) => [claim.metadata.name ?? '', claim]));
  const facts = planOwnership({
    rules,
    memory: noMemory,
    pods,
    revisions,
    isTaken: (name) => podNames.has(name),
    pvc: (name) => claimsByName.get(name),
    allPvcs: () => claims,
    storageClass: (name) => (name === undefined ? defaultClassOf(classes) : classes.find(({ metadata }) => metadata.name === name)),
    now,
  });
  return [
    ...rules.optIns.problems.map((problem) => whole('annotation', `rollout and scale-down are paused: invalid annotation: ${problem}`)),
    ...excessOf(rules).map(({ message }) => whole('replicas', message)),
    ...withTakenNames(explain(facts), facts.adoption.pods, pods),
    ...plan(facts).refused.map(({ pvc: claim, why }) => ({ object: claim, reason: 'cannot-expand', detail: why })),
  ];
}

const UNMADE: ReadonlySet<string> = new Set(['creating', 'missing']);

/** The controller sees its own pods alone, and learns from a refusal that the name of one is another's: no event tells of it. */
function withTakenNames(
  rows: readonly Explained[],
  { keep, adopt }: SetFacts['adoption']['pods'],
  pods: readonly Readonly<Pod>[],
): Explained[] {
  const own = new Set([...keep, ...adopt]);
  const others = new Map(pods.filter((pod) => !own.has(pod)).map((pod) => [pod.metadata.name ?? '', pod]));
  return rows.map((row) => {
    const other = UNMADE.has(row.reason) ? others.get(row.object) : undefined;
    const detail =
      other &&
      `a pod with this name exists and is not owned by this StatefulSet: ${whose(other)}; the pod is created once that one is deleted`;
    return detail === undefined ? row : { object: row.object, reason: 'name-taken', detail };
  });
}

function whose(pod: Readonly<Pod>): string {
  const owner = controllerOf(pod);
  if (owner !== undefined) return `its owner is ${owner.kind} ${owner.name} with uid ${owner.uid}`;
  return pod.metadata.deletionTimestamp === undefined ? 'its labels do not match the selector' : 'it is terminating';
}
