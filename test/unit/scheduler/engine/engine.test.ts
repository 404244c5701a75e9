import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { PodAffinityTerm, PodSpec } from 'kubernetes-types/core/v1.js';
import { playRandomly, storyInWords } from './play.ts';
import { seededRandom } from '../../../../base/random.ts';
import { Cluster } from '../../../../scheduler/cache/cluster.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { Classes } from '../../../../scheduler/engine/classes.ts';
import { Engine } from '../../../../scheduler/engine/engine.ts';
import { RejectionTable } from '../../../../scheduler/engine/rejections.ts';
import { Buckets } from '../../../../scheduler/engine/resource-class.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { MAX_TERMS } from '../../../../scheduler/pod/pod-limits.ts';
import { node, pod, type PodBuilder } from '../builders.ts';

const FIRST = Number(process.env['SEED'] ?? 1);

for (const { why, worlds, questions } of [
  { why: 'in many clusters', worlds: 40, questions: 50 },
  { why: 'for long in one', worlds: 1, questions: 600 },
])
  test(`${why}, whatever happens, the engine answers as the oracle does`, () => {
    for (let seed = FIRST; seed < FIRST + worlds; seed++) {
      const played = playRandomly(seed, questions);
      if (played.wrong !== undefined) assert.fail(storyInWords(played));
    }
  });

const [profile = assert.fail()] = defaultSchedulerConfig.profiles.values();

const inZone = (name: string, n: number) => node(name).zone(`z${n}`);

function engineOn(nodes: number, deviceClasses: Readonly<Record<string, string>> = {}): { cluster: Cluster; engine: Engine } {
  const cluster = new Cluster();
  const engine = new Engine({
    cluster,
    random: seededRandom(1),
    compat: defaultSchedulerConfig.compat,
    defaultSelectorOf: () => undefined,
    nominations: { nodes: [], on: () => [] },
    volumes: { key: () => '', prepare: () => undefined },
    deviceClassOf: (resource) => deviceClasses[resource],
  });
  for (let n = 0; n < nodes; n++) cluster.setNode(inZone(`n${n}`, n % 3).build());
  return { cluster, engine };
}

const asks = (builder: PodBuilder, terms: readonly PodAffinityTerm[]): PodBuilder =>
  builder.affinity({
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm })) },
  });

const own = (name: string): PodAffinityTerm[] =>
  Array.from({ length: MAX_TERMS }, (_, at) => ({ topologyKey: `${name}/key-${at}`, labelSelector: { matchLabels: { [name]: `${at}` } } }));

test('topology keys that no node has take no memory, however many pods name new ones', () => {
  const { cluster, engine } = engineOn(20);
  engine.decide(podInfoOf(pod('first').build()), profile);
  const before = cluster.topologies.size;
  for (let n = 0; n < 50; n++) {
    engine.decide(podInfoOf(asks(pod(`asks-${n}`), own(`asks-${n}`)).build()), profile);
    const there = podInfoOf(asks(pod(`there-${n}`).on(`n${n % 20}`), own(`there-${n}`)).build());
    cluster.addPod(there);
    engine.decide(podInfoOf(pod('first').build()), profile);
    cluster.removePod(there.uid);
  }
  engine.decide(podInfoOf(pod('first').build()), profile);
  assert.equal(cluster.topologies.size, before);
  assert.equal(cluster.carried.size, 0);
});

test('selectors of pods that are gone are dropped: the number of cached rules is bounded', () => {
  const { cluster, engine } = engineOn(20);
  for (let n = 0; n < 300; n++) {
    const terms = own(`asks-${n}`).map((term) => ({ ...term, topologyKey: 'topology.kubernetes.io/zone' }));
    engine.decide(podInfoOf(asks(pod(`asks-${n}`), terms).build()), profile);
  }
  assert.ok(cluster.groups.sizes.counters <= 100, `${cluster.groups.sizes.counters} counters for 20,000 rules of 200 each`);
  engine.forget();
  assert.deepEqual([cluster.topologies.size, cluster.groups.sizes], [0, { groups: 0, counters: 0 }]);
});

/** Fields that our types of the API do not have. */
const newer = (fields: object): PodSpec => fields as PodSpec;
const elsewhere =
  'which this scheduler does not support: give the pod a spec.schedulerName of a scheduler that does, such as kube-scheduler';
const p = (fields: object = {}) => pod('p').spec(newer(fields));
const row = (why: string, of: PodBuilder, by?: string, says?: string) => ({ why, of, by, says });

