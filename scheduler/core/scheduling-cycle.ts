import { messageOf } from '../../base/errors.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import type { Evaluation } from '../engine/engine.ts';
import { type FitError, fitErrorText } from '../engine/rejections.ts';
import type { Extenders, Filtered } from '../extenders/chain.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { pickOneNode } from '../preempt/candidates.ts';
import { postFilter, type PostFilterResult, type PostFilterState, preemptionText } from '../preempt/post-filter.ts';
import type { QueuedPod } from '../queue/contract.ts';
import { equivalenceClassOf, type EquivalenceState } from '../queue/equivalence-class.ts';
import type { Node } from '../types.ts';
import type { HeldCapacity } from './hooks.ts';

/** What the scheduling cycle reads. */
export interface SchedulingCycleState extends PostFilterState, EquivalenceState {
  readonly cluster: PostFilterState['cluster'];
  readonly nominator: PostFilterState['nominator'];
  readonly config: Pick<SchedulerConfig, 'preemption' | 'reservation'>;
  /** Capacity that is held for pods. */
  readonly held: Pick<HeldCapacity, 'of'>;
}

/** One attempt to find a node for a pod. */
export interface Attempt {
  readonly queued: QueuedPod;
  /** The newest known state of the pod. */
  readonly pod: PodInfo;
  readonly profile: ProfileConfig;
}

export interface Unschedulable {
  readonly error: FitError;
  /** Whether preempting pods of lower priority would help. */
  readonly postFilter: PostFilterResult;
  /** Any other pod of this class would have failed the same way; undefined: no other pod would. */
  readonly equivalenceClass: string | undefined;
}

/** Result of a scheduling cycle. `changed`: called right before the result is used; returns what has changed since extenders were called. */
export type ScheduleResult = { readonly changed?: () => string | undefined } & (
  | { readonly result: 'scheduled'; readonly node: string }
  | ({ readonly result: 'unschedulable' } & Unschedulable)
  | { readonly result: 'error'; readonly message: string }
);

/** PreFilter, Filter, Score, and PostFilter if no node passed. Synchronous; changes nothing. */
export function schedulingCycle(state: SchedulingCycleState, { pod, profile }: Attempt): ScheduleResult {
  const decision = state.engine.decide(pod, profile, firstChoice(state, pod));
  if (decision.placed) return { result: 'scheduled', node: decision.node };
  const { error } = decision;
  const made = postFilter(state, pod, profile, error);
  return { result: 'unschedulable', error, postFilter: made, equivalenceClass: equivalenceClassOf(state, pod, error) };
}

/** The node that the pod is nominated for, or where capacity is held for it. */
function firstChoice({ nominator, held, config }: SchedulingCycleState, pod: PodInfo): string | undefined {
  const nominated = nominator.nodeOf(pod.uid);
  if (nominated !== undefined) return nominated;
  return config.reservation.placement === 'prefer' ? held.of(pod)?.node : undefined;
}

/** Whether an extender takes part in scheduling this pod. */
export function usesExtenders(extenders: Extenders, pod: PodInfo): boolean {
  return (['filter', 'prioritize', 'preempt'] as const).some((verb) => extenders.calls(verb, pod));
}

/**
 * The same with extenders. They are called over the network, so the cluster may have changed when they answer.
 * @throws the signal's reason
 */
