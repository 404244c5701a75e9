import type { Pod } from '../../../controllers/common/types.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import type { Revision } from './world.ts';

/** Everything that a story left behind. */
export interface Remains {
  /** DaemonSets or StatefulSets. */
  sets: readonly KubeObject[];
  pods: readonly Pod[];
  /** PersistentVolumeClaims. */
  claims: readonly KubeObject[];
  revisions: readonly Revision[];
  /** Of the controller. */
  events: readonly Event[];
  /** What the story itself found out. */
  notes: readonly string[];
  /** Pods made and gone, in their order; empty where the order is left to chance. */
  course: readonly string[];
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
  reportingInstance?: string;
}

/** What is written otherwise for one kind. */
export interface Notation {
  /** Takes away of a line what differs from one run to the next. @default nothing */
  plain?: (text: string) => string;
  podName?: (pod: Pod) => string;
  /** Events that come by chance. @default none */
  isChance?: (message: string) => boolean;
  /** Events that are counted; of others it is left to chance how often they come. */
  counted: RegExp;
}

/** Fields whose values are no two times the same, or that say nothing. */
const dropped = new Set(
  (
    'uid resourceVersion selfLink managedFields creationTimestamp namespace deletionTimestamp deletionGracePeriodSeconds ' +
    'lastTransitionTime lastProbeTime startTime startedAt finishedAt'
  ).split(' '),
);

/**
 * One line for each field of each object, sorted, without times, uids and versions; events count together when they say the same.
 * @param kind - of the sets
 */
export function linesOf(kind: string, remains: Remains, notation: Notation): string[] {
  const { sets, pods, claims, revisions, notes, course, failure } = remains;
  const { plain = (text) => text, podName = ({ metadata }) => metadata.name ?? '' } = notation;
  const lines = [
    ...sets.flatMap((set) => fields(`${kind} ${set.metadata.name}`, set)),
    ...revisions.flatMap((revision) => fields(`ControllerRevision ${revision.metadata.name}`, revision)),
    ...pods.flatMap((pod) => fields(`Pod ${podName(pod)}`, podWithoutRuntime(pod))),
    ...claims.flatMap((claim) => fields(`Claim ${claim.metadata.name}`, { ...claim, ending: isEnding(claim) })),
    ...notes.map((note) => `note ${note}`),
    ...course.map((step) => `step ${step}`),
    ...(failure === undefined ? [] : [`FAILED ${failure}`]),
  ];
  return [...lines.map(plain), ...eventLines(remains.events, { ...notation, plain })].toSorted();
}

/** Type, reason, message and object of each event, and how often it came where that is not left to chance. */
function eventLines(events: readonly Event[], { plain, isChance, counted }: Notation & Required<Pick<Notation, 'plain'>>): string[] {
  const counts = new Map<string, number>();
  for (const { type, reason, message = '', involvedObject, count } of events) {
    if (isChance?.(message) === true) continue;
    const text = message.replace(/^\(combined from similar events\): /, '');
    const line = plain(`Event ${type} ${reason} of ${involvedObject?.kind} ${involvedObject?.name}: ${text}`);
    counts.set(line, (counts.get(line) ?? 0) + (count ?? 1));
  }
  return [...counts].map(([line, count]) => (counted.test(line) ? `${line} (${count})` : line));
}

/**
 * What kubelets say of a pod beyond its phase is not the controller's, kube-controller-manager writes volumes of claims in any order, and servers from 1.33 on
 * count the generations of pods.
 */
function podWithoutRuntime({ status, spec, metadata, ...pod }: Pod): KubeObject {
  const volumes = spec?.volumes?.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const { generation: _, ...kept } = metadata;
  return {
    ...pod,
    metadata: kept,
    spec: volumes === undefined ? spec : { ...spec, volumes },
    status: { phase: status?.phase },
    ending: isEnding({ metadata }),
  };
}

const isEnding = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** One line for each value in it, but for what is no two times the same. */
function fields(name: string, value: unknown, path = ''): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [`${name} ${path} = ${JSON.stringify(value)}`];
  const entries = Array.isArray(value) ? value.map((item, n) => [`[${n}]`, item] as const) : Object.entries(value);
  const kept = entries.filter(([field]) => !dropped.has(field));
  if (kept.length === 0) return entries.length === 0 ? [`${name} ${path} = ${Array.isArray(value) ? '[]' : '{}'}`] : [];
  return kept.flatMap(([field, part]) => fields(name, part, field.startsWith('[') || path === '' ? path + field : `${path}.${field}`));
}

/** Lines that only one has, as often as it has them more: `- LINE` of `upstream`, `+ LINE` of `ours`. */
export function differing(upstream: readonly string[], ours: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of upstream) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of ours) counts.set(line, (counts.get(line) ?? 0) - 1);
  return [...counts].flatMap(([line, count]) => Array.from({ length: Math.abs(count) }, () => `${count > 0 ? '-' : '+'} ${line}`));
}
