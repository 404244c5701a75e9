import type { KubeObject } from '../api/object.ts';
import { controllerOf } from './owner-refs.ts';

/** keep: ours already; adopt: an orphan that should be ours; release: ours, and should not be; ignore: nothing to us. */
export type Claim = 'keep' | 'adopt' | 'release' | 'ignore';

/**
 * Whose an object is and whose it should be.
 *
 * | controller   | selected | owner deleting | object deleting | claim   |
 * | ------------ | -------- | -------------- | --------------- | ------- |
 * | another UID  | -        | -              | -               | ignore  |
 * | ours         | yes      | -              | -               | keep    |
 * | ours         | no       | no             | -               | release |
 * | ours         | no       | yes            | -               | ignore  |
 * | none         | yes      | no             | no              | adopt   |
 * | none         | any other                                   | ignore  |
 *
 * An object of another namespace is never adopted.
 * @param selected - the owner's selector (and name rule, where it has one) matches
 */
export function claimOf(owner: Readonly<KubeObject>, object: Readonly<KubeObject>, selected: boolean): Claim {
  const controller = controllerOf(object);
  const leaving = owner.metadata.deletionTimestamp !== undefined;
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return 'ignore';
    if (selected) return 'keep';
    return leaving ? 'ignore' : 'release';
  }
  const near = (owner.metadata.namespace ?? '') === (object.metadata.namespace ?? '');
  return selected && near && !leaving && object.metadata.deletionTimestamp === undefined ? 'adopt' : 'ignore';
}

export interface ClaimPlan<T extends KubeObject> {
  keep: Readonly<T>[];
  adopt: Readonly<T>[];
  release: Readonly<T>[];
}

/** {@link claimOf} for all candidates, each group in their order. */
export function planClaim<T extends KubeObject>(
  owner: Readonly<KubeObject>,
  candidates: Iterable<Readonly<T>>,
  selects: (object: Readonly<T>) => boolean,
): ClaimPlan<T> {
  const plan: ClaimPlan<T> = { keep: [], adopt: [], release: [] };
  for (const object of candidates) {
    const claim = claimOf(owner, object, selects(object));
    if (claim !== 'ignore') plan[claim].push(object);
  }
  return plan;
}