export async function schedulingCycleWithExtenders(
  state: SchedulingCycleState,
  extenders: Extenders,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<ScheduleResult> {
  const { pod, profile } = attempt;
  try {
    const evaluation = state.engine.evaluate(pod, profile);
    if (evaluation.totals.size === 0) return await unschedulable(state, extenders, attempt, evaluation.error, signal);
    const nodes = nodesOf(state, evaluation);
    const first = firstChoice(state, pod);
    const isFirst = first !== undefined && evaluation.totals.has(first);
    const asked = isFirst ? nodes.filter(({ metadata }) => metadata.name === first) : nodes;
    let filtered = await extenders.filter(pod, asked, signal);
    if (isFirst && filtered.survivors.length === 0) filtered = await extenders.filter(pod, nodes, signal);
    if (filtered.survivors.length === 0)
      return await unschedulable(state, extenders, attempt, withRejections(evaluation.error, filtered.refused), signal);
    const node = await choose(state, extenders, attempt, evaluation, filtered.survivors, signal);
    const changed = (): string | undefined => {
      const on = state.cluster.node(node);
      return on === undefined || state.engine.rejectionOn(pod, profile, on) !== undefined ? `node ${node}` : undefined;
    };
    return { result: 'scheduled', node, changed };
  } catch (error) {
    signal.throwIfAborted();
    return { result: 'error', message: messageOf(error) };
  }
}

async function unschedulable(
  state: SchedulingCycleState,
  extenders: Extenders,
  attempt: Attempt,
  error: FitError,
  signal: AbortSignal,
): Promise<ScheduleResult> {
  const { pod, profile } = attempt;
  const { failed, ...made } = await postFilterWithExtenders(state, extenders, attempt, error, signal);
  // No pod is preempted on a node where the pod fits by now.
  const changed = (): string | undefined => {
    const on = made.chosen && state.cluster.node(made.chosen.node);
    const hasRoom = on !== undefined && state.engine.rejectionOn(pod, profile, on) === undefined;
    return hasRoom ? `node ${on.name}` : undefined;
  };
  // After a failed call the pod is retried with backoff: no cluster event shows that the extender has recovered.
  const rejected = failed ? { ...error, by: new Set<never>() } : error;
  return { result: 'unschedulable', error: rejected, postFilter: made, equivalenceClass: undefined, changed };
}

const NO_CANDIDATE = 'no candidate node for preemption';

/** PostFilter with extenders, which may remove nodes and victims from the candidates. `failed`: a call to an extender failed. */
async function postFilterWithExtenders(
  state: SchedulingCycleState,
  extenders: Extenders,
  { pod, profile }: Attempt,
  error: FitError,
  signal: AbortSignal,
): Promise<PostFilterResult & { readonly failed: boolean }> {
  const made = postFilter(state, pod, profile, error);
  if (made.candidates.length === 0 || !extenders.calls('preempt', pod)) return { ...made, failed: false };
  const podsOn = (node: string): PodInfo[] => [...(state.cluster.node(node)?.pods.values() ?? [])];
  const none = (why: string) => ({ ...made, message: fitErrorText(error, preemptionText(why)), candidates: [], chosen: undefined });
  try {
    const left = await extenders.preempt(pod, made.candidates, podsOn, signal);
    const chosen = pickOneNode(left, new Date(state.now()).toISOString());
    return chosen === undefined ? { ...none(NO_CANDIDATE), failed: false } : { ...made, candidates: left, chosen, failed: false };
  } catch (failure) {
    signal.throwIfAborted();
    return { ...none(messageOf(failure)), failed: true };
  }
}

async function choose(
  { random }: SchedulingCycleState,
  extenders: Extenders,
  { pod }: Attempt,
  { totals }: Evaluation,
  survivors: readonly Readonly<Node>[],
  signal: AbortSignal,
): Promise<string> {
  const [only] = survivors;
  if (survivors.length === 1) return only?.metadata.name ?? '';
  const added = await extenders.prioritize(pod, survivors, signal);
  let best = -Infinity;
  let ties: string[] = [];
  for (const { metadata } of survivors) {
    const { name = '' } = metadata;
    const total = (totals.get(name) ?? 0) + (added.get(name) ?? 0);
    if (total > best) [best, ties] = [total, []];
    if (total === best) ties.push(name);
  }
  return ties[Math.floor(random() * ties.length)] ?? '';
}

function nodesOf({ cluster }: SchedulingCycleState, { totals }: Evaluation): Readonly<Node>[] {
  return [...totals.keys()].flatMap((name) => cluster.node(name)?.node ?? []);
}

function withRejections(error: FitError, refused: Filtered['refused']): FitError {
  const reasons = new Map(error.reasons);
  let resolvable = error.resolvable;
  for (const { reasons: said, resolvable: helped } of refused.values()) {
    for (const reason of said) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (helped) resolvable += 1;
  }
  return { ...error, reasons, resolvable, by: new Set([...error.by, 'Extender']) };
}
