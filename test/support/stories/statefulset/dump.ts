import type { Claim, Pod, StatefulSet } from '../../../../controllers/statefulset/types.ts';
import { fields, podWithoutRuntime } from '../daemonset/dump.ts';
import type { Event } from '../daemonset/dump.ts';
import type { Revision } from '../world.ts';

/**
 * What is told by chance: of a server that saw the old pod go in the very moment in which the new one came; by kube-controller-manager, of a deletion that it
 * had not seen yet when it deleted once more.
 */
const isChance = /could not be completed at this time, please try again|^delete Pod .* failed error: pods ".*" not found$/;

/** Everything that a story left behind. */
export interface Remains {
  sets: readonly StatefulSet[];
  pods: readonly Pod[];
  claims: readonly Claim[];
  revisions: readonly Revision[];
  /** Of the StatefulSet controller. */
  events: readonly Event[];
  notes: readonly string[];
  /** Pods made and gone, in their order. */
  course: readonly string[];
  /** Undefined when it came to its end. */
  failure?: string;
}

/**
 * One line for each field of each object, sorted, without times, uids and versions. Names stay: a set's pods, claims and revisions are called the same
 * whoever keeps it.
 * @param anyOrder - pods come and go as chance has it
 */
export function dump({ sets, pods, claims, revisions, events, notes, course, failure }: Remains, anyOrder: boolean): string[] {
  const steps = anyOrder ? course.toSorted() : course;
  return [
    ...sets.flatMap((set) => fields(`StatefulSet ${set.metadata.name}`, set)),
    ...revisions.flatMap((revision) => fields(`ControllerRevision ${revision.metadata.name}`, revision)),
    ...pods.flatMap((pod) => fields(`Pod ${pod.metadata.name}`, podWithoutRuntime(volumesByName(pod)))),
    ...claims.flatMap((claim) =>
      fields(`Claim ${claim.metadata.name}`, { ...claim, ending: claim.metadata.deletionTimestamp !== undefined }),
    ),
    ...notes.map((note) => `note ${note}`),
    ...steps.map((step, n) => `step ${anyOrder ? 'any' : String(n).padStart(2, '0')} ${step}`),
    ...(failure === undefined ? [] : [`FAILED ${failure}`]),
    ...tellings(events),
  ].toSorted();
}

/** Volumes of claims come in whichever order with kube-controller-manager. */
function volumesByName(pod: Pod): Pod {
  const volumes = pod.spec?.volumes?.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return volumes === undefined || pod.spec === undefined ? pod : { ...pod, spec: { ...pod.spec, volumes } };
}

/**
 * What was told, by type, reason, message and object; of what was made or changed how often. What fails is tried again as often as there is time, and
 * kube-controller-manager may delete a pod that is going already.
 */
function tellings(events: readonly Event[]): string[] {
  const counts = new Map<string, number>();
  for (const { type, reason, message = '', involvedObject, count } of events) {
    if (isChance.test(message)) continue;
    const text = message.replace(/^\(combined from similar events\): /, '');
    const told = `Event ${type} ${reason} of ${involvedObject?.kind} ${involvedObject?.name}: ${text}`;
    counts.set(told, (counts.get(told) ?? 0) + (count ?? 1));
  }
  return [...counts].map(([told, count]) => (/^Event Normal Successful(Create|Update) /.test(told) ? `${told} (${count})` : told));
}
