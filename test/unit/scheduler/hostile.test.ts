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
import { scene } from './simulated/scene.ts';
import type { Parts } from './simulated/world.ts';

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

const hostilePod = () => pod('hostile');
const constraints = list(8_000, (at) => ({ maxSkew: 1, topologyKey: `key-${at}`, whenUnsatisfiable: 'DoNotSchedule' }));
const staying = list(8_000, (at) => ({
  name: `c${at}`,
  restartPolicy: 'Always',
  resources: { requests: { [`example.com/r-${at}`]: '1' } },
}));
const ports = list(10_000, (at) => ({ containerPort: at + 1, hostPort: at + 1 }));
const volumes = list(10_000, (at) => ({ name: `v${at}`, persistentVolumeClaim: { claimName: `v${at}` } }));
const taints = list(10_000, (at) => ({ key: `t-${at}`, effect: 'NoSchedule' }));
const images = list(10_000, (at) => ({ names: [`image:${at}`], sizeBytes: 1 }));
const hostileNode = () => node('hostile').cordoned();

/** What a user of one namespace may make, and what a node may say of itself. */
const hostile: [what: string, object: object][] = [
  ['a pod with as many terms as may be', preferring('hostile', MAX_TERMS).build()],
  ['a pod with 4,000 terms', preferring('hostile', 4_000).build()],
  ['a pod on a node with 6,000 terms of anti-affinity', apart('hostile', 6_000).on('n1').build()],
  ['a pod with 8,000 constraints', hostilePod().spec({ topologySpreadConstraints: constraints }).build()],
  [
    'a pod with 10,000 tolerations',
    hostilePod()
      .tolerates(...list(10_000, (at) => ({ key: `t-${at}` })))
      .build(),
  ],
  ['a pod with 20,000 node selectors', hostilePod().selects(labelsOf(20_000)).build()],
  [
    'a pod on a node with 8,000 init containers that stay, each with its resource',
    hostilePod().on('n1').spec({ initContainers: staying }).build(),
  ],
  [
    'a pod on a node with 10,000 host ports',
    hostilePod()
      .on('n1')
      .spec({ containers: [{ name: 'c', ports }] })
      .build(),
  ],
  ['a pod with 10,000 claims', hostilePod().spec({ volumes }).build()],
  ['a pod with 40,000 labels', hostilePod().labels(labelsOf(40_000)).build()],
  ['a node with 40,000 labels', hostileNode().labels(labelsOf(40_000)).build()],
  [
    'a node with 10,000 taints',
    node('hostile')
      .taints(...taints)
      .build(),
  ],
  ['a node with 10,000 images', { ...hostileNode().build(), status: { allocatable: { pods: '5' }, images } }],
];

/** What is held of pods and nodes, in entries. */
function entries({ cluster: view, queue, nominator }: Parts): object {
  const { carried, groups, topologies, taintSetCount, podCount } = view as Cluster;
  const held = { carried: carried.size, groups: groups.sizes.groups, columns: topologies.size, taints: taintSetCount, pods: podCount };
  return { ...held, sizes: queue.sizes, nominated: nominator.size };
}

for (const [what, object] of hostile)
  test(`beside ${what} ${ORDINARY} ordinary pods are placed as without, and nothing of it stays`, async (t) => {
    const { world, stage, scheduler, nodeOf } = await scene(
      t,
      list(10, (at) => `n${at}`),
    );
    const web = (name: string, cpu = '10m') => pod(name).cpu(cpu).labels({ app: 'web' });
    stage.add(...list(10, (at) => web(`first-${at}`)));
    await stage.pass(5_000);
    const { parts = assert.fail('no scheduler') } = world;
    const before = entries(parts);
    const { storage } = world.api.hooks;
    const [kind, key] = (object as KubeObject).kind === 'Pod' ? ['/pods', 'default/hostile'] : ['/nodes', 'hostile'];
    storage.put(kind, key, object as KubeObject);
    const ordinary = list(ORDINARY, (at) => `ordinary-${at}`);
    stage.add(...ordinary.map((name) => web(name, '100m')));
    await stage.pass(10_000);
    assert.deepEqual(
      ordinary.filter((name) => nodeOf(name) === ''),
      [],
      scheduler.failures().join('\n'),
    );
    storage.remove(kind, key);
    for (const name of ordinary) storage.remove('/pods', `default/${name}`);
    await stage.pass(5_000);
    stage.add(web('last'));
    await stage.pass(5_000);
    storage.remove('/pods', 'default/last');
    await stage.pass(5_000);
    assert.deepEqual(entries(parts), before);
    assert.deepEqual(
      scheduler.failures().filter((line) => !line.includes('slow scheduling decision')),
      [],
    );
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
