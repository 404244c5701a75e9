import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { seededRandom } from '../../../../base/random.ts';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import type { ScoreName } from '../../../../scheduler/plugins/names.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { node, pod, type NodeBuilder, type PodBuilder } from '../builders.ts';
import { difference } from '../engine/compare.ts';
import { engineSubject } from '../engine/subject.ts';
import { emptyCluster, type OracleCluster } from './cluster.ts';
import { evaluate } from './evaluate.ts';
import { eventsOf } from './generate.ts';
import { plainProfile } from './profile.ts';

/*
 * Clusters in one line. Nodes: `a zone=1 cpu=2 rack=x, b cordoned, c x=1:NoSchedule`, each with 4 cpus, 8Gi and a place for 110 pods where nothing else is said; what is
 * no amount, zone or taint is a label. Pods on nodes: `web@a cpu=1 priority=5, other/db@b leaving`: an app, which is the name and a label, and its node; a second pod of
 * the app is web-1. Pods that are nominated to a node are written likewise.
 */

const amounts: Readonly<Record<string, string>> = { cpu: 'cpu', memory: 'memory', pods: 'pods', gpu: 'example.com/gpu' };
const listOf = (text: string): string[][] => (text === '' ? [] : text.split(', ').map((one) => one.split(' ')));

function nodeOf([name = '', ...words]: string[]): NodeBuilder {
  const made = node(name);
  const taints: { key: string; value?: string; effect: string }[] = [];
  for (const word of words) {
    const [key = '', value = ''] = (word.split(':')[0] ?? '').split('=');
    const effect = word.split(':')[1];
    if (effect !== undefined) taints.push({ key, ...(value !== '' && { value }), effect });
    else if (word === 'cordoned') made.cordoned();
    else if (word.startsWith('zone=')) made.zone(value);
    else if (amounts[key] !== undefined) made.has(amounts[key], value);
    else made.labels({ [key]: value });
  }
  return taints.length > 0 ? made.taints(...taints) : made;
}

function podsOf(text: string): { pod: PodBuilder; on: string }[] {
  const made = new Map<string, number>();
  return listOf(text).map(([what = '', ...words]) => {
    const [path = '', on = ''] = what.split('@');
    const app = path.split('/').at(-1) ?? '';
    const count = made.get(path) ?? 0;
    made.set(path, count + 1);
    const one = pod(count === 0 ? path : `${path}-${count}`).labels({ app });
    for (const word of words) {
      const [key = '', value = ''] = word.split('=');
      if (word === 'leaving') one.terminating();
      else if (key === 'priority') one.priority(Number(value));
      else if (amounts[key] !== undefined) one.asks(amounts[key], value);
      else one.labels({ [key]: value });
    }
    return { pod: one, on };
  });
}

export interface Around extends Partial<Omit<OracleCluster, 'nominated'>> {
  readonly nominated?: string;
  /** Over the one of a scheduler that was told nothing. */
  readonly profile?: Partial<ProfileConfig>;
}

/** @param placed - what there is no word for is built */
export function clusterOf(
  nodes: string | readonly NodeBuilder[],
  placed: string | readonly PodBuilder[] = '',
  around: Around = {},
): OracleCluster {
  const { nominated = '', profile: _, ...more } = around;
  return {
    ...emptyCluster,
    namespaces: [{ metadata: { name: 'default', labels: { team: 'a' } } }, { metadata: { name: 'other', labels: { team: 'b' } } }],
    nodes: (typeof nodes === 'string' ? listOf(nodes).map(nodeOf) : nodes).map((one) => one.build()),
    pods: (typeof placed === 'string' ? podsOf(placed).map((one) => one.pod.on(one.on)) : placed).map((one) => one.build()),
    nominated: podsOf(nominated).map((one) => ({ pod: one.pod.build(), node: one.on })),
    ...more,
  };
}

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
/** Pods on a node that ask for others, and one that is asked about. */
export const wishing = (path: string, on: string, affinity: Parameters<PodBuilder['affinity']>[0]) => pod(path).affinity(affinity).on(on);

