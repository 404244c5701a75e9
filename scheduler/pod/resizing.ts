import type { Container, ContainerStatus, PodSpec, PodStatus } from 'kubernetes-types/core/v1.js';
import { amountOf } from '../../kube/api/pod-requests.ts';

type Quantities = Readonly<Record<string, string>> | undefined;

/**
 * A pod's spec with what its containers take of their node, as long as they are resized in place: of each resource the most of what they shall have, what they
 * were granted, and what they have. What the node can never give them counts for nothing.
 * @see https://kep.k8s.io/1287
 */
export function specAsTaken(spec: Readonly<PodSpec>, status: Readonly<PodStatus> | undefined): Readonly<PodSpec> {
  const statuses = new Map<string, Readonly<ContainerStatus>>();
  for (const one of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    if (one.resources) statuses.set(one.name, one);
  if (statuses.size === 0) return spec;
  const isInfeasible =
    status?.resize === 'Infeasible' ||
    status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true;
  const taken = (container: Container): Container => {
    const { resources, allocatedResources } = statuses.get(container.name) ?? {};
    if (!resources) return container;
    const requests = most([isInfeasible ? undefined : container.resources?.requests, resources.requests, allocatedResources]);
    return { ...container, resources: { ...container.resources, requests } };
  };
  // Of init containers those alone go on that stay beside the others.
  const initContainers = spec.initContainers?.map((init) => (init.restartPolicy === 'Always' ? taken(init) : init));
  return { ...spec, containers: spec.containers.map(taken), ...(initContainers && { initContainers }) };
}

function most(lists: readonly Quantities[]): Record<string, string> {
  const requests: Record<string, string> = {};
  for (const list of lists)
    for (const [resource, text] of Object.entries(list ?? {})) {
      const known = requests[resource];
      // Mostly all say the same, in the same words.
      if (known === undefined || (known !== text && (amountOf(resource, text) ?? 0n) > (amountOf(resource, known) ?? 0n)))
        requests[resource] = text;
    }
  return requests;
}
