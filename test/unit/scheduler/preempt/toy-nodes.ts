import type { WhatIf } from '../../../../scheduler/engine/node-trial.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { PreemptionFacts } from '../../../../scheduler/preempt/candidates.ts';
import type { Budget } from '../../../../scheduler/types.ts';
import { pod } from '../builders.ts';

/*
 * Nodes that know cpu alone. A pod is written NAME PRIORITY CPU, with +MINUTES when it has started, that long after noon, and #LABEL: `web 5 2 +30 #a`.
 */

export const NOW = '2026-01-01T18:00:00.000Z';

export function toyPod(text: string, node = 'n'): PodInfo {
  const [name = '', priority, cpu = '0', ...more] = text.split(' ');
  const built = pod(name).on(node).priority(Number(priority)).cpu(cpu);
  for (const word of more) {
    if (word.startsWith('+')) built.started(new Date(Date.parse('2026-01-01T12:00:00Z') + Number(word) * 60_000).toISOString());
    if (word.startsWith('#')) built.labels({ app: word.slice(1) });
  }
  return podInfoOf(built.build());
}

export const toyPods = (text: string, node = 'n'): PodInfo[] => (text === '' ? [] : text.split(', ').map((one) => toyPod(one, node)));

/** `nominated`: what is kept on the node for others who are at least as important as the incoming pod. */
export class ToyNode implements WhatIf {
  readonly node: string;
  readonly pods: readonly PodInfo[];
  readonly #wants: number;
  #free: number;
  readonly #there: Set<PodInfo>;

  constructor(node: string, cpus: number, pods: readonly PodInfo[], incoming: PodInfo, nominated = 0) {
    this.node = node;
    this.pods = pods;
    this.#there = new Set(pods);
    this.#wants = incoming.requests.cpu;
    this.#free = (cpus - nominated) * 1000 - pods.reduce((sum, { requests }) => sum + requests.cpu, 0);
  }

  remove(pod: PodInfo): void {
    if (!this.#there.delete(pod)) throw new RangeError(`${pod.name} is not there`);
    this.#free += pod.requests.cpu;
  }

  add(pod: PodInfo): void {
    if (this.#there.has(pod)) throw new RangeError(`${pod.name} is there`);
    this.#there.add(pod);
    this.#free -= pod.requests.cpu;
  }

  fits(): boolean {
    return this.#wants <= this.#free;
  }

  reasons(): readonly string[] {
    return this.fits() ? [] : ['Insufficient cpu'];
  }
}

export interface ToyCluster {
  incoming: string;
  /** Pods by node; all nodes have `cpus`. */
  nodes: Record<string, string>;
  cpus?: number;
  nominated?: Record<string, number>;
  budgets?: readonly Budget[];
  offset?: number;
  limits?: PreemptionFacts['limits'];
  /** Told of each node that is tried. */
  onTry?: (node: string) => void;
}

export function toyFacts({
  incoming,
  nodes,
  cpus = 4,
  nominated = {},
  budgets = [],
  offset = 0,
  limits,
  onTry,
}: ToyCluster): PreemptionFacts {
  const wants = toyPod(incoming, '');
  const candidates = Object.entries(nodes).map(([node, text]) => {
    const there = toyPods(text, node);
    return {
      node,
      lowest: Math.min(...there.map(({ priority }) => priority)),
      tryOut: () => {
        onTry?.(node);
        return new ToyNode(node, cpus, there, wants, nominated[node]);
      },
    };
  });
  return {
    pod: wants,
    nodes: candidates.length,
    candidates,
    budgets,
    offset,
    limits: limits ?? { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100 },
    now: NOW,
  };
}

/** @param selector - undefined: it has none */
export function budget(
  name: string,
  allowed: number,
  selector: object | undefined,
  more: { namespace?: string; counted?: string[] } = {},
): Budget {
  return {
    metadata: { name, namespace: more.namespace ?? 'default' },
    spec: { maxUnavailable: 1, ...(selector === undefined ? {} : { selector }) },
    status: {
      disruptionsAllowed: allowed,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
      disruptedPods: Object.fromEntries((more.counted ?? []).map((pod) => [pod, NOW])),
    },
  };
}
