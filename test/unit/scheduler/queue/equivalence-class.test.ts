import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { equivalenceClassOf, type EquivalenceState, requirementsKey } from '../../../../scheduler/queue/equivalence-class.ts';
import { fitErrorText, type FitError } from '../../../../scheduler/engine/rejections.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { createHints } from '../../../../scheduler/queue/hints.ts';
import { createQueue } from '../../../../scheduler/queue/queue.ts';
import { node, pod, type PodBuilder } from '../builders.ts';
import { profiles } from '../engine/profiles.ts';
import { engineSubject } from '../engine/subject.ts';
import { Chance } from '../oracle/chance.ts';
import { near, required } from '../oracle/examples.ts';
import { applied, eventsOf, randomCluster, randomEvent, randomPod, type GeneratedCluster } from '../oracle/generate.ts';

const NOW = '2026-03-01T00:00:00Z';

/** @param lowest - the least important pod's priority that is on a node */
function facts(lowest: number, enabled = true): EquivalenceState {
  return {
    nominator: { nodeOf: () => undefined },
    held: { of: () => undefined },
    volumes: { key: () => '' },
    cluster: { lowestPriority: lowest },
    config: { preemption: { ...defaultSchedulerConfig.preemption, enabled } },
  };
}

const by = new Set<Rejector>(['NodeResourcesFit']);
const reasons = new Map([['Insufficient cpu', 2]]);
const error: FitError = { nodes: 2, reasons, everywhere: undefined, by, resolvable: 2 };

const row = (why: string, alike: boolean, b: PodBuilder, more: Partial<FitError> = {}, lowest = 0) => ({ why, alike, b, more, lowest });
const b = () => pod('b');
const indexed = b().labels({ index: '1' });
const anyNode = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } };
const pairs = [
  row('another name', true, b()),
  row('other requests', false, b().cpu('2')),
  row('another priority', false, b().priority(1)),
  row('another preemption policy', false, b().spec({ preemptionPolicy: 'Never' })),
  row('other tolerations', false, b().tolerates({ operator: 'Exists' })),
  row('another node selector', false, b().selects({ disk: 'ssd' })),
  row('a node affinity', false, b().affinity(anyNode)),
  row('a pod affinity', false, b().affinity({ podAffinity: required(near('db')) })),
  row('a pod anti-affinity', false, b().affinity({ podAntiAffinity: required(near('db')) })),
  row('a host port', false, b().port(80)),
  row('other labels, and the room was short everywhere', true, indexed),
  row('other labels, and other pods had a say', false, indexed, { by: new Set([...by, 'InterPodAffinity']) }),
  row('other labels, and pods are counted', false, indexed, { by: new Set(['PodTopologySpread']) }),
  row('other labels, and somebody is there who might make room', false, indexed, {}, -1),
  row('other labels, and nobody can make room that would help', true, indexed, { resolvable: 0 }, -1),
  row('the same, refused before nodes were asked', false, b(), { everywhere: 'why' }),
  row('the same, without any nodes', false, b(), { nodes: 0 }),
];
for (const { why, b, more, lowest, alike } of pairs)
  test(`pods are ${alike ? '' : 'not '}refused likewise with ${why}`, () => {
    const [one, other] = [pod('a'), b].map((made) => equivalenceClassOf(facts(lowest), podInfoOf(made.build()), { ...error, ...more }));
    assert.equal(one !== undefined && one === other, alike);
  });

