import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { comparedReleases } from '../../../support/real-parts/release.ts';
import type { Release } from '../../../support/real-parts/release.ts';
import { RealWorld } from '../cluster/real-world.ts';
import { withRealParts } from '../suite.ts';
import { affinityDiffers, asLater, countsAlike, differing, pointsDiffer, recounted, unranked } from './compare.ts';
import { coreWith } from './core.ts';
import { namespaceObjects, randomCluster } from './random-cluster.ts';
import { modern, modernGates, modernStock } from './random-modern.ts';
import { ScoreLog } from './score-log.ts';
import type { Scored } from './score-log.ts';
import { ourConfig, startScheduler, upstreamNames } from './subjects.ts';
import { reasonsOf } from './texts.ts';
import { Trial } from './trial.ts';
import type { Verdict } from './trial.ts';

/** Each takes both schedulers about a second. */
const CLUSTERS = Number(process.env['DKC_CLUSTERS'] ?? 200);
/**
 * Nodes and pods come by watches of their own: a scheduler may be asked before it knows of the last change, or may have counted images before it did. So what
 * differs is looked at again, once both are known to have the cluster as it is; and then there must be no difference each of these times.
 */
const SETTLED_LOOKS = 3;
const schedulers = ['theirs', 'ours'] as const;

const subjects = ['ours', 'our engine', 'the oracle of our tests'] as const;
type SubjectName = (typeof subjects)[number];
type Differences = Partial<Record<SubjectName, string>>;

// Declared before the loop: a comparison begins while the release of the next one is built.
const reasonsAsked = [
  'node(s) were unschedulable',
  'node(s) had untolerated taint',
  "node(s) didn't match Pod's node affinity/selector",
  "node(s) didn't have free ports for the requested pod ports",
  'Too many pods',
  'Insufficient cpu',
  'Insufficient memory',
  'Insufficient ephemeral-storage',
  'Insufficient example.com/gpu',
  "node(s) didn't match pod topology spread constraints",
  "node(s) didn't match pod topology spread constraints (missing required label)",
  "node(s) didn't match pod affinity rules",
  "node(s) didn't match pod anti-affinity rules",
  "node(s) didn't satisfy existing pods anti-affinity rules",
];

const modernReasons = [
  'node(s) had volume node affinity conflict',
  'node(s) had no available volume zone',
  'node(s) had no available disk',
  'node(s) exceed max volume count',
  'pod has unbound immediate PersistentVolumeClaims',
];

/*
 * The same pod, on the same cluster, put to kube-scheduler and then to ours: both place it or both refuse it with the same words, and ours on a node that has
 * as many points with kube-scheduler as the one that it chose itself. What our engine gives every node, and the oracle that the engine is held to elsewhere, is
 * compared with the points in kube-scheduler's log. SEED=N for other clusters.
 */
const compared = await comparedReleases('scheduler');
for (const { release, isModern } of compared.flatMap((release) => [
  { release, isModern: false },
  ...(release.minor < 36 || release.minor === Infinity ? [] : [{ release, isModern: true }]),
])) {
  const count = isModern ? Math.ceil(CLUSTERS / 4) : CLUSTERS;
  const compare = (): void => {
    describe(`on ${count} random ${isModern ? 'modern ' : ''}clusters, as kube-scheduler ${release.version} does`, () => {
      const found = new Map<SubjectName, string[]>(subjects.map((name) => [name, []]));
      const seen: Seen = {
        placed: 0,
        refused: 0,
        chosen: 0,
        again: 0,
        reasons: new Set(),
        scorers: new Set(),
        recounted: { PodTopologySpread: none(), InterPodAffinity: none() },
      };
      before(() => play(found, seen, { release, isModern, count }));

      test('pods go where they would have gone, or are refused with its words', () => assert.deepEqual(found.get('ours'), []));
      test('our engine gives every node its points', () => assert.deepEqual(found.get('our engine'), []));
      test('the oracle gives every node its points, by plugin', () => assert.deepEqual(found.get('the oracle of our tests'), []));
      test('the clusters ask enough of a scheduler', (t) => {
        const { placed, refused, chosen, again, reasons, scorers } = seen;
        t.diagnostic(
          `${placed} placed, ${chosen} of them by points; ${refused} refused; ${again} looked at again; ${JSON.stringify(seen.recounted)}`,
        );
        assert.ok(placed > count && refused > count / 2 && (isModern || chosen > count));
        for (const name of recounted) assert.ok(seen.recounted[name].alike > seen.recounted[name].other, `mostly ${name} is counted alike`);
        const never = (isModern ? modernReasons : reasonsAsked).filter((reason) => !reasons.has(reason));
        // Some are rare: whether other clusters than everybody's come to each of them is chance.
        if (process.env['SEED'] === undefined) assert.deepEqual(never, [], 'reasons that were never given');
        else if (never.length > 0) t.diagnostic(`never given: ${never.join(', ')}`);
        assert.equal(scorers.size, release.minor < 36 ? 6 : 7, `points were given by ${[...scorers].join(', ')}`);
      });
    });
  };
  await withRealParts('schedulers compared', ['etcd', 'kube-apiserver', 'kube-scheduler'], compare, release);
}

