import { messageOf } from '../../base/errors.ts';
import { amountOf, type Amounts, amountsOf, type HostPort, hostPortsOf, podRequests } from '../../kube/api/pod-requests.ts';
import { type Key, objectKey } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { Pod } from '../types.ts';
import { type AffinityTerms, affinityTermsOf, noTerms } from './selectors.ts';
import { MAX_HOST_PORTS } from './pod-limits.ts';
import type { Container, ContainerStatus, PodSpec, PodStatus, ResourceRequirements } from 'kubernetes-types/core/v1.js';

/** A pod, read once for all that the scheduler asks of it. Never changed. */
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
  /** '' while it is nowhere. */
  readonly nodeName: string;
  readonly requests: Requests;
  readonly ports: readonly HostPort[];
  readonly terms: AffinityTerms;
  /** It is on its way out: it takes its room until it is gone, and is not counted when pods are spread. */
  readonly terminating: boolean;
  /** Why nothing can be read of it but who and where it is: then it takes nothing, and is given no place. */
  readonly unreadable?: string;
}

const none: Readonly<Record<string, string>> = {};
const noPorts: readonly HostPort[] = [];
const known = new WeakMap<Readonly<Pod>, PodInfo>();

/** @param pod - taken as one that never changes, as objects of a cache are. Never throws: see {@link PodInfo.unreadable} */
export function podInfoOf(pod: Readonly<Pod>): PodInfo {
  const seen = known.get(pod);
  if (seen !== undefined) return seen;
  let info: PodInfo;
  try {
    info = read(pod);
    // Asked all the time: better found here.
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
    requests: requestsOf(specAsTaken(spec ?? { containers: [] }, status)),
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

/** What a pod takes of a node. Numbers are whole: cpu in thousandths, memory and storage in bytes. */
export interface Requests {
  readonly cpu: number;
  readonly memory: number;
  readonly ephemeral: number;
  /** Everything else that is asked for, such as `example.com/gpu` or `hugepages-2Mi`; nothing of 0. */
  readonly scalars: ReadonlyMap<string, number>;
  /** What scores count with: a container that does not say takes 100m and 200Mi there. Filters never look at these. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
}

const UNSAID_CPU = 100n;
const UNSAID_MEMORY = 200n * 1024n * 1024n;
const named = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Pods of one template ask for the same: one object for all of them. Emptied when it grows beyond what templates explain. */
const pool = new Map<string, Requests>();
const MAX_ENTRIES = 20_000;
/** What is said in more words is no template's. */
const MAX_KEY = 4_096;

function requestsOf(spec: OwnSpec): Requests {
  const key = resourcesKey(spec);
  const known = pool.get(key);
  if (known !== undefined) return known;
  const real = podRequests(spec, (resources) => amountsOf(resources?.requests));
  // Where the pod asks as a whole, only what nobody in it asks for is guessed, as kube-scheduler does.
  const asksAsWhole = amountsOf(spec.resources?.requests).size > 0;
  const scored = podRequests(
    spec,
    scoredBy((resource) => !asksAsWhole || !real.has(resource)),
  );
  const requests: Requests = {
    cpu: whole(real.get('cpu')),
    memory: whole(real.get('memory')),
    ephemeral: whole(real.get('ephemeral-storage')),
    scalars: new Map([...real].filter(([name, amount]) => !named.has(name) && amount > 0n).map(([name, amount]) => [name, whole(amount)])),
    scoredCpu: whole(scored.get('cpu')),
    scoredMemory: whole(scored.get('memory')),
  };
  if (key.length > MAX_KEY) return requests;
  if (pool.size >= MAX_ENTRIES) pool.clear();
  pool.set(key, requests);
  return requests;
}

/** Nothing at all: not even a place for cpu or memory is looked for. */
export function asksNothing({ cpu, memory, ephemeral, scalars }: Requests): boolean {
  return cpu === 0 && memory === 0 && ephemeral === 0 && scalars.size === 0;
}

/** An amount as the columns of the node table hold it. Beyond 2^53 nothing is told apart. */
export function whole(amount: bigint | undefined): number {
  return amount === undefined ? 0 : Math.min(Number(amount), Number.MAX_SAFE_INTEGER);
}

/** A key that is there counts as it is, also with 0. @param isGuessed - whether a container that does not say is taken to need some */
function scoredBy(isGuessed: (resource: 'cpu' | 'memory') => boolean): (resources: ResourceRequirements | undefined) => Amounts {
  return (resources) => {
    const asked = amountsOf(resources?.requests);
    if (!asked.has('cpu') && isGuessed('cpu')) asked.set('cpu', UNSAID_CPU);
    if (!asked.has('memory') && isGuessed('memory')) asked.set('memory', UNSAID_MEMORY);
    return asked;
  };
}

/** Everything that {@link podRequests} looks at. */
function resourcesKey(spec: OwnSpec): string {
  const inits = spec.initContainers?.map(({ resources, restartPolicy }) => [resources?.requests, restartPolicy]);
  return JSON.stringify([spec.containers.map(({ resources }) => resources?.requests), inits, spec.overhead, spec.resources?.requests]);
}

type Quantities = Readonly<Record<string, string>> | undefined;

/** With what the pod says of itself as a whole: our types are older. */
type OwnSpec = Readonly<PodSpec> & { readonly resources?: ResourceRequirements };
type OwnStatus = Readonly<PodStatus> & { readonly resources?: ResourceRequirements; readonly allocatedResources?: Quantities };

/**
 * A pod's spec with what its containers, and the pod as a whole, take of their node, as long as they are resized in place: of each resource the most of what they
 * shall have, what they were granted, and what they have. What the node can never give them counts for nothing.
 * @see https://kep.k8s.io/1287 and, for pods as a whole, https://kep.k8s.io/5419
 */
function specAsTaken(spec: OwnSpec, status: OwnStatus | undefined): OwnSpec {
  const statuses = new Map<string, Readonly<ContainerStatus>>();
  for (const one of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    if (one.resources) statuses.set(one.name, one);
  const asWhole = spec.resources?.requests && status?.resources;
  if (statuses.size === 0 && !asWhole) return spec;
  const isInfeasible =
    status?.resize === 'Infeasible' ||
    status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true;
  const wished = (resources: ResourceRequirements | undefined): Quantities => (isInfeasible ? undefined : resources?.requests);
  const taken = (container: Container): Container => {
    const { resources, allocatedResources } = statuses.get(container.name) ?? {};
    if (!resources) return container;
    const requests = most([wished(container.resources), resources.requests, allocatedResources]);
    return { ...container, resources: { ...container.resources, requests } };
  };
  // Of what the pod does not ask for as a whole its containers tell.
  const askedAsWhole = (taken: Record<string, string>) =>
    Object.fromEntries(Object.entries(taken).filter(([resource]) => spec.resources?.requests?.[resource] !== undefined));
  // Of init containers those alone go on that stay beside the others.
  const initContainers = spec.initContainers?.map((init) => (init.restartPolicy === 'Always' ? taken(init) : init));
  return {
    ...spec,
    containers: spec.containers.map(taken),
    ...(initContainers && { initContainers }),
    ...(asWhole && { resources: { requests: askedAsWhole(most([wished(spec.resources), asWhole.requests, status.allocatedResources])) } }),
  };
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

/** For conditions: of which generation of the pod they speak. Servers before 1.33 give pods none. */
export function observedOf({ metadata: { generation } }: Readonly<Pod>): { observedGeneration?: number } {
  return generation === undefined ? {} : { observedGeneration: generation };
}
