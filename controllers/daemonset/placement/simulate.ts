import type { Toleration, PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.js';
import { canonicalQuantity } from '../../../kube/api/quantity.ts';
import type { Node, Pod, PodTemplate } from '../../common/types.ts';
import { type Reason, decideNode } from './node-decision.ts';
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