const ofNpu = 'pod requests example.com/npu of DeviceClass npu';
const left = [
  row('with resource claims', p({ resourceClaims: [{ name: 'gpu' }] }), 'DynamicResources', 'pod has resourceClaims'),
  row('of a group', p({ schedulingGroup: { podGroupName: 'g' } }), 'GangScheduling', 'pod has a schedulingGroup'),
  row('that request an extended resource of a class', p().asks('example.com/npu', '1'), 'DynamicResources', ofNpu),
  row('that request one which nodes have as well', p().asks('example.com/gpu', '1')),
];
for (const { why, of, by, says } of left)
  test(`pods ${why} are ${by === undefined ? 'scheduled here' : 'left to another scheduler'}`, () => {
    const { cluster, engine } = engineOn(2, { 'example.com/gpu': 'gpu', 'example.com/npu': 'npu' });
    cluster.setNode(node('n1').has('example.com/gpu', '4').build());
    const decision = engine.decide(podInfoOf(of.build()), profile);
    assert.deepEqual(
      decision.placed ? {} : { by: [...decision.error.by].join(), says: decision.error.everywhere },
      by === undefined ? {} : { by, says: `${says}, ${elsewhere}` },
    );
  });

const classesOn = (cluster: Cluster): Classes =>
  new Classes({ cluster, rejections: new RejectionTable(), compat: defaultSchedulerConfig.compat, defaultSelectorOf: () => undefined });

test('an image makes a separate class only while a node has it', () => {
  const { cluster } = engineOn(20);
  const classes = classesOn(cluster);
  const of = (tag: string) => classes.resources(classes.classify(podInfoOf(pod(tag).image(`ci:${tag}`).build()), profile, undefined));
  const before = of('a');
  assert.equal(of('b'), before);
  cluster.setNode(inZone('n1', 1).image('ci:a', 1e9).build());
  assert.deepEqual([of('a') === before, of('b') === before], [false, true]);
  cluster.removeNode('n1');
  assert.equal(of('a'), before);
});

const memoryTest = 'resource classes count the memory that they take, whatever the weights are';
test(memoryTest, () => {
  const { gc } = globalThis;
  if (gc === undefined) {
    // Alone in a process: what other tests leave behind may be freed at any time.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return void execFileSync(process.execPath, ['--expose-gc', `--test-name-pattern=^${memoryTest}$`, import.meta.filename], {
      env,
      encoding: 'utf8',
    });
  }
  const heap = (): number => (gc(), process.memoryUsage().heapUsed);
  const { cluster } = engineOn(50);
  for (let n = 0; n < 50; n++) cluster.addPod(podInfoOf(pod(`on-${n}`).on(`n${n}`).cpu(`${n * 50}m`).build())); // prettier-ignore
  const heavy = { ...profile, scores: new Map([...profile.scores, ['NodeResourcesFit', 20] as const]) };
  const classes = classesOn(cluster);
  const make = (cpu: number) => {
    const one = classes.resources(classes.classify(podInfoOf(pod('p').cpu(`${cpu}m`).build()), heavy, undefined));
    one.refresh();
    return one.buckets.size > 0 ? one : assert.fail();
  };
  for (let n = 1; n <= 100; n++) make(n);
  const before = heap();
  const made = Array.from({ length: 400 }, (_, n) => make(101 + n));
  const took = heap() - before;
  const counted = made.reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(took > counted / 2 && took < counted * 2, `${took} bytes are counted as ${counted}`);
});

test('each node with the highest score is chosen equally often', () => {
  const buckets = new Buckets(20);
  for (let slot = 0; slot < 12; slot++) buckets.add(slot, 2);
  buckets.add(18, 3);
  buckets.add(19, 1);
  const random = seededRandom(5);
  const drawn = new Map<number, number>();
  for (let n = 0; n < 6_000; n++) {
    const slot = buckets.draw((one) => one < 3, random) ?? assert.fail();
    drawn.set(slot, (drawn.get(slot) ?? 0) + 1);
  }
  assert.deepEqual(new Set(drawn.keys()), new Set([0, 1, 2]));
  for (const [slot, times] of drawn) assert.ok(times > 1_850 && times < 2_150, `${slot} was drawn ${times} times of 6000`);
  assert.deepEqual([buckets.draw((one) => one === 19, random), buckets.draw(() => false, random)], [19, undefined]);
});