test('what helps a pod with an extended resource of devices does not depend on one beside it that has claims of devices as well', () => {
  const gpu = (name: string) => pod(name).asks('example.com/gpu', '1');
  const claims: object = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'one' }] };
  const queue = createQueue({
    now: () => 1_000_000,
    initialBackoffMs: 1,
    maxBackoffMs: 1,
    flushMs: 300_000,
    hints: createHints({ namespaceLabels: () => undefined }),
    prioritized: () => false,
    classOf: requirementsKey,
  });
  for (const one of [gpu('claims').spec(claims), gpu('plain')]) {
    queue.add(podInfoOf(one.build()));
    const popped = queue.pop();
    assert.ok(popped);
    queue.requeue(popped, { why: 'refused', by: new Set(['DynamicResources']) }, popped.info);
  }
  queue.enqueueOn({ kind: 'node-added', after: node('n').has('example.com/gpu', '1').build() });
  assert.deepEqual(
    [...queue.list()].map(({ pool, queued }) => [queued.info.name, pool]),
    [
      ['claims', 'unschedulable'],
      ['plain', 'backoff'],
    ],
  );
});

test('nobody stands for a pod that was promised a node, that room is kept for, or that has volumes', () => {
  const one = podInfoOf(pod('a').build());
  const room = {} as ReturnType<EquivalenceState['held']['of']>;
  for (const own of [{ nominator: { nodeOf: () => 'n' } }, { held: { of: () => room } }, { volumes: { key: () => 'claim' } }])
    assert.equal(equivalenceClassOf({ ...facts(0), ...own }, one, error), undefined);
});

const SEEDS = Number(process.env['DKC_LIKEWISE_SEEDS'] ?? 60);

test(`in ${SEEDS} random clusters pods that are said to be refused likewise are`, () => {
  let compared = 0;
  for (let seed = 1; seed <= SEEDS; seed++) compared += compare(seed);
  assert.ok(compared > SEEDS, `${compared} were compared only`);
});

/** @returns how many pods were compared with one like them */
function compare(seed: number): number {
  const random = seededRandom(seed);
  const chance = new Chance(random);
  let cluster = randomCluster(random, 2 + chance.upTo(6));
  const subject = engineSubject(seededRandom(seed + 1), cluster.budgets);
  for (const event of eventsOf(cluster)) subject.happened(event);
  let compared = 0;
  for (let round = 0; round < 10; round++) {
    for (let events = chance.upTo(4); events > 0; events--) {
      const event = randomEvent(random, cluster);
      subject.happened(event);
      cluster = applied(cluster, event);
    }
    const lowest = Math.min(...cluster.pods.map(({ spec }) => spec?.priority ?? 0));
    const profile = chance.one(profiles);
    const said = new Map<string, { of: Pod; text: string }>();
    for (const of of waiting(chance, random, cluster)) {
      const decision = subject.decide(of, profile);
      if (decision.placed) continue;
      const made = subject.preempt(of, profile, NOW);
      const text = `${[...decision.error.by].toSorted().join()} ${fitErrorText(decision.error, made.message)} ${made.chosen === undefined ? '' : 'room can be made'}`;
      const key = equivalenceClassOf(facts(lowest), podInfoOf(of), decision.error);
      if (key === undefined) continue;
      const known = said.get(key);
      if (known === undefined) said.set(key, { of, text });
      else assert.equal(text, known.text, `seed ${seed}: ${JSON.stringify(of)} beside ${JSON.stringify(known.of)}`);
      if (known !== undefined) compared += 1;
    }
  }
  return compared;
}

/** Pods that may be told apart by little: some twice, some with other labels than those they were made after. */
function waiting(chance: Chance, random: () => number, cluster: GeneratedCluster): Pod[] {
  return Array.from({ length: 8 }, () => randomPod(random, cluster)).flatMap((made, at) => {
    const { metadata, spec } = made;
    const named = (suffix: string, labels = metadata.labels): Pod => {
      const name = `waits-${at}-${suffix}`;
      return {
        ...made,
        metadata: { ...metadata, name, uid: name, ...(labels && { labels }) },
        spec: { containers: [], ...spec },
        status: {},
      };
    };
    const other = { ...metadata.labels, app: chance.one(['web', 'db', 'cache']) };
    return [named('a'), named('b'), named('c', other), named('d', { index: `${at}` })];
  });
}
