import type { PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.js';
import { amountsOf, hostPortsOf, podRequests, type Amounts, type HostPort } from '../../../kube/api/pod-requests.ts';

/** What a pod takes of its node. */
export interface Footprint {
  /** In thousandths for cpu, in whole units for all else. What is not asked for is not in it. */
  readonly requests: Amounts;
  readonly ports: readonly HostPort[];
}

const known = new WeakMap<Readonly<PodSpec>, Footprint>();

/** @param spec - taken as one that never changes, as objects of a cache are: it is read once */
export function footprintOf(spec: Readonly<PodSpec>): Footprint {
  const seen = known.get(spec);
  if (seen !== undefined) return seen;
  const asked = [...podRequests(spec, wantedBy)].filter(([, amount]) => amount > 0n);
  const footprint = { requests: new Map(asked), ports: hostPortsOf(spec) };
  known.set(spec, footprint);
  return footprint;
}

/** Templates are not defaulted as pods are: there a limit without a request is one. */
function wantedBy({ requests, limits }: ResourceRequirements = {}): Amounts {
  return amountsOf({ ...limits, ...requests });
}