/** A rule about pods of app web. */
export const spread = (
  topologyKey: string,
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway',
  more: Partial<TopologySpreadConstraint> = {},
): TopologySpreadConstraint => ({ topologyKey, whenUnsatisfiable, maxSkew: 1, labelSelector: { matchLabels: { app: 'web' } }, ...more });

export const service = (app: string, namespace = 'default') => ({ metadata: { name: app, namespace }, spec: { selector: { app } } });

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

/** In words: what is shown; nodes and pods; who asks, and what is expected of it. */
type Example = [
  why: string,
  nodes: Parameters<typeof clusterOf>[0],
  placed: Parameters<typeof clusterOf>[1],
  asking: PodBuilder,
  expected: string,
  around?: Around,
];

/** What the oracle and the engine both give each feasible node, in the order of the nodes, by this plugin alone and before weights. */
export function testScore(plugin: ScoreName, ...[why, nodes, placed, asking, points, around = {}]: Example): void {
  test(`${plugin} counts ${why}`, () => {
    const cluster = clusterOf(nodes, placed, around);
    const profile = { ...plainProfile, ...around.profile, scores: new Map([[plugin, 1]]) };
    const { byPlugin } = evaluate(cluster, asking.build(), profile);
    assert.equal([...(byPlugin.get(plugin) ?? [])].map(([name, given]) => `${name} ${given}`).join(', '), points);
    assert.equal(engineDiffers(cluster, asking.build(), profile), undefined);
  });
}

/** What is said of a node, in a word of the examples. */
const verdicts: Readonly<Record<string, string>> = {
  ok: 'fits',
  features: "never: node(s) didn't match Pod's required features",
  cordon: 'never: node(s) were unschedulable',
  taint: 'never: node(s) had untolerated taint {x: }',
  name: "never: node(s) didn't match the requested node name",
  affinity: "never: node(s) didn't match Pod's node affinity/selector",
  unnamed: "never: node(s) didn't satisfy plugin(s) [NodeAffinity]",
  ports: "now: node(s) didn't have free ports for the requested pod ports",
  cpu: 'now: Insufficient cpu',
  'cpu!': 'never: Insufficient cpu',
  alone: "never: node(s) didn't match pod affinity rules",
  'places+cpu+gpu': 'never: Too many pods, Insufficient cpu, Insufficient example.com/gpu',
  skew: "now: node(s) didn't match pod topology spread constraints",
  unlabelled: "never: node(s) didn't match pod topology spread constraints (missing required label)",
  foe: "now: node(s) didn't match pod anti-affinity rules",
  objection: "now: node(s) didn't satisfy existing pods anti-affinity rules",
  'cpu+memory+gpu': 'never: Insufficient cpu, Insufficient memory, Insufficient example.com/gpu',
  z: 'never: Insufficient x.org/z',
};

/**
 * What the oracle and the engine both say of each node, in the order of the nodes: `fits`; or the reasons, behind `now:` where taking pods away may help, behind `never:`
 * where not.
 */
export function testFilter(...[why, nodes, placed, asking, says, around = {}]: Example): void {
  test(`a node is judged by ${why}`, () => {
    const cluster = clusterOf(nodes, placed, around);
    const profile = { ...plainProfile, ...around.profile };
    const { rejections, feasible } = evaluate(cluster, asking.build(), profile);
    const said = cluster.nodes.map(({ metadata: { name = '' } }) => {
      const rejection = rejections.get(name);
      if (rejection === undefined) return feasible.includes(name) ? 'fits' : 'is forgotten';
      return `${rejection.resolvable ? 'now' : 'never'}: ${rejection.reasons.join(', ')}`;
    });
    assert.deepEqual(said, says.split(' ').map((word) => verdicts[word] ?? assert.fail(word))); // prettier-ignore
    assert.equal(engineDiffers(cluster, asking.build(), profile), undefined);
  });
}
