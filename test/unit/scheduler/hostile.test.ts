import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../kube/api/object.ts';
import { seededRandom } from '../../../base/random.ts';
import { Cluster } from '../../../scheduler/cache/cluster.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import { Engine } from '../../../scheduler/engine/engine.ts';
import { podInfoOf } from '../../../scheduler/pod/pod-info.ts';
import { MAX_TERMS } from '../../../scheduler/pod/pod-limits.ts';
import { node, pod, type PodBuilder } from './builders.ts';
import { Stage } from './simulated/stage.ts';
import { SchedulerWorld, type Parts } from './simulated/world.ts';

const ORDINARY = 100;
const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const labelsOf = (count: number): Record<string, string> => Object.fromEntries(list(count, (at) => [`example.com/l-${at}`, 'x']));
const term = (at: number) => ({
  topologyKey: `example.com/l-${at}`,
  namespaceSelector: {},
  labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`x${at}`] }] },
});
const preferring = (name: string, count: number): PodBuilder =>
  pod(name).affinity({
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: list(count, (at) => ({ weight: 1, podAffinityTerm: term(at) })) },
  });
const apart = (name: string, count: number): PodBuilder =>
  pod(name).affinity({
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: list(count, (at) => ({
        ...term(at),
        labelSelector: { matchLabels: { app: `x${at}` } },
      })),
    },
  });

/** What a user of one namespace may make, and what a node may say of itself. */
const hostile: { what: string; kind: '/pods' | '/nodes'; object: object }[] = [
  { what: 'a pod with as many terms as may be', kind: '/pods', object: preferring('hostile', MAX_TERMS).build() },
  { what: 'a pod with 4,000 terms', kind: '/pods', object: preferring('hostile', 4_000).build() },
  { what: 'a pod on a node with 6,000 terms of anti-affinity', kind: '/pods', object: apart('hostile', 6_000).on('n1').build() },
  {
    what: 'a pod with 8,000 constraints',
    kind: '/pods',
    object: pod('hostile')
      .spec({
        topologySpreadConstraints: list(8_000, (at) => ({ maxSkew: 1, topologyKey: `key-${at}`, whenUnsatisfiable: 'DoNotSchedule' })),
      })
      .build(),
  },
  {
    what: 'a pod with 10,000 tolerations',
    kind: '/pods',
    object: pod('hostile')
      .tolerates(...list(10_000, (at) => ({ key: `t-${at}` })))
      .build(),
  },
  { what: 'a pod with 20,000 node selectors', kind: '/pods', object: pod('hostile').selects(labelsOf(20_000)).build() },
  {
    what: 'a pod on a node with 8,000 init containers that stay, each with a resource of its own',
    kind: '/pods',
    object: pod('hostile')
      .on('n1')
      .spec({
        initContainers: list(8_000, (at) => ({
          name: `c${at}`,
          restartPolicy: 'Always',
          resources: { requests: { [`example.com/r-${at}`]: '1' } },
        })),
      })
      .build(),
  },
  {
    what: 'a pod on a node with 10,000 host ports',
    kind: '/pods',
    object: pod('hostile')
      .on('n1')
      .spec({ containers: [{ name: 'c', ports: list(10_000, (at) => ({ containerPort: at + 1, hostPort: at + 1 })) }] })
      .build(),
  },
  {
    what: 'a pod with 10,000 claims',
    kind: '/pods',
    object: pod('hostile')
      .spec({ volumes: list(10_000, (at) => ({ name: `v${at}`, persistentVolumeClaim: { claimName: `v${at}` } })) })
      .build(),
  },
  { what: 'a pod with 40,000 labels', kind: '/pods', object: pod('hostile').labels(labelsOf(40_000)).build() },
  { what: 'a node with 40,000 labels', kind: '/nodes', object: node('hostile').labels(labelsOf(40_000)).cordoned().build() },
  {
    what: 'a node with 10,000 taints',
    kind: '/nodes',
    object: node('hostile')
      .taints(...list(10_000, (at) => ({ key: `t-${at}`, effect: 'NoSchedule' })))
      .build(),
  },
  {
    what: 'a node with 10,000 images',
    kind: '/nodes',
    object: {
      ...node('hostile').cordoned().build(),
      status: { allocatable: { pods: '5' }, images: list(10_000, (at) => ({ names: [`image:${at}`], sizeBytes: 1 })) },
    },
  },
];

