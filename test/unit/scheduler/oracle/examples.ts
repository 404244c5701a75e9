import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Node, Pod, Service } from '../../../../scheduler/types.ts';
import type { NodeBuilder, PodBuilder } from '../builders.ts';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { seededRandom } from '../../../../base/random.ts';
import { difference } from '../engine/compare.ts';
import { engineSubject } from '../engine/subject.ts';
import { emptyCluster, type OracleCluster } from './cluster.ts';
import { evaluate } from './evaluate.ts';
import { eventsOf } from './generate.ts';
import type { ScoreName } from '../../../../scheduler/plugins/names.ts';
import { plainProfile } from './profile.ts';

/* Small clusters in one line. */

export const clusterOf = (nodes: NodeBuilder[], pods: PodBuilder[] = [], more: Partial<OracleCluster> = {}): OracleCluster => ({
  ...emptyCluster,
  namespaces: [{ metadata: { name: 'default', labels: { team: 'a' } } }, { metadata: { name: 'other', labels: { team: 'b' } } }],
  nodes: nodes.map((one): Node => one.build()),
  pods: pods.map((one): Pod => one.build()),
  ...more,
});

export const HOST = 'kubernetes.io/hostname';
export const ZONE = 'topology.kubernetes.io/zone';

/** A term about pods of an app. */
export const near = (app: string, topologyKey = HOST, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
  ...more,
});

export const required = (...terms: PodAffinityTerm[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });

export const preferred = (weight: number, podAffinityTerm: PodAffinityTerm) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }],
});

export const spread = (
  topologyKey: string,
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway',
  more: Partial<TopologySpreadConstraint> = {},
): TopologySpreadConstraint => ({
  topologyKey,
  whenUnsatisfiable,
  maxSkew: 1,
  labelSelector: { matchLabels: { app: 'web' } },
  ...more,
});

export const service = (app: string, namespace = 'default'): Service => ({
  metadata: { name: app, namespace },
  spec: { selector: { app } },
});

/** What is said of each node: see {@link verdicts}. */
export interface FilterExample {
  readonly why: string;
  readonly cluster: OracleCluster;
  readonly pod: Pod;
  readonly says: Readonly<Record<string, string>>;
  readonly profile: ProfileConfig;
}

export const says = (
  why: string,
  cluster: OracleCluster,
  pod: PodBuilder,
  said: Readonly<Record<string, string>>,
  profile: Partial<ProfileConfig> = {},
): FilterExample => ({ why, cluster, pod: pod.build(), says: said, profile: { ...plainProfile, ...profile } });

/** The oracle and the engine both say so. */
export function testFilter({ why, cluster, pod, says, profile }: FilterExample): void {
  test(`a node is judged by ${why}`, () => {
    assert.deepEqual(verdicts(cluster, pod, profile), says);
    assert.equal(engineDiffers(cluster, pod, profile), undefined);
  });
}

export interface ScoreExample {
  readonly why: string;
  readonly cluster: OracleCluster;
  readonly pod: Pod;
  /** By node, before weights. */
  readonly points: Readonly<Record<string, number>>;
  readonly profile: Partial<ProfileConfig>;
}

export const gives = (
  why: string,
  cluster: OracleCluster,
  pod: PodBuilder,
  points: Readonly<Record<string, number>>,
  profile: Partial<ProfileConfig> = {},
): ScoreExample => ({ why, cluster, pod: pod.build(), points, profile });

/** The oracle and the engine both give so many. */
export function testScore(plugin: ScoreName, example: ScoreExample): void {
  test(`${plugin} counts ${example.why}`, () => {
    assert.deepEqual(points(plugin, example), example.points);
    assert.equal(engineDiffers(example.cluster, example.pod, scoring(plugin, example.profile)), undefined);
  });
}

/**
 * Where the engine answers otherwise than the oracle on this cluster, in words: a worked example that holds for the oracle holds for what ships, and where it does
 * not, the test that fails names the plugin.
 * @returns undefined: nowhere
 */
export function engineDiffers(cluster: OracleCluster, pod: Pod, profile: ProfileConfig): string | undefined {
  const subject = engineSubject(seededRandom(1), cluster.budgets);
  for (const event of eventsOf({ ...cluster, pods: cluster.pods.filter((one) => !hasEnded(one)) })) subject.happened(event);
  for (const one of cluster.nominated) subject.happened({ do: 'nominate', ...one });
  return difference(subject, cluster, { pod, profile, first: undefined }).found;
}

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** The profile in which one plugin alone gives points. */
const scoring = (plugin: ScoreName, profile?: Partial<ProfileConfig>): ProfileConfig => ({
  ...plainProfile,
  ...profile,
  scores: new Map([[plugin, 1]]),
});

/** What one plugin alone gives to each feasible node. */
function points(plugin: ScoreName, { cluster, pod, profile }: ScoreExample): Record<string, number> {
  const { byPlugin } = evaluate(cluster, pod, scoring(plugin, profile));
  return Object.fromEntries(byPlugin.get(plugin) ?? []);
}

/** What is said of each node: `fits`; or the reasons, behind `now:` where taking pods away may help, behind `never:` where not. */
function verdicts(cluster: OracleCluster, pod: Pod, profile: ProfileConfig): Record<string, string> {
  const { rejections, feasible } = evaluate(cluster, pod, profile);
  const said = cluster.nodes.map(({ metadata: { name = '' } }) => {
    const rejection = rejections.get(name);
    if (rejection === undefined) return [name, feasible.includes(name) ? 'fits' : 'is forgotten'];
    return [name, `${rejection.resolvable ? 'now' : 'never'}: ${rejection.reasons.join(', ')}`];
  });
  return Object.fromEntries(said) as Record<string, string>;
}
