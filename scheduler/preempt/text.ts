import type { PreemptionPlan } from './contract.ts';

const NOT_HELPFUL = 'Preemption is not helpful for scheduling';

/** What users read behind the reasons of a refused pod: why making room did not help either. */
export function preemptionText(why: string): string {
  return `preemption: ${why}`;
}

/** For a plan without candidates. Nodes that were not among those to try are such that taking pods away from them changes nothing. */
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
