import { HASH_LABEL } from '../common/history/contract.ts';
import type { Counts, Standing, NodeState } from './judge.ts';
import type { Pod } from './types.ts';

type Sums = { -readonly [count in keyof Counts]: number };

/**
 * All nodes of a set together. Adding a node's verdict and taking it away again are exact opposites, so that a change of one node costs one node,
 * and what comes out is what a recount of all would give.
 */
export class Summary {
  readonly counts: Sums = { desired: 0, current: 0, ready: 0, available: 0, updated: 0, misscheduled: 0 };
  readonly standings: Record<Standing, number> = {
    outside: 0,
    empty: 0,
    updated: 0,
    updating: 0,
    old: 0,
    broken: 0,
    both: 0,
    excess: 0,
  };
  /** Nodes whose old pod, or new one where there is no old, is available. */
  serving = 0;
  /** Nodes that should run and have a pod of the present revision, ready or not. */
  renewed = 0;
  /** Pods of each revision, by hash; those that have ended and are going too. */
  readonly hashes = new Map<string, number>();
  /** Nodes where there is something to do, to wait for or to update. */
  readonly pendingNodes = new Map<string, NodeState>();

  add(verdict: NodeState): void {
    this.#count(verdict, 1);
    if (!verdict.settled) this.pendingNodes.set(verdict.cell.node, verdict);
  }

  remove(verdict: NodeState): void {
    this.#count(verdict, -1);
    this.pendingNodes.delete(verdict.cell.node);
  }

  /** Restless nodes by name, so that the same cluster gives the same plan. */
  inOrder(): NodeState[] {
    return [...this.pendingNodes.values()].toSorted(byName);
  }

  /** Those where something may have to be done, without those that are only waited for: while a thousand pods become ready these are most. */
  actionable(): NodeState[] {
    return [...this.pendingNodes.values()].filter(({ work, standing }) => work !== undefined || !QUIET.has(standing)).toSorted(byName);
  }

  #count({ counts, standing, serves, cell, fresh }: NodeState, by: 1 | -1): void {
    const { counts: sums } = this;
    sums.desired += by * counts.desired;
    sums.current += by * counts.current;
    sums.ready += by * counts.ready;
    sums.available += by * counts.available;
    sums.updated += by * counts.updated;
    sums.misscheduled += by * counts.misscheduled;
    this.standings[standing] += by;
    if (serves) this.serving += by;
    if (fresh !== undefined && cell.known?.decision.run === true) this.renewed += by;
    for (const pod of cell.pods) this.#countHash(pod, by);
    for (const pod of cell.ended) this.#countHash(pod, by);
  }

  #countHash({ metadata }: Readonly<Pod>, by: 1 | -1): void {
    const hash = metadata.labels?.[HASH_LABEL];
    if (hash === undefined) return;
    const count = (this.hashes.get(hash) ?? 0) + by;
    if (count === 0) this.hashes.delete(hash);
    else this.hashes.set(hash, count);
  }
}

/** Nothing is replaced there. */
const QUIET: ReadonlySet<Standing> = new Set(['outside', 'updated', 'updating']);

const byName = (a: NodeState, b: NodeState): number => (a.cell.node < b.cell.node ? -1 : 1);

/** From nothing. */
export function summarize(verdicts: Iterable<NodeState>): Summary {
  const summary = new Summary();
  for (const verdict of verdicts) summary.add(verdict);
  return summary;
}
