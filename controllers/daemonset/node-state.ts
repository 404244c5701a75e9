import type { Millis } from '../../base/clock.ts';
import { availableIn, isReady } from '../common/pods.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import { type NodePods, isTerminating, isOver, isPlaced } from './pods.ts';
import type { Rules } from './rules.ts';
import type { Pod } from '../common/types.ts';

/** What one node adds to the numbers of the set's status: 0 or 1 each. */
export interface Counts {
  readonly desired: number;
  readonly current: number;
  readonly ready: number;
  readonly available: number;
  readonly updated: number;
  readonly misscheduled: number;
}

/**
 * The state of a node in an update, ignoring terminating pods.
 *
 * | updateState | pods there | counts as unavailable |
 * | --- | --- | --- |
 * | outside  | none, and none is wanted | no |
 * | empty    | none that stays | yes |
 * | updated  | one of the present revision, available | no |
 * | updating | one of the present revision, not available yet | yes |
 * | old      | one of another revision, available | no |
 * | broken   | one of another revision, not available | yes |
 * | both     | one of each | yes |
 * | excess   | more than one of a kind | yes |
 */
export type UpdateState = 'outside' | 'empty' | 'updated' | 'updating' | 'old' | 'broken' | 'both' | 'excess';

/** What is to be done on a node apart from updates. */
export interface Work {
  /** The node should have a pod and has none. */
  readonly create: boolean;
  /** Surplus or misplaced pods. */
  readonly remove: readonly Readonly<Pod>[];
  /** Failed pods: deleted with backoff. */
  readonly failed: readonly Readonly<Pod>[];
  readonly succeeded: readonly Readonly<Pod>[];
  /** The node has no room for a pod, or its host port is taken: evaluated again when that may have changed. */
  readonly suspended: boolean;
}

/** All that a set needs to know of one node. */
export interface NodeState {
  readonly nodePods: NodePods;
  readonly counts: Counts;
  readonly updateState: UpdateState;
  /** The first pod of the present revision, and the first of another one. */
  readonly fresh: Readonly<Pod> | undefined;
  readonly old: Readonly<Pod> | undefined;
  readonly freshAvailable: boolean;
  /** The old pod, or the new one when there is no old one, is available. */
  readonly serves: boolean;
  readonly work: Work | undefined;
  /** Wall clock, in ms: when time alone changes this state. */
  readonly changesAt: Millis | undefined;
  /** Nothing to do, to wait for, or to update here: only its counts matter. */
  readonly settled: boolean;
}

const GENERATION_LABEL = 'pod-template-generation';

const none: Counts = { desired: 0, current: 0, ready: 0, available: 0, updated: 0, misscheduled: 0 };
const allCounts: Counts = { desired: 1, current: 1, ready: 1, available: 1, updated: 1, misscheduled: 0 };
const noPods: readonly Readonly<Pod>[] = [];
const idle: Work = { create: false, remove: noPods, failed: noPods, succeeded: noPods, suspended: false };

/** @param hash - of the present revision. @param now - wall clock */
export function nodeStateOf(rules: Rules, hash: string, nodePods: NodePods, now: Millis): NodeState {
  const availability = (pod: Readonly<Pod>): Millis | undefined => availableIn(pod, rules.minReadyMs, now);
  const isFresh = (pod: Readonly<Pod>): boolean => isUpdated(pod, hash, rules);
  const update = updateOf(nodePods, isFresh, availability);
  const counts = countsOf(nodePods, isFresh, availability);
  const work = workOn(rules, nodePods, { isFresh, isAvailable: (pod) => availability(pod) === 0 });
  const changesAt = earliest(nodePods.pods, availability, now);
  const { updateState } = update;
  const settled =
    work === undefined &&
    changesAt === undefined &&
    (updateState === 'outside' || (updateState === 'updated' && counts.available === counts.current));
  return { nodePods, counts, ...update, work, changesAt, settled };
}

/**
 * Compares the hash. The template generation decides only for pods without a hash, which are older than ControllerRevisions: it starts at 1 with each set,
 * so the orphans of a deleted set would look up to date to the next set of its name. A revision that lost its label is labelled with its name, `SET-HASH`:
 * pods created before carry the hash alone, and pods created in between carry the whole name after the label is restored.
 */
function isUpdated({ metadata: { labels = {} } }: Readonly<Pod>, hash: string, { set, templateGeneration }: Rules): boolean {
  const own = labels[HASH_LABEL];
  if (own === undefined) return templateGeneration !== undefined && labels[GENERATION_LABEL] === templateGeneration;
  return own === hash || `${set.metadata.name}-${own}` === hash || own === `${set.metadata.name}-${hash}`;
}

type Update = Pick<NodeState, 'updateState' | 'fresh' | 'old' | 'freshAvailable' | 'serves'>;

