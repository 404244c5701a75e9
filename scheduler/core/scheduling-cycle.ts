import { messageOf } from '../../base/errors.ts';
import type { Evaluation } from '../engine/engine.ts';
import type { FitError } from '../engine/fit-error.ts';
import type { Extenders } from '../extenders/chain.ts';
import type { Node } from '../types.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { pickOneNode } from '../preempt/pick.ts';
import { fail, firstChoice, place, refuse, type Turn } from './schedule-one.ts';
import { makeRoom, type MadeRoom } from '../preempt/make-room.ts';
import type { Outcome } from './outcome.ts';
import type { Parts } from './state.ts';
import type { RoomTeller } from '../reservation/wakes.ts';

type Try = Extract<Turn, { turn: 'try' }>;

/**
 * An attempt in which others are asked over the network, and so not in one turn: the cluster may be another one when they answer. What they leave is looked at once
 * more before it counts.
 * @throws the signal's reason
 */
export async function extendedAttempt(
  parts: Parts,
  teller: RoomTeller,
  extenders: Extenders,
  turn: Try,
  signal: AbortSignal,
): Promise<Outcome> {
  const { queued, pod, profile } = turn;
  // What was decided is not so any more: the pod is tried anew.
  const anew = (what: string): Outcome => ({
    did: 'refused',
    ...fail(parts, queued, pod, `${what} changed while extenders were asked`),
  });
  try {
    const evaluation = parts.engine.evaluate(pod, profile);
    const refused = async (error: FitError): Promise<Outcome> => {
      if (isOver(parts, pod)) return anew('the pod');
      const made = await roomByAll(parts, extenders, turn, error, signal);
      // Nobody has to go for a pod that is gone, nor where there is room by now.
      if (isOver(parts, pod)) return anew('the pod');
      const on = made.chosen && parts.cluster.node(made.chosen.node);
      if (on !== undefined && parts.engine.refusalOn(pod, profile, on) === undefined) return anew(`node ${on.name}`);
      return { did: 'refused', ...refuse(parts, queued, pod, error, made) };
    };
    if (evaluation.totals.size === 0) return await refused(evaluation.error);
    const nodes = nodesOf(parts, evaluation);
    const first = firstChoice(parts, pod);
    const isFirst = first !== undefined && evaluation.totals.has(first);
    const asked = isFirst ? nodes.filter(({ metadata }) => metadata.name === first) : nodes;
    let filtered = await extenders.filter(pod, asked, signal);
    if (isFirst && filtered.survivors.length === 0) filtered = await extenders.filter(pod, nodes, signal);
    if (filtered.survivors.length === 0) return await refused(withRefusals(evaluation.error, filtered.refused));
    const node = await choose(parts, extenders, turn, evaluation, filtered.survivors, signal);
    const state = parts.cluster.node(node);
    const changed = state === undefined || parts.engine.refusalOn(pod, profile, state) !== undefined;
    if (changed || isOver(parts, pod)) return anew(`node ${node}`);
    return { did: 'placed', ...place(parts, teller, queued, pod, profile, node) };
  } catch (error) {
    signal.throwIfAborted();
    return { did: 'refused', ...fail(parts, queued, pod, messageOf(error)) };
  }
}

/** Whether nothing is to be decided over it any more. */
function isOver({ latest }: Parts, { key, uid }: PodInfo): boolean {
  const now = latest(key);
  return now === undefined || now.uid !== uid || now.terminating || now.nodeName !== '';
}

/** Who has to go, as far as extenders leave that open: they may take nodes and victims off the list. */
async function roomByAll(
  parts: Parts,
  extenders: Extenders,
  { pod, profile }: Try,
  error: FitError,
  signal: AbortSignal,
): Promise<MadeRoom> {
  const made = makeRoom(parts, pod, profile, error);
  if (made.candidates.length === 0 || !extenders.asks('preempt', pod)) return made;
  const podsOn = (node: string): PodInfo[] => [...(parts.cluster.node(node)?.pods.values() ?? [])];
  const left = await extenders.preempt(pod, made.candidates, podsOn, signal);
  return { ...made, candidates: left, chosen: pickOneNode(left, new Date(parts.now()).toISOString()) };
}

async function choose(
  { random }: Parts,
  extenders: Extenders,
  { pod }: Try,
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

function nodesOf({ cluster }: Parts, { totals }: Evaluation): Readonly<Node>[] {
  return [...totals.keys()].flatMap((name) => cluster.node(name)?.node ?? []);
}

function withRefusals(error: FitError, refused: Awaited<ReturnType<Extenders['filter']>>['refused']): FitError {
  const reasons = new Map(error.reasons);
  let resolvable = error.resolvable;
  for (const { reasons: said, resolvable: helped } of refused.values()) {
    for (const reason of said) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (helped) resolvable += 1;
  }
  return { ...error, reasons, resolvable, by: new Set([...error.by, 'Extender']) };
}
