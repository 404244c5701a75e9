import { messageOf } from '../../base/errors.ts';
import { amountOf, type Amounts, amountsOf, type HostPort, hostPortsOf, podRequests } from '../../kube/api/pod-requests.ts';
import { type Key, objectKey } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { Pod } from '../types.ts';
import { type AffinityTerms, affinityTermsOf, noTerms } from './selectors.ts';
import { MAX_HOST_PORTS } from './pod-limits.ts';
import type { Container, ContainerStatus, PodSpec, PodStatus, ResourceRequirements } from 'kubernetes-types/core/v1.js';

/** A pod with the fields that the scheduler reads, computed once. Immutable. */
export interface PodInfo {
  readonly pod: Readonly<Pod>;
  readonly key: Key;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** 0 where the pod has none. */
  readonly priority: number;
  readonly schedulerName: string;
  /** '' while it is not assigned. */
  readonly nodeName: string;
  readonly requests: Requests;
  readonly ports: readonly HostPort[];
  readonly terms: AffinityTerms;
  /** It has a deletionTimestamp: it uses its capacity until it is deleted, and topology spread does not count it. */
  readonly terminating: boolean;
  /** Why only its identity and node could be read: such a pod uses no capacity and is not scheduled. */
  readonly unreadable?: string;
}

const none: Readonly<Record<string, string>> = {};
const noPorts: readonly HostPort[] = [];
const known = new WeakMap<Readonly<Pod>, PodInfo>();

/** @param pod - must never change, like the objects of a cache. Never throws: see {@link PodInfo.unreadable} */
export function podInfoOf(pod: Readonly<Pod>): PodInfo {
  const seen = known.get(pod);
  if (seen !== undefined) return seen;
  let info: PodInfo;
  try {
    info = read(pod);
    // Called everywhere later: a malformed reference must be found here.
    controllerOf(pod);
  } catch (error) {
    info = { ...read(withoutDetails(pod)), unreadable: messageOf(error) };
  }
  known.set(pod, info);
  return info;
}

function read(pod: Readonly<Pod>): PodInfo {
  const { metadata, spec, status } = pod;
  const { namespace = '', name = '', uid = '' } = metadata;
  const ports = spec === undefined ? noPorts : hostPortsOf(spec);
  return {
    pod,
    key: objectKey(pod),
    uid,
    namespace,
    name,
    labels: metadata.labels ?? none,
    priority: spec?.priority ?? 0,
    schedulerName: spec?.schedulerName ?? 'default-scheduler',
    nodeName: spec?.nodeName ?? '',
    requests: requestsOf(specWithResizes(spec ?? { containers: [] }, status)),
    ports: ports.length === 0 ? noPorts : ports.slice(0, MAX_HOST_PORTS),
    terms: spec?.affinity?.podAffinity || spec?.affinity?.podAntiAffinity ? affinityTermsOf(spec.affinity, namespace) : noTerms,
    terminating: metadata.deletionTimestamp !== undefined,
  };
}

function withoutDetails({ metadata, spec }: Readonly<Pod>): Pod {
  const { namespace, name, uid, resourceVersion, deletionTimestamp } = metadata;
  const { nodeName, schedulerName } = (spec ?? {}) as { nodeName?: string; schedulerName?: string };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: { containers: [], ...(nodeName !== undefined && { nodeName }), ...(schedulerName !== undefined && { schedulerName }) },
  };
}

