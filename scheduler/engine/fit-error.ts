import type { Rejector } from '../plugins/names.ts';
import type { Rejection } from '../plugins/rejection.ts';

/** Why a pod found no place. */
export interface FitError {
  /** Nodes there are. */
  readonly nodes: number;
  /** Nodes by reason; a node with several reasons counts for each. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Why no node can help, where that is so: then nodes were not asked. */
  readonly everywhere: string | undefined;
  readonly by: ReadonlySet<Rejector>;
  /** Nodes where it may help to take pods away. */
  readonly resolvable: number;
}

/**
 * What nodes say, told together.
 * @param nodes - nodes there are
 * @param refused - by rejection how many nodes say so; the same rejection may come more than once, and with 0 it does not count
 */
export function fitErrorOf(nodes: number, refused: Iterable<readonly [Rejection, number]>): FitError {
  const reasons = new Map<string, number>();
  const by = new Set<Rejector>();
  let resolvable = 0;
  for (const [rejection, count] of refused) {
    if (count === 0) continue;
    by.add(rejection.plugin);
    if (rejection.resolvable) resolvable += count;
    for (const reason of rejection.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }
  return { nodes, reasons, everywhere: undefined, by, resolvable };
}

/** As people read it: `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.` @param more - said after it, such as what preemption found */
export function fitErrorText({ nodes, reasons, everywhere }: FitError, more = ''): string {
  if (nodes === 0) return 'no nodes available to schedule pods';
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted(byText);
  const why = everywhere !== undefined ? ` ${everywhere}.` : counted.length === 0 ? '' : ` ${counted.join(', ')}.`;
  return `0/${nodes} nodes are available:${why}${more === '' ? '' : ` ${more}`}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
