import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodAffinityTerm, PodSpec, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { seededRandom } from '../../../../../base/random.ts';
import type { ClusterEvent, Node, NodeAspect, Pod } from '../../../../../scheduler/types.ts';
import { type PodInfo, podInfoOf } from '../../../../../scheduler/pod/pod-info.ts';
import { createHints } from '../../../../../scheduler/queue/hints.ts';
import { invalidatedBy } from '../../../../../scheduler/queue/equivalence-class.ts';
import { node as nodeOf, pod as podOf, type PodBuilder } from '../../builders.ts';
import { ToyCluster } from './toy-cluster.ts';

const SEEDS = Number(process.env['DKC_HINT_SEEDS'] ?? 40);
const STEPS = 600;
const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

/** What plugins were overcome, over all seeds: a plugin that never was is one that was not tested. */
const overcome = new Map<string, number>();

for (let seed = 1; seed <= SEEDS; seed++)
  test(`whenever a pod comes to fit somewhere, one of those who refused it says so: seed ${seed}`, () => {
    const random = seededRandom(seed);
    const upTo = (n: number) => Math.floor(random() * n);
    const chance = (share: number) => random() < share;
    const pick = <T>(...of: readonly [T, ...T[]]): T => of[upTo(of.length)] ?? of[0];
    const cluster = new ToyCluster();
    const hints = createHints({
      namespaceLabels: (name) => cluster.namespaces.get(name),
      isAntiKey: (key) => [...cluster.pods.values()].some(({ terms }) => terms.requiredAnti.some(({ topologyKey }) => topologyKey === key)),
    });
    let made = 0;

    const app = () => ({ app: pick('a', 'b') });
    const term = (): PodAffinityTerm => ({
      topologyKey: pick(ZONE, HOST, 'rack'),
      labelSelector: { matchLabels: app() },
      ...(chance(0.3) ? { namespaceSelector: { matchLabels: { team: pick('1', '2') } } } : {}),
    });
    const terms = (share: number) => (chance(share) ? [term(), ...(chance(0.3) ? [term()] : [])] : []);
    const taint = (): Taint => ({ key: pick('t', 'u'), effect: pick('NoSchedule', 'NoExecute', 'PreferNoSchedule') });
    const tolerations = (): Toleration[] =>
      chance(0.3) ? [{ key: pick('t', 'u', 'node.kubernetes.io/unschedulable'), operator: 'Exists' }] : [];
    const newNode = (name: string): Node => {
      const built = nodeOf(name)
        .cpu(`${1 + upTo(3)}`)
        .memory(`${1 + upTo(3)}`)
        .has('pods', `${1 + upTo(4)}`)
        .labels({
          ...(chance(0.8) ? { [ZONE]: pick('z1', 'z2') } : {}),
          ...(chance(0.3) ? { rack: pick('r1', 'r2') } : {}),
          ...(chance(0.25) ? { disk: 'ssd' } : {}),
        });
      if (chance(0.3)) built.has('example.com/gpu', '1');
      if (chance(0.3)) built.taints(taint());
      if (chance(0.15)) built.cordoned();
      return built.build();
    };
    const anyPod = (): PodBuilder => {
      const built = podOf(`${pick('x', 'y')}/p${made++}`).labels(app());
      if (chance(0.5)) built.cpu(`${1 + upTo(2)}`);
      if (chance(0.3)) built.memory(`${1 + upTo(2)}`);
      if (chance(0.2)) built.asks('example.com/gpu', '1');
      if (chance(0.5)) built.port(80, pick('TCP', 'UDP'), pick(undefined, '10.0.0.1', '10.0.0.2'));
      return built;
    };
    const placed = (): PodInfo => {
      const requiredAnti = terms(0.25);
      const built = anyPod()
        .on(`n${upTo(4)}`)
        .affinity({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: requiredAnti } });
      return podInfoOf((chance(0.1) ? built.terminating() : built).build());
    };
    /** Mostly one thing that keeps it from nodes, so that much comes to help. */
    const waiting = (): PodInfo => {
      const kind = pick(0, 1, 2, 2, 3, 4, 5, 5);
      const built = kind === 5 ? anyPod() : podOf(`${pick('x', 'y')}/p${made++}`).labels(app());
      built.tolerates(...tolerations());
      if (chance(0.15) || kind === 4) built.selects({ disk: 'ssd' });
      if (kind === 3) built.port(80, 'TCP', pick(undefined, '10.0.0.1'));
      if (kind === 0) built.affinity({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms(1) } });
      if (kind === 1) built.affinity({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms(1) } });
      if (kind === 2) {
        const constraint = () => ({
          topologyKey: pick(ZONE, HOST, 'rack'),
          maxSkew: 1,
          whenUnsatisfiable: 'DoNotSchedule' as const,
          labelSelector: { matchLabels: app() },
          ...(chance(0.3) ? { minDomains: 2 } : {}),
          ...(chance(0.3) ? { nodeAffinityPolicy: 'Ignore' } : {}),
          ...(chance(0.3) ? { nodeTaintsPolicy: 'Honor' } : {}),
        });
        const more: Partial<PodSpec> = { topologySpreadConstraints: chance(0.3) ? [constraint(), constraint()] : [constraint()] };
        built.spec(more);
      }
      return podInfoOf(built.build());
    };
    const changed = (before: Node, after: Node): Set<NodeAspect> => {
      const differs = (of: (node: Node) => unknown) => JSON.stringify(of(before)) !== JSON.stringify(of(after));
      const aspects = new Set<NodeAspect>();
      if (differs(({ status }) => status?.allocatable)) aspects.add('allocatable');
      if (differs(({ metadata }) => metadata.labels)) aspects.add('labels');
      if (differs(({ spec }) => spec)) aspects.add('taints');
      return aspects;
    };
    const nodeEvent = (): ClusterEvent => {
      const name = `n${upTo(4)}`;
      const before = cluster.nodes.get(name);
      if (before !== undefined && chance(0.2)) {
        cluster.nodes.delete(name);
        return { kind: 'node-deleted', before };
      }
      const fresh = newNode(name);
      if (before === undefined) {
        cluster.nodes.set(name, fresh);
        return { kind: 'node-added', after: fresh };
      }
      // One part of it at a time, as a rule: changes that come alone are the hard ones.
      const part = upTo(4);
      const after: Node = {
        ...before,
        ...(part === 0 || part === 3 ? { metadata: fresh.metadata } : {}),
        ...(part === 1 || part === 3 ? { ...(fresh.spec && { spec: fresh.spec }) } : {}),
        ...(part === 2 || part === 3 ? { ...(fresh.status && { status: fresh.status }) } : {}),
      };
      cluster.nodes.set(name, after);
      return { kind: 'node-updated', before, after, changed: changed(before, after) };
    };
    const altered = ({ pod }: PodInfo): PodInfo => {
      const { metadata } = pod;
      const spec = { ...pod.spec, containers: pod.spec?.containers ?? [] };
      const relabelled: Pod = { ...pod, metadata: { ...metadata, labels: app() } };
      const smaller: Pod = {
        ...pod,
        spec: {
          ...spec,
          containers: spec.containers.map(({ resources, ...rest }) => (chance(0.5) ? rest : { ...rest, ...(resources && { resources }) })),
        },
      };
      return podInfoOf(pick(relabelled, smaller, smaller, { ...pod, metadata: { ...metadata, deletionTimestamp: 'now' } }));
    };
    const podEvent = (): ClusterEvent => {
      const [uid, before] = [...cluster.pods].at(upTo(cluster.pods.size)) ?? [];
      if (uid === undefined || before === undefined || (cluster.pods.size < 10 && chance(0.4))) {
        const after = placed();
        cluster.pods.set(after.uid, after);
        return { kind: 'assigned-pod-added', after };
      }
      if (chance(0.4)) {
        cluster.pods.delete(uid);
        return { kind: 'assigned-pod-deleted', before };
      }
      const after = altered(before);
      cluster.pods.set(uid, after);
      return { kind: 'assigned-pod-updated', before, after };
    };
    const namespaceEvent = (): ClusterEvent => {
      const name = pick('x', 'y');
      const old = cluster.namespaces.get(name);
      const labels = chance(0.7) ? { team: pick('1', '2') } : {};
      cluster.namespaces.set(name, labels);
      const namespace = (labels: Record<string, string>) => ({ metadata: { name, labels } });
      return { kind: 'namespace-changed', before: old && namespace(old), after: namespace(labels) };
    };
    const ownChange = (before: PodInfo): PodInfo => {
      const spec = { ...before.pod.spec, containers: before.pod.spec?.containers ?? [] };
      return chance(0.3) ? podInfoOf({ ...before.pod, spec: { ...spec, tolerations: tolerations() } }) : altered(before);
    };

    for (let n = 0; n < 3; n++) nodeEvent();
    for (let n = 0; n < 6; n++) podEvent();
    let pod = waiting();
    let known = cluster.judge(pod);
    let tried = 0;
    const story: string[] = [];
    for (let n = 0; n < STEPS; n++) {
      if (known.fits || known.by.size === 0 || ++tried > 20) {
        for (let more = 0; more < 20 && (more === 0 || known.fits); more++) {
          pod = waiting();
          known = cluster.judge(pod);
        }
        tried = 0;
        story.length = 0;
        if (known.fits) (chance(0.5) ? podEvent : nodeEvent)();
        continue;
      }
      // What is short is not always known.
      const short = chance(0.7) ? known.short : undefined;
      let yes: boolean;
      if (chance(0.1)) {
        const after = ownChange(pod);
        const invalidated = invalidatedBy(pod, after);
        yes = [...known.by].some((rejector) => invalidated.has(rejector));
        story.push(`own change: ${JSON.stringify(after.pod)}`);
        pod = after;
      } else {
        const event = chance(0.5) ? podEvent() : chance(0.85) ? nodeEvent() : namespaceEvent();
        yes = [...known.by].some((rejector) => hints.get(rejector)?.(pod, event, short) !== false);
        story.push(tell(event));
      }
      const now = cluster.judge(pod);
      if (now.fits) {
        const why = `refused by ${[...known.by].join()}, short of ${[...known.short].join()}; then\n${story.slice(-3).join('\n')}\n${JSON.stringify(pod.pod)}`;
        assert.ok(yes, why);
        for (const rejector of known.by) overcome.set(rejector, (overcome.get(rejector) ?? 0) + 1);
      }
      if (yes) known = now; // it is tried again, and refused by others perhaps
    }
  });

test('every plugin was overcome many times', () => {
  const seldom = [
    'NodeUnschedulable',
    'TaintToleration',
    'NodeAffinity',
    'NodePorts',
    'NodeResourcesFit',
    'PodTopologySpread',
    'InterPodAffinity',
  ];
  assert.deepEqual(
    seldom.filter((plugin) => (overcome.get(plugin) ?? 0) < SEEDS),
    [],
  );
});

function tell(event: ClusterEvent): string {
  return JSON.stringify(event, (key, value: unknown) => (key === 'terms' || key === 'requests' || key === 'ports' ? undefined : value));
}
