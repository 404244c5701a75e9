import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../../base/random.ts';
import { defaultFilters, type Rejector } from '../../../../../scheduler/plugins/names.ts';
import { podInfoOf, type PodInfo } from '../../../../../scheduler/pod/pod-info.ts';
import { invalidatedBy } from '../../../../../scheduler/queue/equivalence-class.ts';
import { createHints } from '../../../../../scheduler/queue/hints.ts';
import { shortIn } from '../../../../../scheduler/queue/hints/node.ts';
import type { ClusterEvent, Node, NodeAspect, Pod } from '../../../../../scheduler/types.ts';
import { Chance } from '../../oracle/chance.ts';
import { rejectionsOf } from '../../oracle/evaluate.ts';
import { applied, randomCluster, randomEvent, randomPod, type GeneratedCluster, type RandomEvent } from '../../oracle/generate.ts';
import { plainProfile } from '../../oracle/profile.ts';

const SEEDS = Number(process.env['DKC_HINT_SEEDS'] ?? 40);
const STEPS = 1_000;

/** What plugins were overcome, over all seeds: a plugin that never was is one that was not tested. */
const overcome = new Map<Rejector, number>();

for (let seed = 1; seed <= SEEDS; seed++)
  test(`whenever a pod comes to fit somewhere, one of those who refused it says so: seed ${seed}`, () => {
    const random = seededRandom(seed);
    const chance = new Chance(random);
    let cluster = randomCluster(random, 2 + chance.upTo(3));
    const hints = createHints({
      namespaceLabels: (name) => cluster.namespaces.find(({ metadata }) => metadata.name === name)?.metadata.labels,
      isAntiKey: (key) => cluster.pods.some((pod) => podInfoOf(pod).terms.requiredAnti.some(({ topologyKey }) => topologyKey === key)),
    });
    let pod = waiting(chance, cluster);
    let known = judge(cluster, pod);
    let tried = 0;
    const story: string[] = [];
    for (let step = 0; step < STEPS; step++) {
      // With time, pods and nodes become few.
      if (step % 100 === 99) cluster = randomCluster(random, 2 + chance.upTo(3));
      if (known.fits || known.by.size === 0 || step % 100 === 99 || ++tried > 20) {
        for (let draws = 0; draws < 20 && (draws === 0 || known.fits); draws++) known = judge(cluster, (pod = waiting(chance, cluster)));
        tried = 0;
        story.length = 0;
        if (known.fits || known.by.size === 0) cluster = applied(cluster, chosenEvent(chance, cluster));
        continue;
      }
      let yes: boolean;
      if (chance.of(10)) {
        const after = podInfoOf(ownChange(chance, pod.pod));
        const invalidated = invalidatedBy(pod, after);
        yes = [...known.by].some((rejector) => invalidated.has(rejector));
        story.push(`own change: ${JSON.stringify(after.pod)}`);
        pod = after;
      } else {
        const happens = chosenEvent(chance, cluster);
        const event = asTold(happens, cluster);
        cluster = applied(cluster, happens);
        // What is short is not always known.
        const short = chance.of(70) ? known.short : undefined;
        yes = event !== undefined && [...known.by].some((rejector) => hints.get(rejector)?.(pod, event, short) !== false);
        story.push(JSON.stringify(happens));
      }
      const now = judge(cluster, pod);
      if (now.fits) {
        const why = `refused by ${[...known.by].join()}, short of ${[...known.short].join()}; then\n${story.slice(-3).join('\n')}\n${JSON.stringify(pod.pod)}`;
        assert.ok(yes, why);
        for (const rejector of known.by) overcome.set(rejector, (overcome.get(rejector) ?? 0) + 1);
      }
      if (yes) known = now; // it is tried again, and refused by others perhaps
    }
  });

test('every plugin was overcome many times', () => {
  // There are no volumes in these clusters, no features, and no pods that name a node.
  const tested = defaultFilters.filter((name) => !/Volume|Features|NodeName/.test(name));
  assert.deepEqual(tested.filter((name) => (overcome.get(name) ?? 0) < SEEDS), [], JSON.stringify([...overcome])); // prettier-ignore
});

interface Verdict {
  readonly fits: boolean;
  readonly by: ReadonlySet<Rejector>;
  readonly short: ReadonlySet<string>;
}

function judge(cluster: GeneratedCluster, pod: PodInfo): Verdict {
  const rejections = [...rejectionsOf(cluster, pod, plainProfile).values()];
  const short = shortIn(rejections.flatMap(({ plugin, reasons }) => (plugin === 'NodeResourcesFit' ? reasons : [])));
  return { fits: rejections.length < cluster.nodes.length, by: new Set(rejections.map(({ plugin }) => plugin)), short };
}

