import { daemonSets } from '../../kube/api/resources.ts';
import { planClaim } from '../../kube/controller/claim.ts';
import { planHistory } from '../common/history/plan.ts';
import type { Observed, SetFacts } from './facts.ts';
import { selects } from './rules.ts';

/**
 * Which pods and revisions are the set's, and which of its revisions is the present one: orphans that the selector matches are adopted, pods that it no
 * longer matches are released, and the history is put in order. What follows is planned as if that were done. Pure.
 */
export function planOwnership({ revisions: candidates, orphans, ownPods, count, ...observed }: Observed): SetFacts {
  const { rules } = observed;
  const { set } = rules;
  const isSelected = selects(rules);
  const revisions = planClaim(set, candidates, isSelected);
  const { adopt } = planClaim(set, orphans, isSelected);
  const history = planHistory(
    {
      owner: set,
      template: rules.template,
      collisionCount: set.status?.collisionCount,
      revisions: [...revisions.keep, ...revisions.adopt],
      get pods() {
        return [...ownPods(), ...adopt];
      },
    },
    daemonSets,
  );
  const { summary, unselected } = count(history.hash, adopt);
  return { ...observed, adoption: { pods: { keep: [], adopt, release: [...unselected] }, revisions }, history, summary };
}
