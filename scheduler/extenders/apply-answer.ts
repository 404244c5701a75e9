import type { PodInfo } from '../pod/pod-info.ts';
import { byImportance, type Candidate } from '../preempt/candidates.ts';
import { AnswerError, type FilterAnswer, type PreemptAnswer } from './protocol.ts';

/** Why an extender does not want a node. */
export interface ExtenderRejection {
  /** Whether taking pods away from the node could help. */
  readonly resolvable: boolean;
  /** As users read them; none where the extender left the node out without a word. */
  readonly reasons: readonly string[];
}

/**
 * What came of `asked` by an answer: survivors in the order in which they were asked about, and all others with their reasons.
 * @param namesOnly - it was sent names, so that it may answer with names
 * @throws {AnswerError} when it speaks of survivors it was not asked about
 */
export function survivorsOf(
  asked: readonly string[],
  answer: FilterAnswer,
  namesOnly: boolean,
): { survivors: readonly string[]; refused: Map<string, ExtenderRejection> } {
  // Neither list: nobody survives.
  const [list, from] = namesOnly && answer.nodeNames !== undefined ? [answer.nodeNames, 'NodeNames'] : [answer.nodes ?? [], 'Nodes'];
  const chosen = new Set(list);
  const known = new Set(asked);
  for (const name of chosen)
    if (!known.has(name)) throw new AnswerError(`${from} has node ${JSON.stringify(name)}, which was not in the request`);
  const refused = new Map<string, ExtenderRejection>();
  for (const name of asked) if (!chosen.has(name)) refused.set(name, rejectionOf(name, answer));
  return { survivors: asked.filter((name) => chosen.has(name)), refused };
}

function rejectionOf(name: string, { failed, unresolvable }: FilterAnswer): ExtenderRejection {
  const final = unresolvable.get(name);
  const reason = final ?? failed.get(name);
  return { resolvable: final === undefined && reason !== undefined, reasons: reason === undefined || reason === '' ? [] : [reason] };
}

/** Adds the scores of one extender to those of the others. Scores of nodes that were not in the request are ignored. */
export function addScores(
  to: Map<string, number>,
  asked: ReadonlySet<string>,
  given: readonly { host: string; score: number }[],
  factor: number,
): void {
  for (const { host, score } of given) if (asked.has(host)) to.set(host, (to.get(host) ?? 0) + score * factor);
}

/**
 * The candidates as an extender leaves them: fewer, or with other victims.
 * @param podsOn - all pods of a node: a victim need not be one that was proposed
 * @param lenient - a node without victims is left out, instead of being a mistake
 * @throws {AnswerError} for nodes and pods that are not there, and for victims that are not less important than the pod
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
