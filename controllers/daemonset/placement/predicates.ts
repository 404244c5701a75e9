import { unreachable } from '../../../base/errors.ts';
import type { Informer } from '../../../kube/cache/contract.ts';
import { isControlledBy } from '../../../kube/controller/owners.ts';
import { ON_NODE } from '../observe.ts';
import { nameOf } from '../pods.ts';
import type { Rules } from '../rules.ts';
import type { Pod } from '../../common/types.ts';
import { type Decide, type Decision, fits } from './node-decision.ts';
import { type Found, type Shortage, shortageMessage, simulate, type Situation } from './simulate.ts';

/** What failures mean where the controller itself places pods. */
export interface PredicateResult {
  /** A pod should be there, now or when there is room: counts as desired. */
  want: boolean;
  /** A pod may be created there now. */
  schedule: boolean;
  /** An existing pod may stay. */
  keep: boolean;
  /** For an event: the resource that is short, if nothing else keeps a pod away. */
  failedPlacement?: string;
}

/**
 * Starts with yes for all three and applies the failures in order:
 *
 * | failure | want | schedule | keep | then |
 * | --- | --- | --- | --- | --- |
 * | selector, host name, host ports | no | no | no | ends here |
 * | taints, NoExecute among them | no | no | no | ends here |
 * | taints, NoSchedule alone | no | no | | goes on |
 * | resource | | no | | event about the last one, if nothing else prevents scheduling |
 */
export function evaluatePredicates(failures: readonly Found[]): PredicateResult {
  const never: PredicateResult = { want: false, schedule: false, keep: false };
  let isRefused = false;
  let short: Shortage | undefined;
  for (const failure of failures)
    switch (failure.failed) {
      case 'node-selector':
      case 'host-name':
      case 'host-ports':
        return never;
      case 'taints':
        if (failure.evicts) return never;
        isRefused = true;
        break;
      case 'resource':
        short = failure;
        break;
      default:
        unreachable(failure);
    }
  if (isRefused) return { want: false, schedule: false, keep: true };
  if (short === undefined) return { want: true, schedule: true, keep: true };
  return { want: true, schedule: false, keep: true, failedPlacement: shortageMessage(short) };
}

/** Whether a set should have a pod on a node, and may have it now, where the controller itself places pods. */
export function decideAndSimulate(situation: Situation): Decision {
  const found = simulate(situation);
  const [first] = found;
  if (first === undefined) return fits;
  const { want, schedule, keep, failedPlacement } = evaluatePredicates(found);
  return { run: want, schedule, keep, reason: first.reason, ...(failedPlacement !== undefined && { failedPlacement: [failedPlacement] }) };
}

/** Decides where the controller places pods. Leaves out the set's own pods, whose requests and ports would conflict with the new one. */
export function decideByFit({ template, tolerations, critical, set }: Rules, pods: Pick<Informer<Pod>, 'indexed'>): Decide {
  return (node) => {
    const others = pods.indexed(ON_NODE, nameOf(node)).filter((pod) => !isControlledBy(pod, set));
    return decideAndSimulate({ template, tolerations, node, others, critical });
  };
}