function updateOf(
  { pods, known }: NodePods,
  isFresh: (pod: Readonly<Pod>) => boolean,
  availability: (pod: Readonly<Pod>) => Millis | undefined,
): Update {
  let [fresh, old]: (Readonly<Pod> | undefined)[] = [];
  let excess = false;
  for (const pod of pods) {
    if (isTerminating(pod)) continue;
    if (isFresh(pod)) {
      excess ||= fresh !== undefined;
      fresh ??= pod;
    } else {
      excess ||= old !== undefined;
      old ??= pod;
    }
  }
  const freshAvailable = fresh !== undefined && availability(fresh) === 0;
  const oldAvailable = old !== undefined && availability(old) === 0;
  const serves = old === undefined ? freshAvailable : oldAvailable;
  const updateState = ((): UpdateState => {
    if (excess) return 'excess';
    if (fresh !== undefined && old !== undefined) return 'both';
    if (fresh !== undefined) return freshAvailable ? 'updated' : 'updating';
    if (old !== undefined) return oldAvailable ? 'old' : 'broken';
    // A terminating pod still occupies its node, so the node counts.
    return pods.length > 0 || known?.decision.run === true ? 'empty' : 'outside';
  })();
  return { updateState, fresh, old, freshAvailable, serves };
}

/** Counts the first pod only, so that during a surge the old one counts. */
function countsOf(
  { known, pods }: NodePods,
  isFresh: (pod: Readonly<Pod>) => boolean,
  availability: (pod: Readonly<Pod>) => Millis | undefined,
): Counts {
  if (known === undefined) return none;
  const [first] = pods;
  if (!known.decision.run) return first === undefined ? none : { ...none, misscheduled: 1 };
  if (first === undefined) return { ...none, desired: 1 };
  const ready = isReady(first);
  const available = availability(first) === 0;
  const updated = isFresh(first);
  if (ready && available && updated) return allCounts;
  return { desired: 1, current: 1, ready: Number(ready), available: Number(available), updated: Number(updated), misscheduled: 0 };
}

interface Seen {
  isFresh: (pod: Readonly<Pod>) => boolean;
  isAvailable: (pod: Readonly<Pod>) => boolean;
}

/**
 * | node | pods | what |
 * | --- | --- | --- |
 * | should run, has no room | any | suspended; nothing else |
 * | another pod has its host port | any | delete all that are not terminating; suspended too, because the port may become free |
 * | should run | none | create |
 * | may keep | some | delete failed, succeeded and surplus ones |
 * | may not keep | some | delete all that are not terminating |
 * | does not exist | some | delete those that are not bound; the pod garbage collector deletes the others |
 */
function workOn(rules: Rules, { known, pods }: NodePods, seen: Seen): Work | undefined {
  if (known === undefined) return removing(pods.filter((pod) => !isTerminating(pod) && !isPlaced(pod)));
  const { run, schedule, keep, reason } = known.decision;
  if (run && !schedule) return { ...idle, suspended: true };
  if (reason.kind === 'host-ports') return { ...idle, remove: pods.filter((pod) => !isTerminating(pod)), suspended: true };
  if (pods.length === 0) return run ? { ...idle, create: true } : undefined;
  if (!keep) return removing(pods.filter((pod) => !isTerminating(pod)));
  const [first] = pods;
  // The usual case: one running pod.
  if (pods.length === 1 && first !== undefined && !isTerminating(first) && !isOver(first)) return undefined;
  const staying = pods.filter((pod) => !isTerminating(pod));
  const failed = staying.filter(({ status }) => status?.phase === 'Failed');
  const succeeded = staying.filter(({ status }) => status?.phase === 'Succeeded');
  const running = staying.filter((pod) => !isOver(pod));
  // No new pod beside a failed one: on a node that rejects pods, a surge would create more and more.
  const create = rules.surging && run && running.length === 0 && failed.length === 0 && succeeded.length === 0;
  const remove = rules.surging ? surplusBesideSurge(running, seen) : running.slice(1);
  if (!create && remove.length === 0 && failed.length === 0 && succeeded.length === 0) return undefined;
  return { create, remove, failed, succeeded, suspended: false };
}

/** One pod of each revision may stay; the old one only while it is ready and the new one is not available. */
function surplusBesideSurge(running: readonly Readonly<Pod>[], { isFresh, isAvailable }: Seen): Readonly<Pod>[] {
  const fresh = running.find(isFresh);
  const old = running.find((pod) => !isFresh(pod));
  const surplus = running.filter((pod) => pod !== fresh && pod !== old);
  if (fresh !== undefined && old !== undefined && (!isReady(old) || isAvailable(fresh))) return [...surplus, old];
  return surplus;
}

function removing(pods: readonly Readonly<Pod>[]): Work | undefined {
  return pods.length === 0 ? undefined : { ...idle, remove: pods };
}

/** When the next pod becomes available. Of all pods: the first counts even while terminating, and beside a failed one any other may be the one to stay. */
function earliest(
  pods: readonly Readonly<Pod>[],
  availability: (pod: Readonly<Pod>) => Millis | undefined,
  now: Millis,
): Millis | undefined {
  let at: Millis | undefined;
  for (const pod of pods) {
    const left = availability(pod);
    if (left !== undefined && left > 0) at = Math.min(at ?? Infinity, now + left);
  }
  return at;
}
