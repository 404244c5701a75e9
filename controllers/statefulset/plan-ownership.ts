import { identityOf } from '../../kube/api/ordinals.ts';
import { statefulSets } from '../../kube/api/resources.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import { planClaim } from '../../kube/controller/claim.ts';
import { statefulSetHistory, type Revision } from '../common/history/contract.ts';
import { currentRevision, planHistory } from '../common/history/plan.ts';
import type { Observed, SetFacts } from './facts.ts';
import type { Pod } from './types.ts';

/**
 * Which pods and revisions are the set's, and which of its revisions are the current and the update revision: orphans that the selector matches are
 * adopted, pods that it no longer matches are released, and the history is put in order. That of a terminating set stays as it is. Pure.
 */
export function planOwnership({ pods, revisions, ...observed }: Observed): SetFacts {
  const { rules } = observed;
  const { set, selector = [] } = rules;
  const selected = (object: Readonly<Pod> | Readonly<Revision>): boolean =>
    selector.length > 0 && matchesLabels(selector, object.metadata.labels);
  // By its name as well: a pod that two sets select belongs to the one that its name says.
  const ours = (pod: Readonly<Pod>): boolean => identityOf(pod.metadata.name ?? '')?.parent === rules.name && selected(pod);
  const adoption = { pods: planClaim(set, pods, ours), revisions: planClaim(set, revisions, selected) };
  const own = [...adoption.revisions.keep, ...adoption.revisions.adopt];
  const history = planHistory(
    { owner: set, template: rules.template, collisionCount: set.status?.collisionCount, revisions: own, pods: [] },
    statefulSets,
    statefulSetHistory,
  );
  return {
    ...observed,
    adoption,
    history: set.metadata.deletionTimestamp === undefined ? history : { ...history, steps: [] },
    currentRevision: currentRevision(own, set.status?.currentRevision, history.current),
  };
}
