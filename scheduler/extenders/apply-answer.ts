import type { PodInfo } from '../pod/pod-info.ts';
import { byImportance, type Candidate } from '../preempt/candidates.ts';
import { AnswerError, type FilterAnswer, type PreemptAnswer } from './protocol.ts';

/** Why an extender rejected a node. */
export interface ExtenderRejection {
  /** Whether preemption on the node could help. */
  readonly resolvable: boolean;
  /** Text for users; empty if the extender omitted the node without a reason. */
  readonly reasons: readonly string[];
}

/**
 * Applies a response to `filter`: survivors in the order of the request, and all other nodes with their reasons.
 * @param namesOnly - the request had names only, so that the response may have names
 * @throws {AnswerError} when a survivor was not in the request
 */
export function survivorsOf(
  candidates: readonly string[],
  answer: FilterAnswer,
  namesOnly: boolean,
): { survivors: readonly string[]; refused: Map<string, ExtenderRejection> } {
  // Without either list no node survives.
  const [list, from] = namesOnly && answer.nodeNames !== undefined ? [answer.nodeNames, 'NodeNames'] : [answer.nodes ?? [], 'Nodes'];
  const chosen = new Set(list);
  const known = new Set(candidates);
  for (const name of chosen)
    if (!known.has(name)) throw new AnswerError(`${from} has node ${JSON.stringify(name)}, which was not in the request`);
  const refused = new Map<string, ExtenderRejection>();
  for (const name of candidates) if (!chosen.has(name)) refused.set(name, rejectionOf(name, answer));
  return { survivors: candidates.filter((name) => chosen.has(name)), refused };
}

function rejectionOf(name: string, { failed, unresolvable }: FilterAnswer): ExtenderRejection {
  const final = unresolvable.get(name);
  const reason = final ?? failed.get(name);
  return { resolvable: final === undefined && reason !== undefined, reasons: reason === undefined || reason === '' ? [] : [reason] };
}

/** Adds the scores of one extender to those of the others. Scores of nodes that were not in the request are ignored. */
export function addScores(
  to: Map<string, number>,
  candidates: ReadonlySet<string>,
  given: readonly { host: string; score: number }[],
  factor: number,
): void {
  for (const { host, score } of given) if (candidates.has(host)) to.set(host, (to.get(host) ?? 0) + score * factor);
}

/**
 * Applies a response to `preempt`: fewer candidates, or other victims.
 * @param podsOn - all pods of a node: a victim need not be one that was proposed
 * @param lenient - a node without victims is skipped instead of being an error
 * @throws {AnswerError} for nodes and pods that do not exist, and for victims whose priority is not lower than the pod's
 */
export function candidatesLeft(
  {
    pod,
    candidates,
    podsOn,
    now,
  }: { pod: PodInfo; candidates: readonly Candidate[]; podsOn: (node: string) => readonly PodInfo[]; now: number },
  answer: PreemptAnswer,
  lenient: boolean,
): Candidate[] {
  const proposed = new Set(candidates.map(({ node }) => node));
  for (const node of answer.keys())
    if (!proposed.has(node)) throw new AnswerError(`NodeNameToMetaVictims has node ${JSON.stringify(node)}, which was not in the request`);
  const left: Candidate[] = [];
  for (const { node, victims } of candidates) {
    const wanted = answer.get(node);
    if (wanted === undefined) continue;
    if (wanted.uids.length === 0) {
      if (lenient) continue;
      throw new AnswerError(`expected at least one victim pod on node ${JSON.stringify(node)}`);
    }
    const there = new Map([...podsOn(node), ...victims].map((one) => [one.uid, one]));
    const chosen = [...new Set(wanted.uids)].map((uid) => victimOf(uid, node, there, pod));
    left.push({ node, victims: chosen.toSorted(byImportance(now)), violations: wanted.violations });
  }
  return left;
}

function victimOf(uid: string, node: string, there: ReadonlyMap<string, PodInfo>, { priority }: PodInfo): PodInfo {
  const path = `NodeNameToMetaVictims[${JSON.stringify(node)}]`;
  const victim = there.get(uid);
  if (victim === undefined) throw new AnswerError(`${path} has pod (UID: ${uid}), which is not on that node`);
  if (victim.priority >= priority)
    throw new AnswerError(`${path} has pod (UID: ${uid}), whose priority is not lower than that of the preempting pod`);
  return victim;
}
