import type { Container, PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.js';
import { quantity } from './quantity.ts';

/** Amounts by resource: in thousandths for cpu, in whole units for all else, as schedulers and kubelets count. */
export type Amounts = ReadonlyMap<string, bigint>;

/** A port of a node's that a pod wants for itself. */
export interface HostPort {
  readonly port: number;
  readonly protocol: string;
  readonly ip: string;
}

type Spec = Readonly<PodSpec> & { resources?: ResourceRequirements };

const EVERY_ADDRESS = '0.0.0.0';

/**
 * What a pod takes: containers run together, init containers one after the other before them, beside those of them that go on running
 * (`restartPolicy: Always`). What the pod says of itself as a whole goes before the sum, and its overhead comes on top.
 * @param wantedBy - what one container takes
 * @returns also amounts of 0, where somebody asked for them
 */
export function podRequests(
  { containers, initContainers, overhead, resources }: Spec,
  wantedBy: (resources: ResourceRequirements | undefined) => Amounts,
): Map<string, bigint> {
  const running = new Map<string, bigint>();
  const peak = new Map<string, bigint>();
  for (const init of initContainers ?? []) {
    const wanted = wantedBy(init.resources);
    // What it does not ask for is as much as runs already, which is never less later.
    for (const [resource, amount] of wanted) raise(peak, [[resource, (running.get(resource) ?? 0n) + amount]]);
    if (staysOn(init)) add(running, wanted);
  }
  for (const { resources } of containers) add(running, wantedBy(resources));
  raise(running, peak);
  for (const [resource, amount] of amountsOf(resources?.requests)) running.set(resource, amount);
  add(running, amountsOf(overhead));
  return running;
}

/** Of a list of quantities, those that somebody counts: the native ones, extended ones (with a domain), huge pages and places for volumes. */
export function amountsOf(quantities: Readonly<Record<string, string>> | undefined): Map<string, bigint> {
  const amounts = new Map<string, bigint>();
  for (const [resource, text] of Object.entries(quantities ?? {}))
    if (isCounted(resource)) amounts.set(resource, amountOf(resource, text) ?? 0n);
  return amounts;
}

/** An amount as this file counts it: rounded up, so that what is asked for fits. Undefined when it cannot be read. */
export function amountOf(resource: string, text: string | undefined): bigint | undefined {
  const nanos = text === undefined ? undefined : quantity(text)?.nanos;
  if (nanos === undefined) return undefined;
  const unit = nanosPer(resource);
  return nanos <= 0n ? 0n : (nanos + unit - 1n) / unit;
}

/** How many of a quantity's 10^-9 an amount of this resource is. */
export function nanosPer(resource: string): bigint {
  return resource === 'cpu' ? 1_000_000n : 1_000_000_000n;
}

/** On the host's network every port of a container is one of the host's, said or not. */
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

/** The same port of the same protocol, at an address in common. */
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
