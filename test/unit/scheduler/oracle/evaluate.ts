import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { scoreWeights, type ScoreName, type Rejection } from '../../../../scheduler/plugins/names.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { worldOf, type OracleCluster } from './cluster.ts';
import { refusal } from './filters.ts';
import { namedNodes } from './node-rules.ts';
import { scorers } from './scores.ts';

/** What is to be said about a pod that waits. Names are sorted. */
export interface Evaluation {
  readonly feasible: readonly string[];
  /** Points of all plugins together, of feasible nodes. */
  readonly totals: ReadonlyMap<string, number>;
  /** What each plugin gave, weight included. */
  readonly byPlugin: ReadonlyMap<ScoreName, ReadonlyMap<string, number>>;
  /** Any of these may be chosen. */
  readonly top: readonly string[];
  /** One for each node that is not feasible. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** What users read when no node is feasible, else ''. */
  readonly message: string;
}

const NO_NODES = 'no nodes available to schedule pods';

export function evaluate(cluster: OracleCluster, pod: Pod, profile: ProfileConfig): Evaluation {
  const info = podInfoOf(pod);
  const rejections = rejectionsOf(cluster, info, profile);
  const world = worldOf(cluster);
  const fitting = world.places.filter(({ name }) => !rejections.has(name));
  const byPlugin = new Map<ScoreName, Map<string, number>>();
  for (const name of scoreNames) {
    const weight = profile.scores.get(name);
    if (weight === undefined || fitting.length === 0) continue;
    const points = scorers[name](world, fitting, info, profile);
    byPlugin.set(name, new Map([...points].map(([node, score]) => [node, score * weight])));
  }
  const totals = new Map(
    fitting.map(({ name }) => [name, [...byPlugin.values()].reduce((sum, points) => sum + (points.get(name) ?? 0), 0)] as const),
  );
  const best = Math.max(...totals.values());
  return {
    feasible: fitting.map(({ name }) => name).toSorted(),
    totals,
    byPlugin,
    top: [...totals].filter(([, points]) => points === best).map(([name]) => name).toSorted(), // prettier-ignore
    rejections,
    message: fitting.length > 0 ? '' : cluster.nodes.length === 0 ? NO_NODES : refusalText(cluster.nodes.length, rejections, info, profile),
  };
}

const scoreNames = Object.keys(scoreWeights) as ScoreName[];

/** Why not, by node. */
export function rejectionsOf(cluster: OracleCluster, pod: PodInfo, profile: ProfileConfig): Map<string, Rejection> {
  const named = namedNodesOf(pod, profile);
  const asIs = worldOf(cluster);
  const rejections = new Map<string, Rejection>();
  for (const { metadata } of cluster.nodes) {
    const { name = '' } = metadata;
    const rejection =
      named === undefined || named.has(name)
        ? refusal(cluster, name, pod, profile, { promised: promisedAt(cluster, name), asIs })
        : notNamed(named);
    if (rejection !== undefined) rejections.set(name, rejection);
  }
  return rejections;
}

/** Who is promised a place on a node. */
export function promisedAt({ nominated }: OracleCluster, node: string): PodInfo[] {
  return nominated.filter((one) => one.node === node).map(({ pod }) => podInfoOf(pod));
}

function namedNodesOf(pod: PodInfo, { filters }: ProfileConfig): ReadonlySet<string> | undefined {
  return filters.has('NodeAffinity') ? namedNodes(pod) : undefined;
}

const CONTRADICTION = 'pod affinity terms conflict';

/** A pod whose terms name nodes that cannot be is refused as a whole. */
function notNamed(named: ReadonlySet<string>): Rejection {
  const reason = named.size === 0 ? CONTRADICTION : "node(s) didn't satisfy plugin(s) [NodeAffinity]";
  return { plugin: 'NodeAffinity', resolvable: false, reasons: [reason] };
}

export function countReasons(reasons: Iterable<readonly string[]>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of reasons) for (const reason of list) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

function refusalText(nodes: number, rejections: ReadonlyMap<string, Rejection>, pod: PodInfo, profile: ProfileConfig): string {
  if (namedNodesOf(pod, profile)?.size === 0) return `0/${nodes} nodes are available: ${CONTRADICTION}.`;
  return availabilityText(nodes, countReasons([...rejections.values()].map(({ reasons }) => reasons)));
}

/** Sorted as texts, not by number: `10 Insufficient cpu` comes before `2 Too many pods`. */
export function availabilityText(nodes: number, reasons: ReadonlyMap<string, number>): string {
  const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted();
  return `0/${nodes} nodes are available: ${parts.join(', ')}.`;
}
