import type { Toleration, PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.js';
import { unreachable } from '../../../base/errors.ts';
import { canonicalQuantity } from '../../../kube/api/quantity.ts';
import type { Informer } from '../../../kube/cache/contract.ts';
import { isControlledBy } from '../../../kube/controller/owners.ts';
import { ON_NODE } from '../observe.ts';
import { nameOf } from '../pods.ts';
import type { Rules } from '../rules.ts';
import type { Node, Pod, PodTemplate } from '../../common/types.ts';
import { type Decide, type Decision, decideNode, fits, type Reason } from './node-decision.ts';
import {
  amountOf,
  nanosPer,
  portsConflict,
  amountsOf,
  hostPortsOf,
  podRequests,
  type Amounts,
  type HostPort,
} from '../../../kube/api/pod-requests.ts';

/** Decides where the controller places pods. Leaves out the set's own pods, whose requests and ports would conflict with the new one. */
export function decideByFit({ template, tolerations, critical, set }: Rules, pods: Pick<Informer<Pod>, 'indexed'>): Decide {
  return (node) => {
    const others = pods.indexed(ON_NODE, nameOf(node)).filter((pod) => !isControlledBy(pod, set));
    return decideAndSimulate({ template, tolerations, node, others, critical });
  };
}

/** A hypothetical pod of a set on a node. */
export interface Situation {
  readonly template: Readonly<PodTemplate>;
  /** The template's and the automatic ones. */
  readonly tolerations: readonly Toleration[];
  readonly node: Readonly<Node>;
  /** The pods on the node without the set's own, with which the new pod would conflict. Ended pods take no room. */
  readonly others: Iterable<Readonly<Pod>>;
  /** The pod runs even without room: the kubelet preempts others for it. */
  readonly critical: boolean;
}

/** Whether a set should have a pod on a node, and may have it now, where the controller itself places pods. */
export function decideAndSimulate(situation: Situation): Decision {
  const found = simulate(situation);
  const [first] = found;
  if (first === undefined) return fits;
  const { want, schedule, keep, failedPlacement } = evaluatePredicates(found);
  return { run: want, schedule, keep, reason: first.reason, ...(failedPlacement !== undefined && { failedPlacement: [failedPlacement] }) };
}

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

/** A resource that the node does not have enough of. */
export interface Shortage {
  readonly failed: 'resource';
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** Why a pod does not fit. Pod affinity is not checked. @member evicts - a NoExecute taint is among those that are not tolerated */
export type Found = ({ failed: 'node-selector' | 'host-name' | 'host-ports' } | { failed: 'taints'; evicts: boolean } | Shortage) & {
  readonly reason: Reason;
};

/**
 * Why the pod would not fit: the node's name, labels and taints, then host ports, then each insufficient resource. Ports and resources are not checked
 * on a node that must not keep a pod of this set.
 */
export function simulate({ template, tolerations, node, others, critical }: Situation): readonly Found[] {
  const { keep, reason } = decideNode(template, tolerations, node);
  const found = refusal(reason, keep);
  if (!keep) return found;
  const wanted = template.spec === undefined ? nothing : footprintOf(template.spec);
  const there = footprints(others);
  return [...found, ...takenPorts(wanted, there), ...(critical ? [] : lacking(wanted, there, node))];
}

const nothing: Footprint = { requests: new Map(), ports: [] };
const noFailures: readonly Found[] = [];

function refusal(reason: Reason, keep: boolean): readonly Found[] {
  switch (reason.kind) {
    case 'node-name':
      return [{ failed: 'host-name', reason }];
    case 'node-selector':
    case 'node-affinity':
      return [{ failed: 'node-selector', reason }];
    case 'taint':
      return [{ failed: 'taints', evicts: !keep, reason }];
    case 'fits':
    case 'host-ports':
    case 'resources':
      return noFailures;
  }
}

function footprints(pods: Iterable<Readonly<Pod>>): Footprint[] {
  const there: Footprint[] = [];
  for (const { spec, status } of pods) {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue;
    there.push(spec === undefined ? nothing : footprintOf(spec));
  }
  return there;
}

function takenPorts({ ports }: Footprint, there: readonly Footprint[]): readonly Found[] {
  for (const wanted of ports) {
    if (there.some((other) => other.ports.some((taken) => portsConflict(wanted, taken))))
      return [{ failed: 'host-ports', reason: { kind: 'host-ports', port: wanted.port } }];
  }
  return noFailures;
}

function lacking({ requests }: Footprint, there: readonly Footprint[], { status }: Readonly<Node>): Found[] {
  const capacities = status?.allocatable ?? status?.capacity ?? {};
  const asked: [resource: string, requested: bigint, used: bigint][] = [['pods', 1n, BigInt(there.length)]];
  for (const [resource, requested] of requests) {
    asked.push([resource, requested, there.reduce((sum, other) => sum + (other.requests.get(resource) ?? 0n), 0n)]);
  }
  return asked.flatMap(([resource, requested, used]): Found[] => {
    const capacity = amountOf(resource, capacities[resource]) ?? 0n;
    if (used + requested <= capacity) return [];
    const wanted = asText(resource, requested);
    const free = asText(resource, used < capacity ? capacity - used : 0n);
    return [{ failed: 'resource', resource, requested, used, capacity, reason: { kind: 'resources', resource, wanted, free } }];
  });
}

function asText(resource: string, amount: bigint): string {
  const format = /^(?:memory|ephemeral-storage|hugepages-.*)$/.test(resource) ? 'binary' : 'decimal';
  return canonicalQuantity({ nanos: amount * nanosPer(resource), format });
}

/** What a pod takes of its node. */
export interface Footprint {
  /** In thousandths for cpu, in whole units for all else. Without requests of 0. */
  readonly requests: Amounts;
  readonly ports: readonly HostPort[];
}

const known = new WeakMap<Readonly<PodSpec>, Footprint>();

/** @param spec - never changes, like any object of a cache: the result is memoized */
function footprintOf(spec: Readonly<PodSpec>): Footprint {
  const seen = known.get(spec);
  if (seen !== undefined) return seen;
  const asked = [...podRequests(spec, wantedBy)].filter(([, amount]) => amount > 0n);
  const footprint = { requests: new Map(asked), ports: hostPortsOf(spec) };
  known.set(spec, footprint);
  return footprint;
}

/** Templates are not defaulted as pods are, so a limit without a request counts as the request. */
function wantedBy({ requests, limits }: ResourceRequirements = {}): Amounts {
  return amountsOf({ ...limits, ...requests });
}

/** The message that kube-scheduler had. */
export function shortageMessage({ resource, requested, used, capacity }: Shortage): string {
  return `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
}
