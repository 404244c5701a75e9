import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { nodes } from '../../../../kube/api/object.ts';
import type { ShapePoint } from '../../../../scheduler/config/config.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Node, Pod } from '../../../../scheduler/types.ts';
import type { StorageView } from '../../../../scheduler/volumes/contract.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { givenRelease } from '../../../support/real-parts/release.ts';
import { Chance } from '../../../unit/scheduler/oracle/chance.ts';
import { startProcess, type Subject } from '../cluster/subject.ts';
import type { RealWorld } from '../cluster/real-world.ts';
import { withRealParts } from '../suite.ts';
import { kubeScheduler } from './kube-scheduler.ts';
import { createStorage, randomStorage, storageOf, type PodStorage } from './random-storage.ts';
import { best, ScoreLog, type Points } from './score-log.ts';
import { refusalOf, Stage, startWorld } from './stage.ts';
import { startScheduler } from './subjects.ts';

const PODS = 60;
const NODES = 6;
const SCORERS = ['ImageLocality', 'InterPodAffinity', 'NodeAffinity', 'PodTopologySpread', 'TaintToleration'] as const;
const own = ['NodeResourcesFit', 'NodeResourcesBalancedAllocation', ...SCORERS];

/** As files have them, 0 to 10: kube-scheduler's default with the gate, and one with a bend that fills nodes. */
const shapes: Readonly<Record<string, readonly ShapePoint[]>> = {
  free: [
    { utilization: 0, score: 10 },
    { utilization: 100, score: 0 },
  ],
  full: [
    { utilization: 10, score: 1 },
    { utilization: 55, score: 3 },
    { utilization: 90, score: 10 },
  ],
};

/*
 * Pods whose claims get their volumes with them, put to kube-scheduler with StorageCapacityScoring: our rules give every node the points that its log tells of, and
 * a pod with equal storage that is put to ours goes to one of the best of these nodes. All storage is there before the schedulers start. SEED=N for other storage.
 */
const release = await givenRelease();
const compare = (): void => {
  test(`${PODS} pods get the points of kube-scheduler ${release.version} for the storage of ${NODES} nodes`, async (t) => {
    const seed = Number(process.env['SEED'] ?? 0);
    const world = await startWorld({ release, controllers: '' });
    try {
      const stage = await Stage.open(world, 'storage', NODES, 64);
      const racks = await Promise.all(Array.from({ length: NODES }, (_, n) => stage.cluster.label(n, { rack: `r${n}` })));
      const chance = new Chance(seededRandom(seed));
      const asked = Array.from({ length: PODS }, (_, n) => randomStorage(chance, `p${n}`, racks.length));
      for (const each of asked) await createStorage(world.client, stage.name, each);
      const view = await storageOf(world.client);
      await using theirs = await startTheirs(world);
      await using ours = await startOurs(world);
      const log = new ScoreLog(theirs.logFile);
      const seen = { scored: 0, refused: 0, points: new Set<number>() };
      for (const [n, storage] of asked.entries()) {
        const shape = n % 2 === 0 ? 'free' : 'full';
        const node = await decided(stage, `theirs-${shape}`, storage);
        const theirPoints = (await log.next())?.each.get('VolumeBinding');
        const expected = pointsOf(world, view, podOf(stage, `theirs-${shape}`, storage), shapes[shape] ?? []);
        if (node === undefined) {
          seen.refused += 1;
          assert.equal(expected.size, 0, `SEED=${seed}: ${storage.name} was refused by kube-scheduler`);
          continue;
        }
        if (theirPoints === undefined) continue;
        seen.scored += 1;
        for (const points of theirPoints.values()) seen.points.add(points);
        assert.deepEqual(sorted(expected), sorted(theirPoints), `SEED=${seed}: ${storage.name}`);
        const chosen = await decided(stage, `ours-${shape}`, storage);
        assert.ok(
          chosen !== undefined && best(expected).has(chosen),
          `SEED=${seed}: ${storage.name} went to ${chosen}: ${await ours.log()}`,
        );
      }
      t.diagnostic(`${seen.scored} were scored, ${seen.refused} refused; ${seen.points.size} different points`);
      assert.ok(seen.scored > PODS / 2 && seen.refused > 0 && seen.points.size > 20, 'the storage asks enough of a scheduler');
    } finally {
      await world.stop();
    }
  });
};
await withRealParts('points for free storage', ['etcd', 'kube-apiserver', 'kube-scheduler'], compare, release);

function startTheirs({ plane }: RealWorld): Promise<Subject> {
  const plugins = { score: { disabled: [{ name: '*' }], enabled: [{ name: 'VolumeBinding', weight: 1 }] } };
  const profiles = Object.entries(shapes).map(([name, shape]) => ({
    schedulerName: `theirs-${name}`,
    plugins,
    pluginConfig: [{ name: 'VolumeBinding', args: name === 'free' ? { bindTimeoutSeconds: 600 } : { bindTimeoutSeconds: 600, shape } }],
  }));
  const more = ['--feature-gates=StorageCapacityScoring=true', '--vmodule=schedule_one=10'];
  return startProcess('kube-scheduler', { ca: plane.ca, kubeconfig: () => plane.kubeconfig() }, (place) =>
    kubeScheduler({ plane, ...place, config: { percentageOfNodesToScore: 100, profiles }, more }),
  );
}

function startOurs({ plane }: RealWorld): Promise<Subject> {
  const plugins = Object.fromEntries(own.map((name) => [name, { weight: 0 }]));
  const profiles = Object.entries(shapes).map(([name, shape]) => ({
    schedulerName: `ours-${name}`,
    plugins,
    pluginArgs: { VolumeBinding: { shape } },
  }));
  return startScheduler('dkc', plane, { config: { profiles } });
}

/** @param scheduler - its name; both have claims of their own, so that neither takes the other's volumes */
function podOf(stage: Stage, scheduler: string, { name, claims }: PodStorage): Pod {
  const of = scheduler.startsWith('ours') ? 'ours' : 'theirs';
  return stage.manifest(`${name}-${scheduler}`, {
    cpu: '0',
    spec: {
      schedulerName: scheduler,
      volumes: claims.map(({ claim }) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${of}` } })),
    },
  });
}

/** The node for which the volumes are being bound; undefined where none would do. Nobody binds them: the pod stays there. */
async function decided(stage: Stage, scheduler: string, storage: PodStorage): Promise<string | undefined> {
  const { metadata } = await stage.cluster.createPod(podOf(stage, scheduler, storage));
  const { name = '' } = metadata;
  const nominated = (): string | undefined => stage.find(name)?.status?.nominatedNodeName;
  await stage.until(`${name} is decided on`, () => nominated() !== undefined || refusalOf(stage.find(name)) !== undefined);
  return nominated();
}

/** As our rules have them, of the nodes that would do. */
function pointsOf(world: RealWorld, view: StorageView, pod: Pod, shape: readonly ShapePoint[]): Points {
  const needs = volumeRules.needs(podInfoOf(pod), view);
  assert.ok(needs !== undefined && !('reasons' in needs), 'the pod needs storage');
  const all = [...(world.more.get(nodes.resource)?.list() ?? [])] as Node[];
  const inside = shape.map(({ utilization, score }) => ({ utilization, score: score * 10 }));
  return new Map(
    all
      .filter((node) => volumeRules.filter(needs, { node, pods: [] }, view) === undefined)
      .map((node) => [node.metadata.name ?? '', volumeRules.score(needs, node, view, inside, 100)]),
  );
}

const sorted = (points: Points): [string, number][] => [...points].toSorted(([a], [b]) => (a < b ? -1 : 1));
