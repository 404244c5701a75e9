import type { Random } from '../../base/random.ts';
import type { NodeLoad } from '../../scheduler/cache/node-state.ts';
import type { Requests } from '../../scheduler/pod/pod-info.ts';

const COLUMNS = ['allocCpu', 'allocMemory', 'allocPods', 'usedCpu', 'usedMemory', 'scoredCpu', 'scoredMemory', 'podCount'] as const;
type Columns = Record<(typeof COLUMNS)[number], Float64Array>;

const MAX_SCORE = 100;
const HALF = MAX_SCORE / 2;

/**
 * The baseline for the engine: a simple scan of all nodes, in columns, for the best one. Only for pods with requests of CPU and memory;
 * with the scores of LeastAllocated and balanced allocation, each with weight 1, and the same choice among equals.
 */
export class FullScan {
  readonly #columns: Columns;
  readonly #count: number;
  readonly #tied: Int32Array;

  constructor(nodes: readonly NodeLoad[]) {
    this.#count = nodes.length;
    this.#columns = Object.fromEntries(COLUMNS.map((name) => [name, Float64Array.from(nodes, (node) => node[name])])) as Columns;
    this.#tied = new Int32Array(nodes.length);
  }

  /** Finds a node. @returns the node's index, -1 if none fits; and the number of equally good nodes */
  place(requests: Requests, random: Random): { node: number; ties: number } {
    const ties = this.#scan(requests);
    if (ties === 0) return { node: -1, ties };
    const node = this.#tied[Math.floor(random() * ties)] ?? 0;
    this.take(node, requests);
    return { node, ties };
  }

  /** Adds the pod to the node. */
  take(node: number, { cpu, memory, scoredCpu, scoredMemory }: Requests): void {
    const { usedCpu, usedMemory, scoredCpu: countedCpu, scoredMemory: countedMemory, podCount } = this.#columns;
    add(usedCpu, node, cpu);
    add(usedMemory, node, memory);
    add(countedCpu, node, scoredCpu);
    add(countedMemory, node, scoredMemory);
    add(podCount, node, 1);
  }

  #scan(requests: Requests): number {
    const { cpu, memory, scoredCpu, scoredMemory } = requests;
    const { allocCpu, allocMemory, allocPods, usedCpu, usedMemory, scoredCpu: countedCpu, scoredMemory: countedMemory } = this.#columns;
    const { podCount } = this.#columns;
    const tied = this.#tied;
    let best = -1;
    let ties = 0;
    for (let node = 0; node < this.#count; node++) {
      const [allCpu, allMemory] = [allocCpu[node] ?? 0, allocMemory[node] ?? 0];
      const [takenCpu, takenMemory] = [(usedCpu[node] ?? 0) + cpu, (usedMemory[node] ?? 0) + memory];
      if (takenCpu > allCpu || takenMemory > allMemory || (podCount[node] ?? 0) >= (allocPods[node] ?? 0)) continue;
      const least = share((countedCpu[node] ?? 0) + scoredCpu, allCpu) + share((countedMemory[node] ?? 0) + scoredMemory, allMemory);
      const before = balance((usedCpu[node] ?? 0) / allCpu, (usedMemory[node] ?? 0) / allMemory);
      const after = balance(takenCpu / allCpu, takenMemory / allMemory);
      const improvement = Math.trunc(HALF + Math.trunc((HALF + after - before) / 2));
      const points = Math.floor(least / 2) + improvement;
      if (points < best) continue;
      if (points > best) {
        best = points;
        ties = 0;
      }
      tied[ties++] = node;
    }
    return ties;
  }
}

function balance(cpu: number, memory: number): number {
  return Math.floor((1 - Math.abs(cpu - memory) / 2) * MAX_SCORE);
}

function share(used: number, capacity: number): number {
  return used > capacity ? 0 : Math.floor(((capacity - used) * MAX_SCORE) / capacity);
}

function add(column: Float64Array, at: number, amount: number): void {
  column[at] = (column[at] ?? 0) + amount;
}
