import { inspect, isDeepStrictEqual } from 'node:util';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { fitErrorText, type FitError } from '../../../../scheduler/engine/rejections.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import type { OracleCluster } from '../oracle/cluster.ts';
import { evaluate, type Evaluation } from '../oracle/evaluate.ts';
import { namedNodes } from '../oracle/node-rules.ts';
import { preempt } from '../oracle/preempt.ts';
import type { Subject } from './subject.ts';

/** A pod that waits, and how it is looked at. */
export interface Question {
  readonly pod: Pod;
  readonly profile: ProfileConfig;
  /** A node to take if it will do. */
  readonly first: string | undefined;
}

const NOW = '2026-02-01T00:00:00Z';

/** Where the subject answers otherwise than the oracle: the first that is found, in words. */
export function difference(
  subject: Subject,
  cluster: OracleCluster,
  { pod, profile, first }: Question,
): { found: string | undefined; right: Evaluation } {
  const right = evaluate(cluster, pod, profile);
  const plain = { pod, profile, first: undefined };
  const found =
    inDecision(subject, right, plain) ??
    (first === undefined ? undefined : inDecision(subject, right, { pod, profile, first })) ??
    inEvaluation(subject, right, plain) ??
    // Once more: what the look at each node kept must not have spoiled what is kept of classes.
    inDecision(subject, right, plain) ??
    (right.feasible.length > 0 || cluster.nodes.length === 0 ? undefined : inPreemption(subject, cluster, plain));
  return { found, right };
}

function inEvaluation(subject: Subject, right: Evaluation, { pod, profile }: Question): string | undefined {
  const { totals, rejections, error } = subject.evaluate(pod, profile);
  if (!same(right.totals, totals)) return saying('points', right.totals, totals, right.byPlugin);
  if (error.everywhere !== undefined) return inError(right, error, pod);
  if (!same(right.rejections, rejections)) return saying('rejections', right.rejections, rejections);
  return right.feasible.length > 0 ? undefined : inError(right, error, pod);
}

function inDecision(subject: Subject, right: Evaluation, { pod, profile, first }: Question): string | undefined {
  const decision = subject.decide(pod, profile, first);
  if (right.feasible.length === 0) return decision.placed ? saying('decision', 'no node', decision) : inError(right, decision.error, pod);
  if (!decision.placed) return saying('decision', right.top, decision.error);
  if (first !== undefined && right.feasible.includes(first))
    return decision.node === first ? undefined : saying('decision', `first of all ${first}`, decision);
  const { node, feasible, ties } = decision;
  if (!right.top.includes(node)) return saying('decision', { top: right.top, points: right.totals }, decision);
  if (feasible !== right.feasible.length) return saying('number of feasible nodes', right.feasible.length, feasible);
  return ties === right.top.length ? undefined : saying('number of best nodes', { top: right.top, points: right.totals }, ties);
}

function inError(right: Evaluation, error: FitError, pod: Pod): string | undefined {
  const text = fitErrorText(error);
  if (text !== right.message) return saying('text', right.message, text);
  // Refused as a whole: then nobody counts by node.
  if (error.everywhere !== undefined) return undefined;
  const by = new Set<string>([...right.rejections.values()].map(({ plugin }) => plugin));
  // One that names nodes may be helped by a node that is not there yet.
  if (error.by.has('NodeAffinity') && namedNodes(podInfoOf(pod)) !== undefined) by.add('NodeAffinity');
  if (right.rejections.size > 0 && !isDeepStrictEqual(new Set<string>(error.by), by)) return saying('filters that refuse', by, error.by);
  const resolvable = [...right.rejections.values()].filter((one) => one.resolvable).length;
  return error.resolvable === resolvable ? undefined : saying('number of nodes where taking away may help', resolvable, error.resolvable);
}

function inPreemption(subject: Subject, cluster: OracleCluster, { pod, profile }: Question): string | undefined {
  const right = preempt(cluster, pod, profile, NOW);
  const { candidates, chosen, message } = subject.preempt(pod, profile, NOW);
  const byNode = (list: typeof candidates) => new Map(list.map((one) => [one.node, one]));
  if (!same(byNode(right.candidates), byNode(candidates))) return saying('victims', byNode(right.candidates), byNode(candidates));
  if (right.chosen === undefined ? chosen !== undefined : !right.equals.includes(chosen ?? ''))
    return saying('choice', right.equals, chosen);
  const text = right.message === '' ? '' : `preemption: ${right.message}`;
  return text === message ? undefined : saying('text', text, message);
}

/** Maps in any order. */
function same(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.has(key) && isDeepStrictEqual(value, b.get(key)));
}

function saying(what: string, right: unknown, found: unknown, ...more: readonly unknown[]): string {
  const [expected, instead, ...rest] = [right, found, ...more].map((value) =>
    inspect(value, { depth: null, sorted: true, breakLength: Infinity }),
  );
  return [`${what}: expected ${expected}, found ${instead}`, ...rest].join('\n');
}
