import type { NodeState } from '../cache/node-state.ts';
import { type PodInfo, podInfoOf, type Requests } from '../pod/pod-info.ts';
import type { CapacityFacts, Reservation, Reservations, Spare } from './contract.ts';
import type { Pod } from '../types.ts';

/** Where nodes are looked up. */
type Nodes = { node(name: string): NodeState | undefined };

type Free = Spare & { pods: number };

/** Free capacity of a node, without its pods and these held pods. */
function spareOf(state: NodeState, heldPods: readonly PodInfo[]): Free {
  const scalars = new Map<string, number>();
  for (const [name, amount] of state.allocScalars) scalars.set(name, amount - (state.usedScalars.get(name) ?? 0));
  let cpu = state.allocCpu - state.usedCpu;
  let memory = state.allocMemory - state.usedMemory;
  let ephemeral = state.allocEphemeral - state.usedEphemeral;
  for (const { requests } of heldPods) {
    cpu -= requests.cpu;
    memory -= requests.memory;
    ephemeral -= requests.ephemeral;
    for (const [name, amount] of requests.scalars) scalars.set(name, (scalars.get(name) ?? 0) - amount);
  }
  return { cpu, memory, ephemeral, scalars, pods: state.allocPods - state.podCount - heldPods.length };
}

/** The node of a reservation, for deciding about its successor. */
export function capacityFacts(cluster: Nodes, reservations: Pick<Reservations, 'on'>, name: string): CapacityFacts {
  const state = cluster.node(name);
  if (state === undefined) return { node: undefined, spare: undefined };
  return {
    node: state.node,
    spare: spareOf(
      state,
      reservations.on(name).map(({ heldPod }) => heldPod),
    ),
  };
}

/** Whether the last of these reservations fits beside the others and the node's pods. */
export function stillFit(cluster: Nodes, together: readonly Reservation[]): boolean {
  const [last] = together.slice(-1);
  const state = last && cluster.node(last.node);
  if (last === undefined || state === undefined) return together.length === 0;
  const others = together.slice(0, -1).map(({ heldPod }) => heldPod);
  return fits(last.heldPod.requests, spareOf(state, others));
}

function fits({ cpu, memory, ephemeral, scalars }: Requests, free: Free): boolean {
  return (
    free.pods >= 1 &&
    cpu <= Math.max(0, free.cpu) &&
    memory <= Math.max(0, free.memory) &&
    ephemeral <= Math.max(0, free.ephemeral) &&
    [...scalars].every(([name, amount]) => amount <= (free.scalars.get(name) ?? 0))
  );
}

/** Unlike names, it ends with `-`: no pod of the API server has such a UID. */
function heldPodUid(oldUid: string): string {
  return `room-of-${oldUid}-`;
}

/** The deleted pod as it was before its deletion, without deletionTimestamp. */
export function heldPodOf(pod: PodInfo): PodInfo {
  return podInfoOf(heldPodObject(pod, heldPodUid(pod.uid), pod.nodeName));
}

/**
 * The held pod once the successor is known: the successor's own fields, with the requests that the reservation covers. What it requests beyond that is added as
 * far as it was free at that moment, so that a reservation never takes capacity that other pods use.
 * @param spare - undefined: nothing is free, or nothing is to be added
 */
export function heldPodOfSuccessor(heldPod: PodInfo, successor: PodInfo, spare: Spare | undefined): PodInfo {
  const info = podInfoOf(heldPodObject(successor, heldPod.uid, heldPod.nodeName));
  return { ...info, requests: keptOf(heldPod.requests, successor.requests, spare) };
}

/**
 * Whether some pod may fit beside `after` and not beside `before`. A mere change of order counts too, which costs little.
 */
export function isEased(before: PodInfo, after: PodInfo): boolean {
  const [was, is] = [before.requests, after.requests];
  if (is.cpu < was.cpu || is.memory < was.memory || is.ephemeral < was.ephemeral) return true;
  for (const [name, amount] of was.scalars) if ((is.scalars.get(name) ?? 0) < amount) return true;
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  return !(
    same(before.ports, after.ports) &&
    same(labelsOf(before), labelsOf(after)) &&
    same(before.pod.spec?.affinity, after.pod.spec?.affinity) &&
    same(claimsOf(before), claimsOf(after))
  );
}

/** Labels that rules of other pods may select. The revision's label is excluded: it changes with every upgrade. */
function labelsOf({ labels }: PodInfo): unknown {
  return Object.entries(labels).filter(([name]) => name !== 'controller-revision-hash');
}

function heldPodObject({ pod }: PodInfo, uid: string, nodeName: string): Pod {
  const { namespace, name, labels, ownerReferences } = pod.metadata;
  const metadata = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    uid,
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...pod.spec, containers: pod.spec?.containers ?? [], nodeName } };
}

function keptOf(old: Requests, wanted: Requests, spare: Spare | undefined): Requests {
  const cpu = kept(old.cpu, wanted.cpu, spare?.cpu);
  const memory = kept(old.memory, wanted.memory, spare?.memory);
  const scalars = new Map<string, number>();
  for (const [name, amount] of wanted.scalars) {
    const keeps = kept(old.scalars.get(name) ?? 0, amount, spare?.scalars.get(name));
    if (keeps > 0) scalars.set(name, keeps);
  }
  return {
    cpu,
    memory,
    ephemeral: kept(old.ephemeral, wanted.ephemeral, spare?.ephemeral),
    scalars,
    // Scores do not count what is not reserved.
    scoredCpu: wanted.scoredCpu - (wanted.cpu - cpu),
    scoredMemory: wanted.scoredMemory - (wanted.memory - memory),
  };
}

function kept(old: number, wanted: number, spare = 0): number {
  return Math.min(wanted, old + Math.max(0, spare));
}

/** Names of the claims that the pod's volumes use, including those of generic ephemeral volumes. */
export function claimsOf({ pod, name }: PodInfo): string[] {
  const claims: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim !== undefined) claims.push(volume.persistentVolumeClaim.claimName);
    else if (volume.ephemeral !== undefined) claims.push(`${name}-${volume.name}`);
  }
  return claims;
}
