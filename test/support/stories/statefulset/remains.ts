import { linesOf } from '../remains.ts';
import type { Remains } from '../remains.ts';

/**
 * What is told by chance: of a server that saw the old pod go in the very moment in which the new one came; by kube-controller-manager, of a deletion that it
 * had not seen yet when it deleted once more; of a claim that was seen while it was being deleted.
 */
const isChance =
  /could not be completed at this time, please try again|^[Dd]elete Pod .* failed error: pods ".*" not found$|pvc \S+ is being deleted$/;

/**
 * What a story of StatefulSets left behind. Names stay: a set's pods, claims and revisions are called the same whoever keeps it.
 * @param anyOrder - pods come and go as chance has it
 */
export function statefulSetLines(remains: Remains, anyOrder: boolean): string[] {
  const course = anyOrder
    ? remains.course.toSorted().map((step) => `any ${step}`)
    : remains.course.map((step, n) => `${String(n).padStart(2, '0')} ${step}`);
  return linesOf(
    'StatefulSet',
    { ...remains, course },
    {
      isChance: (message) => isChance.test(message),
      // What fails is tried again as often as there is time, and kube-controller-manager may delete a pod that is terminating already.
      counted: /^Event Normal Successful(Create|Update) /,
    },
  );
}