/** What is held of pods and nodes, in entries. */
function entries({ cluster: view, queue, nominator }: Parts): object {
  const cluster = view as Cluster;
  const { groups } = cluster.groups.sizes;
  const { sizes } = queue;
  return {
    carried: cluster.carried.size,
    groups,
    columns: cluster.topologies.size,
    taints: cluster.taintSetCount,
    pods: cluster.podCount,
    sizes,
    nominated: nominator.size,
  };
}

for (const { what, kind, object } of hostile)
  test(`beside ${what} ${ORDINARY} ordinary pods are placed as without, and nothing of it stays`, async () => {
    const world = await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 100, endMs: () => 100 } });
    try {
      const scheduler = world.start();
      const stage = new Stage(world);
      stage.begin(list(10, (at) => `n${at}`));
      stage.add(...list(10, (at) => pod(`first-${at}`).cpu('10m').labels({ app: 'web' })));
      await stage.pass(5_000);
      const { parts } = world;
      assert.ok(parts !== undefined);
      const before = entries(parts);
      const { storage } = world.api.hooks;
      const key = kind === '/pods' ? 'default/hostile' : 'hostile';
      storage.put(kind, key, object as KubeObject);
      stage.add(...list(ORDINARY, (at) => pod(`ordinary-${at}`).cpu('100m').labels({ app: 'web' })));
      await stage.pass(10_000);
      const placed = world.pods().filter(({ metadata, spec }) => metadata.name?.startsWith('ordinary') && (spec?.nodeName ?? '') !== '');
      assert.equal(placed.length, ORDINARY, scheduler.failures().join('\n'));
      storage.remove(kind, key);
      for (let at = 0; at < ORDINARY; at++) storage.remove('/pods', `default/ordinary-${at}`);
      await stage.pass(5_000);
      stage.add(pod('last').cpu('10m').labels({ app: 'web' }));
      await stage.pass(5_000);
      storage.remove('/pods', 'default/last');
      await stage.pass(5_000);
      assert.deepEqual(entries(parts), before);
      assert.deepEqual(
        scheduler.failures().filter((line) => !line.includes('slow scheduling decision')),
        [],
      );
    } finally {
      await world.stop();
    }
  });

test('what takes long of the first decision over a pod is done in small steps: a step compares it with one kind of pods, and the decision with none', () => {
  const compared = { now: 0 };
  const cluster = new Cluster(() => {
    compared.now += 1;
    return {};
  });
  const engine = new Engine({
    cluster,
    random: seededRandom(1),
    compat: defaultSchedulerConfig.compat,
    defaultSelectorOf: () => undefined,
    nominations: { nodes: [], on: () => [] },
    volumes: { key: () => '', prepare: () => undefined },
    inOneGo: 0,
  });
  const [profile = assert.fail()] = defaultSchedulerConfig.profiles.values();
  const KINDS = 50;
  for (let at = 0; at < 20; at++) cluster.setNode(node(`n${at}`).labels(labelsOf(MAX_TERMS)).build());
  for (let at = 0; at < KINDS; at++)
    cluster.addPod(
      podInfoOf(
        pod(`p${at}`)
          .on(`n${at % 20}`)
          .labels({ app: `a${at}` })
          .build(),
      ),
    );
  const info = podInfoOf(preferring('hostile', MAX_TERMS).build());
  let [longest, steps] = [0, 0];
  for (let isReady = false; !isReady; steps++) {
    compared.now = 0;
    isReady = engine.prepare(info, profile, () => true);
    longest = Math.max(longest, compared.now);
  }
  assert.ok(longest <= MAX_TERMS, `${longest} comparisons in one step`);
  assert.ok(steps >= KINDS, `${steps} steps`);
  compared.now = 0;
  assert.equal(engine.decide(info, profile).placed, true);
  assert.equal(compared.now, 0);
});
