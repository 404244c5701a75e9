import type { NodeState } from '../cache/node-state.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Requests } from '../pod/requests.ts';
import type { Reservation, Reservations, CapacityFacts, Spare } from './contract.ts';

/** Where nodes are looked up. */
type Nodes = { node(name: string): NodeState | undefined };

type Free = Spare & { pods: number };

/** What a node has free beside its pods, and beside these held pods. */
export function spareOf(state: NodeState, heldPods: readonly PodInfo[]): Free {
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

/** The node on which room is kept, for whoever sees the successor. */
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

/** Whether all these rooms still are there, together, beside the node's pods. */
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
