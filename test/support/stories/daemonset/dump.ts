import type { DaemonSet, Pod } from '../../../../controllers/daemonset/types.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { Revision } from '../world.ts';

/** Everything that a story left behind. */
export interface Remains {
  sets: readonly DaemonSet[];
  pods: readonly Pod[];
  revisions: readonly Revision[];
  /** Of the DaemonSet controller. */
  events: readonly Event[];
  notes: readonly string[];
  /** Undefined when it came to its end. */
  failure?: string;
}

export interface Event extends KubeObject {
  reason?: string;
  message?: string;
  type?: string;
  count?: number | null;
  involvedObject?: { kind?: string; name?: string };
  source?: { component?: string };
  reportingComponent?: string;
}

const HASH = 'controller-revision-hash';

/** Fields whose values are no two times the same, or that say nothing. */
const dropped = new Set(
  (
    'uid resourceVersion selfLink managedFields creationTimestamp namespace deletionTimestamp deletionGracePeriodSeconds ' +
    'lastTransitionTime lastProbeTime startTime startedAt finishedAt'
  ).split(' '),
);

/**
 * One line for each field of each object, sorted, without what differs from one run to the next: times, versions, the random end of names. Revisions are
 * called by letters, in the order of their content; events count together when they say the same of pods of the same set.
 * @param anyNode - it is left to chance which node is first: they are all called `node`
 */
export function dump({ sets, pods, revisions, events, notes, failure }: Remains, story: string, anyNode: boolean): string[] {
  const plain = renaming({ sets, revisions, pods }, story, anyNode);
  const lines = [
    ...sets.flatMap((set) => fields(`DaemonSet ${set.metadata.name}`, set)),
    ...revisions.flatMap((revision) => fields(`ControllerRevision ${revision.metadata.name}`, revision)),
    ...pods.flatMap((pod) => fields(`Pod ${pod.metadata.name} on ${pod.spec?.nodeName ?? 'none'}`, podWithoutRuntime(pod))),
    ...notes.map((note) => `note ${note}`),
    ...(failure === undefined ? [] : [`FAILED ${failure}`]),
  ];
  return [...lines.map(plain), ...tellings(events, plain)].toSorted();
}

/** What was told, by type, reason, message and object; of creations how often. A pod that ends may be deleted more than once. */
function tellings(events: readonly Event[], plain: (text: string) => string): string[] {
  const counts = new Map<string, number>();
  for (const { type, reason, message = '', involvedObject, count } of events) {
    const text = message.replace(/^\(combined from similar events\): /, '');
    const told = plain(`Event ${type} ${reason} of ${involvedObject?.kind} ${involvedObject?.name}: ${text}`);
    counts.set(told, (counts.get(told) ?? 0) + (count ?? 1));
  }
  return [...counts].map(([told, count]) => (/ SuccessfulCreate /.test(told) ? `${told} (${count})` : told));
}

/** What kubelets say of a pod beyond its phase is not the controller's. */
export function podWithoutRuntime({ status, ...pod }: Pod): KubeObject {
  return { ...pod, status: { phase: status?.phase }, ending: pod.metadata.deletionTimestamp !== undefined };
}

function renaming(
  { sets, revisions, pods }: Pick<Remains, 'sets' | 'revisions' | 'pods'>,
  story: string,
  anyNode: boolean,
): (text: string) => string {
  const byContent = revisions.toSorted((a, b) => (stable(a.data) < stable(b.data) ? -1 : 1));
  const ends = byContent.flatMap(({ metadata: { name = '' } }) => name.split('-').at(-1) ?? []);
  const hashes = [...new Set([...ends, ...pods.flatMap(({ metadata }) => metadata.labels?.[HASH] ?? [])])];
  const letters = hashes.filter((hash) => hash.length > 5).map((hash, n) => [hash, `<${String.fromCodePoint(65 + n)}>`] as const);
  // Of a long name, generated ones keep only the beginning.
  const long = sets.flatMap(({ metadata: { name = '' } }) =>
    name.length < 58 ? [] : [new RegExp(`\\b(${name.slice(0, 58)})\\w{5}\\b`, 'g')],
  );
  return (text) => {
    for (const pattern of long) text = text.replace(pattern, '$1*');
    for (const [hash, letter] of letters) text = text.replaceAll(hash, letter);
    text = text.replace(/\b([a-z]+-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1*');
    return anyNode ? text.replaceAll(new RegExp(`\\b${story}-\\d+\\b`, 'g'), 'node') : text;
  };
}

/** One line for each value in it, but for what is no two times the same. */
export function fields(name: string, value: unknown, path = ''): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [`${name} ${path} = ${JSON.stringify(value)}`];
  const entries = Array.isArray(value) ? value.map((item, n) => [`[${n}]`, item] as const) : Object.entries(value);
  const kept = entries.filter(([field]) => !dropped.has(field));
  if (kept.length === 0) return entries.length === 0 ? [`${name} ${path} = ${Array.isArray(value) ? '[]' : '{}'}`] : [];
  return kept.flatMap(([field, part]) => fields(name, part, field.startsWith('[') || path === '' ? path + field : `${path}.${field}`));
}

/** JSON with sorted keys and without nulls. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part)
            .filter(([, one]) => one !== null)
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        )
      : part,
  );
}

/** Lines that only one has, as often as it has them more: `- LINE` of `upstream`, `+ LINE` of `ours`. */
export function differing(upstream: readonly string[], ours: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of upstream) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of ours) counts.set(line, (counts.get(line) ?? 0) - 1);
  return [...counts].flatMap(([line, count]) => Array.from({ length: Math.abs(count) }, () => `${count > 0 ? '-' : '+'} ${line}`));
}
