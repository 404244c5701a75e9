import { resolveIntOrPercent } from '../../kube/api/int-or-percent.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Verdict } from './judge.ts';
import type { Rules } from './rules.ts';
import type { Summary } from './summary.ts';

/** How far an update may go in one look. */
export interface Limits {
  /** Nodes that may be without an available pod at once. 0 while surging. */
  maxUnavailable: number;
  /** Nodes that may have a new pod beside the old one at once. */
  maxSurge: number;
  /** Nodes that may still be given the present revision; Infinity unless a partition keeps some at the old one. */
  room: number;
  /** Whether pods may be replaced on the node, leaving `room` aside. */
  mayUpdate: (verdict: Verdict) => boolean;
}

/** Counts and shares are of the desired nodes, shares rounded up. What cannot be read is the default. */
export function limitsOf(rules: Rules, { counts, renewed }: Summary): Limits {
  const { optIns, update } = rules;
  const { desired } = counts;
  const of = (value: number | string | undefined): number | undefined => resolveIntOrPercent(value, desired, { round: 'up' });
  const maxSurge = update.type === 'RollingUpdate' ? (of(update.maxSurge) ?? 0) : 0;
  const asked = update.type === 'RollingUpdate' ? (of(update.maxUnavailable) ?? 1) : 0;
  // With both at nothing no update would ever end.
  const maxUnavailable = asked === 0 && maxSurge === 0 && desired > 0 ? 1 : asked;
  const kept = of(optIns.partition) ?? 0;
  const room = kept > 0 ? Math.max(0, desired - kept - renewed) : Infinity;
  const { rolloutNodes } = optIns;
  return {
    maxUnavailable,
    maxSurge,
    room,
    mayUpdate: ({ cell }) => rolloutNodes === undefined || matchesLabels(rolloutNodes, cell.known?.object.metadata.labels),
  };
}