interface Compared {
  release: Release;
  /** With what only servers of 1.36 take. */
  isModern: boolean;
  /** Of clusters. */
  count: number;
}

interface Seen {
  placed: number;
  refused: number;
  chosen: number;
  again: number;
  reasons: Set<string>;
  scorers: Set<string>;
  /** How often it makes no difference that 1.20 counts otherwise, and how often it does. */
  recounted: Record<(typeof recounted)[number], { alike: number; other: number }>;
}

function none() {
  return { alike: 0, other: 0 };
}

async function play(found: Map<SubjectName, string[]>, seen: Seen, { release, isModern, count }: Compared): Promise<void> {
  const first = Number(process.env['SEED'] ?? 0);
  const gates = isModern ? [modernGates] : [];
  const world = await RealWorld.begin({ release, more: [nodes], controllers: '', scheduler: false, apiServerArgs: gates });
  try {
    const trial = await Trial.open(world, isModern ? modernStock : []);
    await using theirs = await startScheduler('kube-scheduler', world.plane, { schedulerName: 'theirs', comparable: true, more: gates });
    const options = { schedulerName: 'ours', comparable: true };
    await using _ours = await startScheduler('dkc', world.plane, options);
    const core = coreWith(ourConfig(world.plane, options), upstreamNames(release), namespaceObjects);
    const log = new ScoreLog(theirs.logFile);
    const put = async (probe: Pod): Promise<Differences> => {
      const { verdict, pod, state } = await trial.put(probe, 'theirs');
      const scored = await log.next();
      const own = await trial.put(probe, 'ours');
      const [engine, oracle] = [core.engine(state, pod), core.oracle(state, pod)];
      // NodeResourcesFit of 1.36 gives points as if a pod did not ask as a whole: then only which nodes would do is compared.
      const asksAsWhole = pod.spec !== undefined && 'resources' in pod.spec;
      const points = asksAsWhole ? unranked(scored) : release.minor < 36 ? asLater(scored, oracle) : scored;
      // Neither is told of volumes here.
      const isPlain = (pod.spec?.volumes ?? []).length === 0 && !asksAsWhole;
      note(seen, verdict, scored);
      for (const name of recounted) {
        const isAlike = countsAlike(name, scored, oracle);
        if (isAlike !== undefined) seen.recounted[name][isAlike ? 'alike' : 'other'] += 1;
      }
      // kube-scheduler's log is to say why it chose what it did.
      return differences(
        differing(verdict, verdict, scored) ?? differing(verdict, own.verdict, points),
        // It finds the points of all nodes in one way, and the best node in another.
        isPlain
          ? (pointsDiffer(verdict, points, engine) ?? differing(verdict, engine.node === '' ? engine : { node: engine.node }, points))
          : undefined,
        isPlain ? (pointsDiffer(verdict, points, oracle) ?? affinityDiffers(scored, oracle)) : undefined,
      );
    };
    for (let seed = first; seed < first + count; seed++) {
      const drawn = randomCluster(seed, `c${seed}`);
      const cluster = isModern ? modern(seed, drawn) : drawn;
      await trial.build(cluster);
      for (const probe of cluster.probes) {
        let different = await put(probe);
        if (isDifferent(different)) {
          seen.again += 1;
          for (let look = 0, isFound = false; look < SETTLED_LOOKS && !isFound; look++) {
            await trial.settle(cluster, schedulers);
            // The points of what was asked meanwhile.
            await log.next();
            different = await put(probe);
            isFound = isDifferent(different);
          }
        }
        for (const name of subjects) {
          if (different[name] !== undefined) found.get(name)?.push(`SEED=${seed}: ${probe.metadata.name}: ${different[name]}`);
        }
      }
      await trial.clear(cluster);
    }
  } finally {
    await world.stop();
  }
}

function isDifferent(different: Differences): boolean {
  return Object.keys(different).length > 0;
}

function differences(...each: (string | undefined)[]): Differences {
  return Object.fromEntries(subjects.flatMap((name, n) => (each[n] === undefined ? [] : [[name, each[n]]])));
}

function note(seen: Seen, verdict: Verdict, scored: Scored | undefined): void {
  if ('refused' in verdict) {
    seen.refused += 1;
    for (const reason of reasonsOf(verdict.refused)) seen.reasons.add(reason.replace(/^\d+ /, '').replace(/ \{.*|\(s\)$/, ''));
    return;
  }
  seen.placed += 1;
  if (scored === undefined) return;
  seen.chosen += 1;
  for (const [name, points] of scored.each) if (new Set(points.values()).size > 1) seen.scorers.add(name);
}
