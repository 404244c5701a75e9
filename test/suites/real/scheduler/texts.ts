/**
 * What 1.20 says in other words, as we say it, and without what it says besides.
 * @returns lines `COUNT REASON`, sorted, after the first one, which counts the nodes
 */
export function reasonsOf(text: string): string[] {
  const [, head = '', list = ''] = /^(.*? nodes are available): (.*)\.$/.exec(withoutPreemption(text)) ?? [];
  if (head === '') return [text];
  const reasons = list.split(/, (?=\d+ )/).map(asWeSay);
  return [head, ...reasons.filter((reason) => !generic.test(reason)).toSorted()];
}

/** Whether both give the same reasons. */
export function sameReasons(upstream: string, own: string): boolean {
  // From 1.35 on no taint is named.
  const read = upstream.includes(ANY_TAINT) ? (text: string) => withoutTaints(reasonsOf(text)) : reasonsOf;
  const [theirs, ours] = [read(upstream), read(own)];
  const unasked = ours.find((reason) => outside.test(reason));
  if (unasked === undefined) return JSON.stringify(theirs) === JSON.stringify(ours);
  // For a pod that names its nodes, later versions do not ask the others at all; 1.20 has a reason for each of them, one that comes before any with two parts.
  const asked = ours.filter((reason) => reason !== unasked);
  const more = subtracted(theirs, asked);
  return more !== undefined && sum(more) === sum([unasked]);
}

const ANY_TAINT = 'node(s) had untolerated taint(s)';

/** Reasons that name taints as the one that names none. */
function withoutTaints([head = '', ...reasons]: readonly string[]): string[] {
  const counts = reasons
    .map(counted)
    .map(([reason, count]) => [reason.startsWith('node(s) had untolerated taint') ? ANY_TAINT : reason, count] as const);
  const sums = new Map<string, number>();
  for (const [reason, count] of counts) sums.set(reason, (sums.get(reason) ?? 0) + count);
  return [head, ...[...sums].map(([reason, count]) => `${count} ${reason}`).toSorted()];
}

/** Said besides the reason proper, by 1.20 alone. */
const generic = /^\d+ node\(s\) didn't match pod affinity\/anti-affinity$/;
const outside = /^\d+ node\(s\) didn't satisfy plugin\(s\) \[NodeAffinity\]$/;

const words: readonly (readonly [RegExp, string])[] = [
  [/had taint \{(.*)\}, that the pod didn't tolerate$/, 'had untolerated taint {$1}'],
  [/didn't match Pod's node affinity$/, "didn't match Pod's node affinity/selector"],
  // From 1.36 on at the latest.
  [/node\(s\) didn't match PersistentVolume's node affinity$/, 'node(s) had volume node affinity conflict'],
  [
    /node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod$/,
    'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
  ],
];

function asWeSay(reason: string): string {
  return words.reduce((said, [pattern, ours]) => said.replace(pattern, ours), reason);
}

const withoutPreemption = (text: string): string => text.replace(/ preemption: .*$/, '');

/** Reasons of `all` without those of `part`, count by count. @returns undefined when `part` has more */
function subtracted(all: readonly string[], part: readonly string[]): string[] | undefined {
  const left = new Map(all.map(counted));
  for (const [reason, count] of part.map(counted)) left.set(reason, (left.get(reason) ?? 0) - count);
  const rest = [...left].filter(([, count]) => count !== 0);
  return rest.some(([, count]) => count < 0) ? undefined : rest.map(([reason, count]) => `${count} ${reason}`);
}

/** The line that counts the nodes counts as once. */
function counted(line: string): [string, number] {
  const [, count = '1', reason = line] = /^(\d+) (.*)$/.exec(line) ?? [];
  return [reason, Number(count)];
}

const sum = (lines: readonly string[]): number => lines.reduce((all, one) => all + counted(one)[1], 0);
