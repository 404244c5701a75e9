import { fitErrorText, type FitError } from '../engine/fit-error.ts';
import type { ProfileConfig } from '../config/config.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate, PreemptionFacts } from './contract.ts';
import { whyNotEligible } from './eligible.ts';
import { pickOneNode } from './pick.ts';
import { NO_VICTIMS, planPreemption } from './plan.ts';
import { noCandidatesText, preemptionText } from './text.ts';
import type { Parts } from '../core/state.ts';

export interface MadeRoom {
  /** What people read: why the pod has no place, and why none could be made. */
  readonly message: string;
  readonly chosen: Candidate | undefined;
  /** Candidates, for extenders to have a say. */
  readonly candidates: readonly Candidate[];
  /** It may keep the node it was promised before. */
  readonly keepsPromise: boolean;
}

/** What is asked when room is to be made. */
export type RoomParts = Pick<Parts, 'cluster' | 'engine' | 'config' | 'random' | 'now' | 'nominator' | 'budgets'> &
  Partial<Pick<Parts, 'victims'>>;

/** Whether less important pods can make room for one that found no place, and which. */
export function makeRoom(parts: RoomParts, pod: PodInfo, profile: ProfileConfig, error: FitError): MadeRoom {
  const none = (why: string, keepsPromise = false): MadeRoom => ({
    message: fitErrorText(error, why),
    chosen: undefined,
    candidates: [],
    keepsPromise,
  });
  if (!parts.config.preemption.enabled || error.nodes === 0) return none('');
  const nominated = nominatedFacts(parts, pod, profile);
  const notEligible = whyNotEligible({ pod, nominated });
  if (notEligible !== undefined) return none(preemptionText(notEligible), nominated !== undefined);
  const facts = preemptionFacts(parts, pod, profile, error);
  if (facts === undefined) {
    // Everybody is at least as important: that is known without looking at any node.
    const refused = new Map(error.resolvable > 0 ? [[NO_VICTIMS, error.resolvable]] : []);
    return none(noCandidatesText({ nodes: error.nodes, candidates: { length: error.resolvable } }, { candidates: [], refused }));
  }
  const plan = planPreemption(facts);
  if (plan.candidates.length === 0) return none(noCandidatesText(facts, plan));
  const chosen = pickOneNode(plan.candidates, facts.now);
  return { message: fitErrorText(error), chosen, candidates: plan.candidates, keepsPromise: false };
}

/** Less important pods that the node was promised to: they have to look for another place. */
export function displacedFrom({ nominator }: Pick<Parts, 'nominator'>, node: string, { uid, priority }: PodInfo): PodInfo[] {
  return nominator.on(node).filter((other) => other.uid !== uid && other.priority < priority);
}

function nominatedFacts(
  { nominator, cluster, engine, victims }: RoomParts,
  pod: PodInfo,
  profile: ProfileConfig,
): Parameters<typeof whyNotEligible>[0]['nominated'] {
  const name = nominator.nodeOf(pod.uid);
  if (name === undefined) return undefined;
  const state = cluster.node(name);
  if (state === undefined) return { resolvable: false, pods: [] };
  const refusal = engine.refusalOn(pod, profile, state);
  // What we had deleted may show so only later: without this more and more would have to go until it does.
  return { resolvable: refusal?.resolvable ?? true, pods: [...state.pods.values()], isVictim: ({ uid }) => victims?.has(uid) === true };
}

/** @returns undefined: there is nobody less important in the whole cluster */
function preemptionFacts(parts: RoomParts, pod: PodInfo, profile: ProfileConfig, error: FitError): PreemptionFacts | undefined {
  const { cluster, engine, budgets, config, random, now } = parts;
  if (error.resolvable === 0 || cluster.lowestPriority >= pod.priority) return undefined;
  const candidates: PreemptionFacts['candidates'][number][] = [];
  const tryOn = engine.trials(pod, profile);
  for (const [state, refusal] of engine.refusals(pod, profile)) {
    if (!refusal.resolvable) continue;
    candidates.push({ node: state.name, lowest: state.lowestPriority, tryOut: () => tryOn(state) });
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