/** Requests of a pod, as integers: cpu in millicores, memory and storage in bytes. */
export interface Requests {
  readonly cpu: number;
  readonly memory: number;
  readonly ephemeral: number;
  /** All other requested resources, such as `example.com/gpu` or `hugepages-2Mi`, without zeros. */
  readonly scalars: ReadonlyMap<string, number>;
  /** Requests for scoring: a container without a request counts with 100m and 200Mi. Filters never read these. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
}

const DEFAULT_CPU_REQUEST = 100n;
const DEFAULT_MEMORY_REQUEST = 200n * 1024n * 1024n;
const named = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Pods of one template have the same requests: they share one object. Cleared when it grows beyond what templates explain. */
const pool = new Map<string, Requests>();
const MAX_ENTRIES = 20_000;
/** Requests with a longer key are not shared. */
const MAX_KEY = 4_096;

function requestsOf(spec: OwnSpec): Requests {
  const key = resourcesKey(spec);
  const known = pool.get(key);
  if (known !== undefined) return known;
  const real = podRequests(spec, (resources) => amountsOf(resources?.requests));
  // With pod-level requests, defaults apply only to resources that neither the pod nor a container requests, as in kube-scheduler.
  const asksAsWhole = amountsOf(spec.resources?.requests).size > 0;
  const scored = podRequests(
    spec,
    scoredBy((resource) => !asksAsWhole || !real.has(resource)),
  );
  const requests: Requests = {
    cpu: wholeAmount(real.get('cpu')),
    memory: wholeAmount(real.get('memory')),
    ephemeral: wholeAmount(real.get('ephemeral-storage')),
    scalars: new Map(
      [...real].filter(([name, amount]) => !named.has(name) && amount > 0n).map(([name, amount]) => [name, wholeAmount(amount)]),
    ),
    scoredCpu: wholeAmount(scored.get('cpu')),
    scoredMemory: wholeAmount(scored.get('memory')),
  };
  if (key.length > MAX_KEY) return requests;
  if (pool.size >= MAX_ENTRIES) pool.clear();
  pool.set(key, requests);
  return requests;
}

/** Whether the pod requests nothing: then no resource is compared. */
export function requestsNothing({ cpu, memory, ephemeral, scalars }: Requests): boolean {
  return cpu === 0 && memory === 0 && ephemeral === 0 && scalars.size === 0;
}

/** An amount as a number, at most 2^53 - 1. */
export function wholeAmount(amount: bigint | undefined): number {
  return amount === undefined ? 0 : Math.min(Number(amount), Number.MAX_SAFE_INTEGER);
}

/** An explicit request counts as it is, also 0. @param isGuessed - whether a container without a request gets the default */
function scoredBy(isGuessed: (resource: 'cpu' | 'memory') => boolean): (resources: ResourceRequirements | undefined) => Amounts {
  return (resources) => {
    const asked = amountsOf(resources?.requests);
    if (!asked.has('cpu') && isGuessed('cpu')) asked.set('cpu', DEFAULT_CPU_REQUEST);
    if (!asked.has('memory') && isGuessed('memory')) asked.set('memory', DEFAULT_MEMORY_REQUEST);
    return asked;
  };
}

/** Everything that {@link podRequests} reads. */
function resourcesKey(spec: OwnSpec): string {
  const inits = spec.initContainers?.map(({ resources, restartPolicy }) => [resources?.requests, restartPolicy]);
  return JSON.stringify([spec.containers.map(({ resources }) => resources?.requests), inits, spec.overhead, spec.resources?.requests]);
}

type Quantities = Readonly<Record<string, string>> | undefined;

/** With pod-level resources, which the type package lacks. */
type OwnSpec = Readonly<PodSpec> & { readonly resources?: ResourceRequirements };
type OwnStatus = Readonly<PodStatus> & { readonly resources?: ResourceRequirements; readonly allocatedResources?: Quantities };

/**
 * A pod's spec with the requests that count while containers, or the pod as a whole, are resized in place: the maximum of the desired, the allocated and the
 * actual request of each resource. Desired requests do not count if the resize is infeasible.
 * @see https://kep.k8s.io/1287 and, for pods as a whole, https://kep.k8s.io/5419
 */
function specWithResizes(spec: OwnSpec, status: OwnStatus | undefined): OwnSpec {
  const statuses = new Map<string, Readonly<ContainerStatus>>();
  for (const one of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    if (one.resources) statuses.set(one.name, one);
  const podLevel = spec.resources?.requests && status?.resources;
  if (statuses.size === 0 && !podLevel) return spec;
  const isInfeasible =
    status?.resize === 'Infeasible' ||
    status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true;
  const desired = (resources: ResourceRequirements | undefined): Quantities => (isInfeasible ? undefined : resources?.requests);
  const withResize = (container: Container): Container => {
    const { resources, allocatedResources } = statuses.get(container.name) ?? {};
    if (!resources) return container;
    const requests = most([desired(container.resources), resources.requests, allocatedResources]);
    return { ...container, resources: { ...container.resources, requests } };
  };
  // Resources without a pod-level request are summed up from the containers.
  const podLevelRequests = (withResize: Record<string, string>) =>
    Object.fromEntries(Object.entries(withResize).filter(([resource]) => spec.resources?.requests?.[resource] !== undefined));
  // Only restartable init containers (sidecars) run beside the others.
  const initContainers = spec.initContainers?.map((init) => (init.restartPolicy === 'Always' ? withResize(init) : init));
  return {
    ...spec,
    containers: spec.containers.map(withResize),
    ...(initContainers && { initContainers }),
    ...(podLevel && {
      resources: { requests: podLevelRequests(most([desired(spec.resources), podLevel.requests, status.allocatedResources])) },
    }),
  };
}

function most(lists: readonly Quantities[]): Record<string, string> {
  const requests: Record<string, string> = {};
  for (const list of lists)
    for (const [resource, text] of Object.entries(list ?? {})) {
      const known = requests[resource];
      // Mostly the texts are equal, and need not be parsed.
      if (known === undefined || (known !== text && (amountOf(resource, text) ?? 0n) > (amountOf(resource, known) ?? 0n)))
        requests[resource] = text;
    }
  return requests;
}

/** observedGeneration of a pod's conditions. Servers before 1.33 set no generation on pods. */
export function observedOf({ metadata: { generation } }: Readonly<Pod>): { observedGeneration?: number } {
  return generation === undefined ? {} : { observedGeneration: generation };
}
