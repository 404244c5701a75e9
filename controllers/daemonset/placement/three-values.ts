import type { Informer } from '../../../kube/cache/contract.ts';
import { isControlledBy } from '../../../kube/controller/owners.ts';
import { ON_NODE } from '../observe.ts';
import { nameOf } from '../pods.ts';
import type { Rules } from '../rules.ts';
import type { Pod } from '../../common/types.ts';
import { type Decide, type Decision, fits } from './node-decision.ts';
import { failureMessage, type Failure, simulate, type Situation } from './simulate.ts';

/** The result of failures, where the controller itself places pods. */
export interface PredicateResult {
  /** A pod should be there, now or when there is room: counts as desired. */
  want: boolean;
  /** A pod may be created there now. */
  schedule: boolean;
  /** An existing pod may stay. */
  keep: boolean;
  /** Reasons for events, in the order of the failures. */
  failedPlacement: string[];
  /** Why the node cannot be evaluated. */
  error?: string;
}

/**
 * Starts with yes for all three and applies the failures in order:
 *
 * | failure | want | schedule | keep | then |
 * | --- | --- | --- | --- | --- |
 * | selector, host name, label presence, host ports | no | no | no | ends here |
 * | taints, NoExecute among them | no | no | no | ends here |
 * | taints, NoSchedule alone | no | no | | goes on |
 * | disk conflict, volume zone or count, memory or disk pressure | | no | | event, goes on |
 * | resource | | no | | event about the last one, if nothing else prevents scheduling |
 * | affinity of pods or services | no | no | no | error, ends here |
 * | any other | no | no | no | event, goes on |
 */
export function evaluatePredicates(failures: readonly Failure[]): PredicateResult {
  const result: PredicateResult = { want: true, schedule: true, keep: true, failedPlacement: [] };
  const { failedPlacement } = result;
  const never = { want: false, schedule: false, keep: false };
  let short: Failure | undefined;
  for (const failure of failures) {
    switch (failure.failed) {
      case 'node-selector':
      case 'host-name':
      case 'label-presence':
      case 'host-ports':
        return Object.assign(result, never);
      case 'taints':
        if (failure.evicts) return Object.assign(result, never);
        result.want = false;
        result.schedule = false;
        break;
      case 'disk-conflict':
      case 'volume-zone':
      case 'volume-count':
      case 'memory-pressure':
      case 'disk-pressure':
        result.schedule = false;
        failedPlacement.push(failureMessage(failure));
        break;
      case 'resource':
        short = failure;
        break;
      case 'pod-affinity':
      case 'service-affinity': {
        const error = `unexpected reason: DaemonSet Predicates should not return reason ${failureMessage(failure)}`;
        return Object.assign(result, never, { error });
      }
      case 'other':
        Object.assign(result, never);
        failedPlacement.push(failureMessage(failure));
        break;
    }
  }
  if (short !== undefined && result.schedule) {
    result.schedule = false;
    failedPlacement.push(failureMessage(short));
  }
  return result;
}

/** Whether a set should have a pod on a node, and may have it now, where the controller itself places pods. */
export function decideAndSimulate(situation: Situation): Decision {
  const found = simulate(situation);
  const [first] = found;
  if (first === undefined) return fits;
  const { want, schedule, keep, failedPlacement } = evaluatePredicates(found);
  return { run: want, schedule, keep, reason: first.reason, ...(failedPlacement.length > 0 && { failedPlacement }) };
}

/** Decides where the controller places pods. Leaves out the set's own pods, whose requests and ports would conflict with the new one. */
export function decideByFit({ template, tolerations, critical, set }: Rules, pods: Pick<Informer<Pod>, 'indexed'>): Decide {
  return (node) => {
    const others = pods.indexed(ON_NODE, nameOf(node)).filter((pod) => !isControlledBy(pod, set));
    return decideAndSimulate({ template, tolerations, node, others, critical });
  };
}
