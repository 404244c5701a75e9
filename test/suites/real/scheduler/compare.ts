import { best } from './score-log.ts';
import type { Points, Scored } from './score-log.ts';
import { sameReasons } from './texts.ts';
import type { Verdict } from './trial.ts';

/** How two schedulers differ on a pod. @param points - those of nodes that would do; without them only one node would */
export function differing(upstream: Verdict, own: Verdict, points: Scored | undefined): string | undefined {
  if ('refused' in upstream) {
    return 'refused' in own
      ? otherWords(upstream.refused, own.refused)
      : `ours placed it on ${own.node}; kube-scheduler: ${upstream.refused}`;
  }
  if ('refused' in own) return `kube-scheduler placed it on ${upstream.node}; ours: ${own.refused}`;
  const equals = points === undefined ? new Set([upstream.node]) : best(points.total);
  return equals.has(own.node) ? undefined : `kube-scheduler chose ${upstream.node}, ours ${own.node}; points\n${table(points)}`;
}

/**
 * Points that 1.20 counts otherwise than later versions: how pods are spread is cut off instead of rounded, and affinity to other pods is measured from
 * nothing, instead of from the node that has least of it.
 */
export const recounted = ['PodTopologySpread', 'InterPodAffinity'] as const;

/** What kube-scheduler gave, and of those that it counts otherwise what `later` gives. */
export function asLater(scored: Scored | undefined, later: Scored): Scored | undefined {
  if (scored === undefined) return undefined;
  const each = new Map([...scored.each, ...recounted.map((name) => [name, later.each.get(name) ?? new Map<string, number>()] as const)]);
  const sum = (node: string): number => [...each.values()].reduce((all, points) => all + (points.get(node) ?? 0), 0);
  return { each, total: new Map([...scored.total.keys()].map((node) => [node, sum(node)])) };
}

/** The same nodes, none better than another. */
export function unranked(scored: Scored | undefined): Scored | undefined {
  return scored && { each: new Map(), total: new Map([...scored.total.keys()].map((node) => [node, 0])) };
}

/** Whether both give the nodes the same for it; undefined when kube-scheduler gives all nodes the same. */
export function countsAlike(name: (typeof recounted)[number], scored: Scored | undefined, later: Scored): boolean | undefined {
  const theirs = abovePoorest(scored?.each.get(name) ?? new Map());
  return most(theirs) <= 0 ? undefined : line(theirs) === line(abovePoorest(later.each.get(name) ?? new Map()));
}

/** Affinity to other pods on another scale is still the same affinity, but for what the coarser scale loses. */
export function affinityDiffers(scored: Scored | undefined, later: Scored): string | undefined {
  const [theirs, ours] = [scored, later].map((one) => abovePoorest(one?.each.get('InterPodAffinity') ?? new Map()));
  if (theirs === undefined || ours === undefined || most(theirs) <= 0) return undefined;
  const loss = 1 / most(theirs) + 1 / 100;
  const isSame = [...theirs].every(([node, points]) => Math.abs(points / most(theirs) - (ours.get(node) ?? 0) / most(ours)) <= loss);
  return isSame ? undefined : `InterPodAffinity on any scale: kube-scheduler ${line(theirs)}; ours ${line(ours)}`;
}

const most = (points: Points): number => Math.max(...points.values());

/** Of the points that nodes have to have and those that ours gives them: by nodes that would do, in total, and by plugin where ours says so. */
export function pointsDiffer(
  upstream: Verdict,
  scored: Scored | undefined,
  own: { total: Points; each?: Scored['each']; refused: string },
): string | undefined {
  if ('refused' in upstream)
    return own.total.size === 0 ? otherWords(upstream.refused, own.refused) : `ours has nodes: ${[...own.total.keys()].join(' ')}`;
  if (scored === undefined) {
    const only = own.total.size === 1 && own.total.has(upstream.node);
    return only ? undefined : `only ${upstream.node} would do; ours has ${[...own.total.keys()].join(' ')} ${own.refused}`;
  }
  const upstreams: Scored['each'] = new Map([...(own.each === undefined ? [] : scored.each), ['all', scored.total]]);
  const owns: Scored['each'] = new Map([...(own.each ?? []), ['all', own.total]]);
  const lines = [...upstreams].flatMap(([name, points]) => {
    const [theirs, given] = [line(abovePoorest(points)), line(abovePoorest(owns.get(name) ?? new Map()))];
    return theirs === given ? [] : [`${name}: kube-scheduler ${theirs}; ours ${given}`];
  });
  return lines.length === 0 ? undefined : lines.join('\n');
}

function otherWords(upstream: string, own: string): string | undefined {
  return sameReasons(upstream, own) ? undefined : `refused with other words\n  kube-scheduler: ${upstream}\n  ours: ${own}`;
}

function table(scored: Scored | undefined): string {
  if (scored === undefined) return '  none';
  return [...scored.each, ['all', scored.total] as const].map(([name, points]) => `  ${name} ${line(points)}`).join('\n');
}

/** What everybody gets decides nothing: 1.20 gives 100 to all where we give none. */
function abovePoorest(points: Points): Points {
  const least = Math.min(...points.values());
  return new Map([...points].map(([node, count]) => [node, count - least]));
}

const line = (points: Points): string =>
  [...points]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, count]) => `${node}=${count}`)
    .join(' ');
