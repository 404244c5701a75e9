import { explain, type Explained } from '../../controllers/statefulset/explain.ts';
import { defaultClassOf, factsOf } from '../../controllers/statefulset/observe.ts';
import { plan } from '../../controllers/statefulset/plan.ts';
import { rulesOf } from '../../controllers/statefulset/rules.ts';
import type { StatefulSetInCluster } from './stateful-set-in-cluster.ts';

/** Asks the controller's own decision, as one would find it that has just been started: what concerns the set as a whole, its pods, its claims. Pure. */
export function explainStatefulSet({ set, pods, revisions, claims, classes, now }: StatefulSetInCluster): Explained[] {
  const rules = rulesOf(set);
  const whole = (reason: string, detail: string): Explained => ({ object: rules.name, reason, detail });
  if (set.metadata.deletionTimestamp !== undefined)
    return [whole('deleting', 'the set is being deleted; its pods are for the garbage collector now')];
  if (rules.selector === undefined)
    return [whole('selector', 'the selector cannot be read, or is empty and would select all pods: nothing is done for this set')];
  const claimsByName = new Map(claims.map((claim) => [claim.metadata.name ?? '', claim]));
  const facts = factsOf(rules, {
    pods,
    revisions,
    claim: (name) => claimsByName.get(name),
    storageClass: (name) => (name === undefined ? defaultClassOf(classes) : classes.find(({ metadata }) => metadata.name === name)),
    now,
  });
  return [
    ...rules.optIns.problems.map((problem) =>
      whole('annotation', `no pods are replaced or scaled down while an annotation cannot be read: ${problem}`),
    ),
    ...explain(facts),
    ...plan(facts).refused.map(({ claim, why }) => ({ object: claim, reason: 'cannot-expand', detail: why })),
  ];
}
