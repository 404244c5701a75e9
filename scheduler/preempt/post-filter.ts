import { type FitError, fitErrorText } from '../engine/rejections.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import type { Millis } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Cluster } from '../cache/cluster.ts';
import type { Engine } from '../engine/engine.ts';
import type { Nominator } from '../queue/nominator.ts';
import type { Budget } from '../types.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import {
  type Candidate,
  type NominatedNode,
  pickOneNode,
  type PotentialNode,
  type PreemptionFacts,
  type PreemptionPlan,
  whyNotEligible,
} from './candidates.ts';
import { NO_VICTIMS, planPreemption } from './plan.ts';

export interface PostFilterResult {
  /** Message of the FitError: why no node is feasible, and why preemption does not help. */
  readonly message: string;
  readonly chosen: Candidate | undefined;
  /** Candidates, for extenders that support preemption. */
  readonly candidates: readonly Candidate[];
  /** The pod may keep its nominated node. */
  readonly keepsNomination: boolean;
}

/** What PostFilter reads. */
export interface PostFilterState {
  readonly cluster: Pick<Cluster, 'node' | 'nodeCount' | 'lowestPriority'>;
  readonly engine: Engine;
  readonly nominator: Pick<Nominator, 'nodeOf'>;
  readonly config: Pick<SchedulerConfig, 'preemption'>;
  /** UIDs of victims whose deletion is in flight. */
  readonly victims?: ReadonlySet<string>;
  readonly random: Random;
  readonly now: () => Millis;
  readonly budgets: () => readonly Readonly<Budget>[];
}

/** Whether preempting pods of lower priority can make a node feasible for the pod, and which. */
export function postFilter(state: PostFilterState, pod: PodInfo, profile: ProfileConfig, error: FitError): PostFilterResult {
  const none = (why: string, keepsNomination = false): PostFilterResult => ({
    message: fitErrorText(error, why),
    chosen: undefined,
    candidates: [],
    keepsNomination,
  });
  if (!state.config.preemption.enabled || error.nodes === 0) return none('');
  const nominated = nominatedNode(state, pod, profile);
  const notEligible = whyNotEligible({ pod, nominated });
  if (notEligible !== undefined) return none(preemptionText(notEligible), nominated !== undefined);
  const facts = preemptionFacts(state, pod, profile, error);
  if (facts === undefined) {
    // No pod in the cluster has a lower priority: no node needs to be tried.
    const refused = new Map(error.resolvable > 0 ? [[NO_VICTIMS, error.resolvable]] : []);
    return none(noCandidatesText({ nodes: error.nodes, candidates: { length: error.resolvable } }, { candidates: [], refused }));
  }
  const plan = planPreemption(facts);
  if (plan.candidates.length === 0) return none(noCandidatesText(facts, plan));
  const chosen = pickOneNode(plan.candidates, facts.now);
  return { message: fitErrorText(error), chosen, candidates: plan.candidates, keepsNomination: false };
}

function nominatedNode(
  { nominator, cluster, engine, victims }: PostFilterState,
  pod: PodInfo,
  profile: ProfileConfig,
): NominatedNode | undefined {
  const name = nominator.nodeOf(pod.uid);
  if (name === undefined) return undefined;
  const on = cluster.node(name);
  if (on === undefined) return { resolvable: false, pods: [] };
  const refusal = engine.rejectionOn(pod, profile, on);
  // The cache may show a deletion of ours later: without this, more victims would be chosen until it does.
  return { resolvable: refusal?.resolvable ?? true, pods: [...on.pods.values()], isVictim: ({ uid }) => victims?.has(uid) === true };
}

/** @returns undefined when no pod in the cluster has a lower priority */
function preemptionFacts(state: PostFilterState, pod: PodInfo, profile: ProfileConfig, error: FitError): PreemptionFacts | undefined {
  const { cluster, engine, budgets, config, random, now } = state;
  if (error.resolvable === 0 || cluster.lowestPriority >= pod.priority) return undefined;
  const candidates: PotentialNode[] = [];
  const tryOn = engine.trials(pod, profile);
  for (const [node, refusal] of engine.rejections(pod, profile)) {
    if (!refusal.resolvable) continue;
    candidates.push({ node: node.name, lowest: node.lowestPriority, tryOut: () => tryOn(node) });
  }
  return {
    pod,
    nodes: cluster.nodeCount,
    candidates,
    budgets: budgets(),
    offset: candidates.length === 0 ? 0 : Math.floor(random() * candidates.length),
    limits: config.preemption,
    now: new Date(now()).toISOString(),
  };
}

const NOT_HELPFUL = 'Preemption is not helpful for scheduling';

/** What users read behind the reasons of an unschedulable pod: why preemption does not help. */
export function preemptionText(why: string): string {
  return `preemption: ${why}`;
}

/** For a plan without candidates. On nodes that were not tried, preemption does not help. */
export function noCandidatesText(
  { nodes, candidates }: { nodes: number; candidates: { length: number } },
  { refused }: PreemptionPlan,
): string {
  const beyond = nodes - candidates.length;
  const counts = [...refused, ...(beyond > 0 ? [[NOT_HELPFUL, beyond] as const] : [])];
  // As strings, as kube-scheduler sorts them: "10 a" comes before "2 b".
  const reasons = counts.map(([reason, count]) => `${count} ${reason}`).toSorted();
  return preemptionText(`0/${nodes} nodes are available: ${reasons.join(', ')}.`);
}