/** Mostly one thing that keeps it from nodes, so that much comes to help. */
function waiting(chance: Chance, cluster: GeneratedCluster): PodInfo {
  const part = chance.one(['affinity', 'affinity', 'topologySpreadConstraints', 'topologySpreadConstraints', 'ports', 'all'] as const);
  for (let draws = 0; ; draws++) {
    const { spec = { containers: [] }, ...rest } = randomPod(chance.random, cluster);
    const containers = spec.containers.map((one) => ({ ...one, resources: {} }));
    const hasPart = part === 'ports' ? containers.some(({ ports }) => ports) : part !== 'all' && spec[part] !== undefined;
    if (part === 'all' || (!hasPart && draws > 20)) return podInfoOf({ ...rest, spec });
    if (hasPart) return podInfoOf({ ...rest, spec: { containers, ...(part !== 'ports' && { [part]: spec[part] }) } });
  }
}

type Heard = Extract<RandomEvent, { do: 'set-node' | 'remove-node' | 'set-pod' | 'remove-pod' | 'set-namespace' }>;
const heard = new Set<string>(['set-node', 'remove-node', 'set-pod', 'remove-pod', 'set-namespace']);
const isHeard = (event: RandomEvent): event is Heard => heard.has(event.do);

/** One that the queue hears of: what is nominated and assumed changes no verdict here. Pods change, and nodes go, more often than elsewhere. */
function chosenEvent(chance: Chance, cluster: GeneratedCluster): Heard {
  const isRare = chance.of(25);
  for (;;) {
    const event = randomEvent(chance.random, cluster);
    const isKnown = event.do === 'set-pod' && cluster.pods.some(({ metadata }) => metadata.uid === event.pod.metadata.uid);
    if (isHeard(event) && (!isRare || isKnown || event.do === 'remove-node' || event.do === 'set-namespace')) return event;
  }
}

function asTold(event: Heard, { nodes, pods, namespaces }: GeneratedCluster): ClusterEvent | undefined {
  switch (event.do) {
    case 'set-node': {
      const before = nodes.find(({ metadata }) => metadata.name === event.node.metadata.name);
      if (before === undefined) return { kind: 'node-added', after: event.node };
      return { kind: 'node-updated', before, after: event.node, changed: changedIn(before, event.node) };
    }
    case 'remove-node': {
      const before = nodes.find(({ metadata }) => metadata.name === event.name);
      return before && { kind: 'node-deleted', before };
    }
    case 'set-pod': {
      const [before, after] = [pods.find(({ metadata }) => metadata.uid === event.pod.metadata.uid), podInfoOf(event.pod)];
      return before === undefined
        ? { kind: 'assigned-pod-added', after }
        : { kind: 'assigned-pod-updated', before: podInfoOf(before), after };
    }
    case 'remove-pod': {
      const before = pods.find(({ metadata }) => metadata.uid === event.uid);
      return before && { kind: 'assigned-pod-deleted', before: podInfoOf(before) };
    }
    case 'set-namespace':
      return {
        kind: 'namespace-changed',
        before: namespaces.find(({ metadata }) => metadata.name === event.namespace.metadata.name),
        after: event.namespace,
      };
  }
}

function changedIn(before: Node, after: Node): Set<NodeAspect> {
  const differs = (of: (node: Node) => unknown) => JSON.stringify(of(before)) !== JSON.stringify(of(after));
  const aspects: [NodeAspect, boolean][] = [
    ['allocatable', differs(({ status }) => status?.allocatable)],
    ['labels', differs(({ metadata }) => metadata.labels)],
    ['taints', differs(({ spec }) => spec)],
  ];
  return new Set(aspects.filter(([, is]) => is).map(([aspect]) => aspect));
}

function ownChange(chance: Chance, { metadata, spec, ...rest }: Pod): Pod {
  const [labels, containers] = [{ app: chance.one(['web', 'db']) }, (spec?.containers ?? []).map((one) => ({ ...one, resources: {} }))];
  const changes = [{ labels }, { spec: { containers } }, { spec: { tolerations: [{ operator: 'Exists' }] } }];
  const change: { labels?: object; spec?: object } = chance.one(changes);
  return { ...rest, metadata: { ...metadata, ...(change.labels && { labels }) }, spec: { containers: [], ...spec, ...change.spec } };
}
