import { labelSelectorOf, matchesLabels } from '../../../../kube/api/selector.ts';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Budget, Pod } from '../../../../scheduler/types.ts';
import { placeCalled, worldOf, type OracleCluster } from './cluster.ts';
import { availabilityText, countReasons, promisedAt, rejectionsOf } from './evaluate.ts';
import { refusal } from './filters.ts';

interface Candidate<Victim = PodInfo> {
  readonly node: string;
  /** Most important first. */
  readonly victims: readonly Victim[];
  readonly violations: number;
}

export interface Preemption {
  /** Every node where it would help, in the cluster's order; pods by name. */
  readonly candidates: readonly Candidate<string>[];
  /** The best of them; the first where several are. */
  readonly chosen: string | undefined;
  /** All that are as good as the chosen one, sorted. */
  readonly equals: readonly string[];
  /** What is added to the reasons for which the pod waits, when there is no candidate; else ''. */
  readonly message: string;
}

/**
 * Which less important pods would have to go, were the pod refused everywhere. All nodes are tried.
 * @param now - for pods that have not started: ISO 8601
 */
export function preempt(cluster: OracleCluster, pod: Pod, profile: ProfileConfig, now: string): Preemption {
  const preemptor = podInfoOf(pod);
  const rejections = rejectionsOf(cluster, preemptor, profile);
  const ineligible = whyNot(cluster, preemptor, rejections);
  if (ineligible !== undefined) return { candidates: [], chosen: undefined, equals: [], message: ineligible };
  const candidates: Candidate[] = [];
  const refused: (readonly string[])[] = [];
  for (const { metadata } of cluster.nodes) {
    const { name = '' } = metadata;
    const found = rejections.get(name)?.resolvable ? victimsOn(cluster, name, preemptor, profile, now) : [NOT_HELPFUL];
    if (isCandidate(found)) candidates.push(found);
    else refused.push(found);
  }
  const best = candidates.filter((one) => candidates.every((other) => compare(one, other, now) <= 0));
  return {
    candidates: candidates.map(({ node, victims, violations }) => ({ node, victims: victims.map(({ name }) => name), violations })),
    chosen: best[0]?.node,
    equals: best.map(({ node }) => node).toSorted(),
    message: candidates.length > 0 ? '' : availabilityText(cluster.nodes.length, countReasons(refused)),
  };
}

const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
const NO_VICTIMS = 'No preemption victims found for incoming pod';

function isCandidate(found: Candidate | readonly string[]): found is Candidate {
  return !Array.isArray(found);
}

function whyNot(cluster: OracleCluster, preemptor: PodInfo, rejections: ReturnType<typeof rejectionsOf>): string | undefined {
  const { spec, status } = preemptor.pod;
  if (spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = status?.nominatedNodeName ?? '';
  // Where nothing on the node is in the way, waiting for somebody to leave it leads nowhere.
  if (nominated === '' || rejections.get(nominated)?.resolvable === false) return undefined;
  const there = worldOf(cluster).places.find(({ name }) => name === nominated)?.pods ?? [];
  const leaving = there.some((pod) => pod.priority < preemptor.priority && pod.terminating && isPreempted(pod));
  return leaving ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

function isPreempted({ pod }: PodInfo): boolean {
  const target = pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}

/** Takes all that are less important away, then puts back who need not go: first those whose going breaks a budget. */
function victimsOn(
  cluster: OracleCluster,
  node: string,
  preemptor: PodInfo,
  profile: ProfileConfig,
  now: string,
): Candidate | readonly string[] {
  const lesser = placeCalled(worldOf(cluster), node)
    .pods.filter(({ priority }) => priority < preemptor.priority)
    .toSorted((a, b) => byImportance(a, b, now));
  if (lesser.length === 0) return [NO_VICTIMS];
  const gone = new Set(lesser.map(({ uid }) => uid));
  const refusedWithout = () => refusal(cluster, node, preemptor, profile, { promised: promisedAt(cluster, node), without: gone });
  const refused = refusedWithout();
  if (refused !== undefined) return refused.reasons;
  const violating = breakBudgets(lesser, cluster.budgets);
  for (const pod of [...lesser.filter((one) => violating.has(one)), ...lesser.filter((one) => !violating.has(one))]) {
    gone.delete(pod.uid);
    if (refusedWithout() !== undefined) gone.add(pod.uid);
  }
  const victims = lesser.filter(({ uid }) => gone.has(uid));
  return { node, victims, violations: victims.filter((victim) => violating.has(victim)).length };
}

/** More important, then longer there, comes first. Names only make it certain. */
function byImportance(a: PodInfo, b: PodInfo, now: string): number {
  return b.priority - a.priority || started(a, now) - started(b, now) || (a.key < b.key ? -1 : 1);
}

function started({ pod }: PodInfo, now: string): number {
  return Date.parse(pod.status?.startTime ?? now);
}

/** Who would go beyond what a budget allows, were all to go in this order. */
function breakBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]): ReadonlySet<PodInfo> {
  const left = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  const violating = new Set<PodInfo>();
  for (const pod of pods)
    for (const budget of budgets) {
      const selector = labelSelectorOf(budget.spec?.selector ?? {});
      if (budget.metadata.namespace !== pod.namespace || selector.length === 0 || !matchesLabels(selector, pod.labels)) continue;
      if (Object.hasOwn(budget.status?.disruptedPods ?? {}, pod.name)) continue;
      const rest = (left.get(budget) ?? 0) - 1;
      left.set(budget, rest);
      if (rest < 0) violating.add(pod);
    }
  return violating;
}

/** Negative where `a` is the better choice. */
function compare(a: Candidate, b: Candidate, now: string): number {
  const highest = ({ victims }: Candidate): number => Math.max(...victims.map(({ priority }) => priority));
  // Priorities may be negative, and a victim more must never make a choice better.
  const sum = ({ victims }: Candidate): bigint => victims.reduce((all, { priority }) => all + BigInt(priority) + 2n ** 31n, 0n);
  const earliest = (one: Candidate): number =>
    Math.min(...one.victims.filter(({ priority }) => priority === highest(one)).map((victim) => started(victim, now)));
  return (
    a.violations - b.violations ||
    highest(a) - highest(b) ||
    Number(sum(a) - sum(b)) ||
    a.victims.length - b.victims.length ||
    earliest(b) - earliest(a)
  );
}
