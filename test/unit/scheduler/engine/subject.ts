import type { Random } from '../../../../base/random.ts';
import { Cluster } from '../../../../scheduler/cache/cluster.ts';
import { defaultSchedulerConfig, type ProfileConfig } from '../../../../scheduler/config/config.ts';
import { DefaultSpreadSelectors } from '../../../../scheduler/engine/default-spread-selectors.ts';
import { type Decision, Engine, type Evaluation } from '../../../../scheduler/engine/engine.ts';
import { type PodInfo, podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { pickOneNode, type PotentialNode, type PreemptionFacts, whyNotEligible } from '../../../../scheduler/preempt/candidates.ts';
import { planPreemption } from '../../../../scheduler/preempt/plan.ts';
import { noCandidatesText, preemptionText } from '../../../../scheduler/preempt/post-filter.ts';
import type { Namespace, Pod, ReplicaSet } from '../../../../scheduler/types.ts';
import { emptyCluster, type OracleCluster } from '../oracle/cluster.ts';
import type { RandomEvent } from '../oracle/generate.ts';
import type { Preemption } from '../oracle/preempt.ts';

export type Subject = ReturnType<typeof engineSubject>;

/** What is put to the test: the engine as the scheduler uses it, fed event by event, without the rest of the scheduler. */
export function engineSubject(random: Random, budgets: OracleCluster['budgets']) {
  const namespaces = new Map<string, Namespace>();
  const nominated = new Map<string, { pod: Pod; node: string }>();
  let groups: Pick<OracleCluster, 'services' | 'replicaSets' | 'replicationControllers' | 'statefulSets'> = emptyCluster;
  const found = <T extends { metadata: { namespace?: string; name?: string } }>(list: readonly T[], key: string): T | undefined =>
    list.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key);
  const spreadSelectors = new DefaultSpreadSelectors({
    services: (namespace) => groups.services.filter(({ metadata }) => metadata.namespace === namespace),
    // The scheduler reads these as it reads replica sets; only the selector is of another shape.
    replicationController: (key) => found(groups.replicationControllers as unknown as readonly ReplicaSet[], key),
    replicaSet: (key) => found(groups.replicaSets, key),
    statefulSet: (key) => found(groups.statefulSets, key),
  });
  const cluster = new Cluster((namespace) => namespaces.get(namespace)?.metadata.labels);
  const engine = new Engine({
    cluster,
    random,
    compat: defaultSchedulerConfig.compat,
    defaultSelectorOf: spreadSelectors.of,
    nominations: {
      get nodes() {
        return new Set([...nominated.values()].map(({ node }) => node));
      },
      on: (node, { uid, priority }) =>
        [...nominated.values()]
          .filter((promise) => promise.node === node)
          .map(({ pod }) => podInfoOf(pod))
          .filter((other) => other.uid !== uid && other.priority >= priority),
    },
    volumes: { key: () => '', prepare: () => undefined },
    maxUnprepared: 0,
  });
  const profiles = new Set<ProfileConfig>();
  /** Some steps of what a decision over such a pod needs, which comes later or never: other things happen before. */
  const prepare = (pod: Pod): void => {
    const { nodeName: _, ...spec } = pod.spec ?? { containers: [] };
    for (const profile of profiles) {
      let steps = Math.floor(random() * 10);
      engine.prepare(podInfoOf({ ...pod, spec }), profile, () => steps-- <= 0);
    }
  };
  const seen = (pod: Pod): void => {
    const info = podInfoOf(pod);
    if (cluster.nodeCount > 0) prepare(pod);
    if (cluster.placed(info.uid)?.at === 'added') cluster.updatePod(info);
    else cluster.addPod(info);
  };
  const handlers: { [K in RandomEvent['do']]: (event: Extract<RandomEvent, { do: K }>) => unknown } = {
    'set-node': ({ node }) => cluster.setNode(node),
    'remove-node': ({ name }) => cluster.removeNode(name),
    'set-pod': ({ pod }) => seen(pod),
    'remove-pod': ({ uid }) => cluster.removePod(uid),
    assume: ({ pod, node }) => cluster.assume(podInfoOf(pod), node),
    forget: ({ uid }) => cluster.forget(uid),
    nominate: ({ pod, node }) => nominated.set(pod.metadata.uid ?? '', { pod, node }),
    withdraw: ({ uid }) => nominated.delete(uid),
    'set-namespace': ({ namespace }) => {
      namespaces.set(namespace.metadata.name ?? '', namespace);
      cluster.namespacesChanged();
      engine.forget();
    },
    'set-groups': (event) => {
      groups = event.groups;
      spreadSelectors.changed();
    },
  };
  const happened = (event: RandomEvent): void => void (handlers[event.do] as (event: RandomEvent) => unknown)(event);
  const nominatedFacts = (pod: PodInfo, profile: ProfileConfig): Parameters<typeof whyNotEligible>[0]['nominated'] => {
    const name = pod.pod.status?.nominatedNodeName;
    if (name === undefined) return undefined;
    const state = cluster.node(name);
    if (state === undefined) return { resolvable: false, pods: [] };
    return { resolvable: engine.rejectionOn(pod, profile, state)?.resolvable ?? true, pods: [...state.pods.values()] };
  };
  /** Who would have to go, told as the oracle tells it. */
  const preempt = (pod: Pod, profile: ProfileConfig, now: string): Omit<Preemption, 'equals'> => {
    const info = podInfoOf(pod);
    const why = whyNotEligible({ pod: info, nominated: nominatedFacts(info, profile) });
    if (why !== undefined) return { candidates: [], chosen: undefined, message: preemptionText(why) };
    const candidates: PotentialNode[] = [];
    for (const [state, { resolvable }] of engine.rejections(info, profile))
      if (resolvable)
        candidates.push({ node: state.name, lowest: state.lowestPriority, tryOut: () => engine.trials(info, profile)(state) });
    const facts: PreemptionFacts = {
      pod: info,
      nodes: cluster.nodeCount,
      candidates,
      budgets,
      offset: candidates.length === 0 ? 0 : Math.floor(random() * candidates.length),
      limits: { minCandidateNodesPercentage: 100, minCandidateNodesAbsolute: Infinity }, // every node is tried
      now,
    };
    const plan = planPreemption(facts);
    return {
      candidates: plan.candidates.map(({ node, victims, violations }) => ({ node, violations, victims: victims.map(({ name }) => name) })),
      chosen: pickOneNode(plan.candidates, now)?.node,
      message: plan.candidates.length > 0 ? '' : noCandidatesText(facts, plan),
    };
  };
  return {
    happened,
    evaluate: (pod: Pod, profile: ProfileConfig): Evaluation => {
      profiles.add(profile);
      return engine.evaluate(podInfoOf(pod), profile);
    },
    decide: (pod: Pod, profile: ProfileConfig, first?: string): Decision => engine.decide(podInfoOf(pod), profile, first),
    preempt,
  };
}
