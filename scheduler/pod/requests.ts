import type { PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.js';
import { amountsOf, podRequests, type Amounts } from '../../kube/api/pod-requests.ts';

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

export function requestsOf(spec: Readonly<PodSpec>): Requests {
  const key = resourcesKey(spec);
  const known = pool.get(key);
  if (known !== undefined) return known;
  const real = podRequests(spec, (resources) => amountsOf(resources?.requests));
  const scored = podRequests(spec, scoredBy);
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

/** A key that is there counts as it is, also with 0. */
function scoredBy(resources: ResourceRequirements | undefined): Amounts {
  const asked = amountsOf(resources?.requests);
  if (!asked.has('cpu')) asked.set('cpu', UNSAID_CPU);
  if (!asked.has('memory')) asked.set('memory', UNSAID_MEMORY);
  return asked;
}

/** Everything that {@link podRequests} looks at. */
function resourcesKey(spec: Readonly<PodSpec> & { resources?: ResourceRequirements }): string {
  const inits = spec.initContainers?.map(({ resources, restartPolicy }) => [resources?.requests, restartPolicy]);
  return JSON.stringify([spec.containers.map(({ resources }) => resources?.requests), inits, spec.overhead, spec.resources?.requests]);
}
