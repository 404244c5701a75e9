import type { Container, PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.js';
import { quantity } from './quantity.ts';

/** Amounts by resource: in thousandths for cpu, in whole units for all else, as schedulers and kubelets count. */
export type Amounts = ReadonlyMap<string, bigint>;

/** A port of the node that a pod needs exclusively. */
export interface HostPort {
  readonly port: number;
  readonly protocol: string;
  readonly ip: string;
}

type Spec = Readonly<PodSpec> & { resources?: ResourceRequirements };

const EVERY_ADDRESS = '0.0.0.0';

/**
 * The requests of a pod: containers run together, init containers one after the other before them, next to the sidecars started so far (`restartPolicy:
 * Always`). Requests of the pod as a whole replace the sum, and its overhead is added.
 * @param wantedBy - the requests of one container
 * @returns also amounts of 0, where they are requested
 */
export function podRequests(
  { containers, initContainers, overhead, resources }: Spec,
  wantedBy: (resources: ResourceRequirements | undefined) => Amounts,
): Map<string, bigint> {
  const running = new Map<string, bigint>();
  const peak = new Map<string, bigint>();
  for (const init of initContainers ?? []) {
    const wanted = wantedBy(init.resources);
    // A resource that it does not request stays at the running amount, which never decreases later.
    for (const [resource, amount] of wanted) raise(peak, [[resource, (running.get(resource) ?? 0n) + amount]]);
    if (staysOn(init)) add(running, wanted);
  }
  for (const { resources } of containers) add(running, wantedBy(resources));
  raise(running, peak);
  for (const [resource, amount] of amountsOf(resources?.requests)) running.set(resource, amount);
  add(running, amountsOf(overhead));
  return running;
}

/** The quantities that are counted: native resources, extended ones (with a domain), huge pages and attachable volumes. */
export function amountsOf(quantities: Readonly<Record<string, string>> | undefined): Map<string, bigint> {
  const amounts = new Map<string, bigint>();
  for (const [resource, text] of Object.entries(quantities ?? {}))
    if (isCounted(resource)) amounts.set(resource, amountOf(resource, text) ?? 0n);
  return amounts;
}

/** An amount in the units of this file: rounded up, so that the request fits. Undefined when it is invalid. */
export function amountOf(resource: string, text: string | undefined): bigint | undefined {
  const nanos = text === undefined ? undefined : quantity(text)?.nanos;
  if (nanos === undefined) return undefined;
  const unit = nanosPer(resource);
  return nanos <= 0n ? 0n : (nanos + unit - 1n) / unit;
}

/** How many units of 10^-9 one unit of this resource's amounts has. */
export function nanosPer(resource: string): bigint {
  return resource === 'cpu' ? 1_000_000n : 1_000_000_000n;
}

/** With `hostNetwork` every container port is a host port, declared or not. */
export function hostPortsOf({ containers, initContainers, hostNetwork }: Spec): HostPort[] {
  const together = [...(initContainers ?? []).filter(staysOn), ...containers];
  return together.flatMap(({ ports }) =>
    (ports ?? [])
      .map(({ containerPort, hostPort, hostIP, protocol }) => ({
        port: hostPort || (hostNetwork === true ? containerPort : 0),
        protocol: protocol || 'TCP',
        ip: hostIP || EVERY_ADDRESS,
      }))
      .filter(({ port }) => port > 0),
  );
}

/** Same port and protocol, with an address in common. */
export function portsConflict(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === EVERY_ADDRESS || b.ip === EVERY_ADDRESS);
}

function isCounted(resource: string): boolean {
  return /^(?:cpu|memory|ephemeral-storage|hugepages-.+|attachable-volumes-.+|[^/]+\/.+)$/.test(resource);
}

function add(to: Map<string, bigint>, what: Amounts): void {
  for (const [resource, amount] of what) to.set(resource, (to.get(resource) ?? 0n) + amount);
}

function raise(to: Map<string, bigint>, what: Iterable<readonly [string, bigint]>): void {
  for (const [resource, amount] of what) if (amount > (to.get(resource) ?? -1n)) to.set(resource, amount);
}

function staysOn(init: Container): boolean {
  return init.restartPolicy === 'Always';
}
