import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSubject } from '../cluster/controllers.ts';
import { worldParts } from '../cluster/real-world.ts';
import type { RealWorld } from '../cluster/real-world.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { withRealParts } from '../suite.ts';
import { nodeOf, refusalOf, Stage, worldWith } from './stage.ts';
import { startScheduler } from './subjects.ts';

const SET = 3;
const DEPLOYMENT = 200;
const NODES = 3;
/** Of a node, in pods. So 18 of the Deployment's fit beside the set. */
const ROOM = 7;
const FIT = NODES * ROOM - SET;
/** Replacements of the first pod of a rollout, with either StatefulSet controller. */
const ROUNDS = 25;

/*
 * A StatefulSet is rolled on a cluster that is full, while 182 pods of a Deployment wait for room: whoever is quicker than the StatefulSet controller has the
 * place of the pod that it just deleted.
 */
await withRealParts('the place of a pod that is upgraded', worldParts, () => {
  const here = worldWith(async (world, ending) => {
    ending.use(await startSubject('kube-controller-manager', world.plane, ['--leader-elect=false'], 'deployment,replicaset'));
    return world;
  });
  /** Beside a scheduler of ours, whose log is told when something goes wrong. */
  const story = (title: string, schedulerName: string, play: (world: RealWorld) => Promise<void>, config = {}): void =>
    void test(title, async (t) => {
      await using scheduler = await startScheduler('dkc', here().plane, { schedulerName, config });
      try {
        await play(here());
      } catch (error) {
        t.diagnostic(await scheduler.log());
        throw error;
      }
    });

  const shown = { reservation: { mirror: true, mirrorImage: 'registry.example.com/pause:3.2' } };
  const kept = 'is kept with reservations: the rollout ends, every pod on its node, and the Deployment has what it had';
  story(kept, 'careful', async (world) => {
    await using _sets = await startSubject('kube-controller-manager', world.plane, ['--leader-elect=false'], 'statefulset');
    const s = await fullCluster(world, 'careful');
    const [places, had] = [placesOf(s), boundIn(s)];
    for (const tag of [2, 3]) {
      await s.image(`app:${tag}`, 'web');
      await s.until('it is rolled out', () => s.hasRolled('web', `app:${tag}`));
      assert.deepEqual(placesOf(s), places, 'in place');
      assert.deepEqual(boundIn(s), had, 'the Deployment runs what it ran');
    }
    const told = await s.events('web-2', (events) => events.some(({ reason }) => reason === 'ReservationUsed'));
    assert.ok(told.some(({ message }) => message === `Placed in the room kept on node ${places[2]}`));
    const ofSet = await s.events('web', (events) => events.some(({ reason }) => reason === 'ReservationCreated'));
    assert.ok(ofSet.some(({ message }) => message?.startsWith(`Room of pod ${s.name}/web-2 on node ${places[2]} is kept until `)));
    await s.clear();
  });

  const fromUpstream = async (world: RealWorld): Promise<void> => {
    const theirs = 'shown-to';
    let native = await startScheduler('kube-scheduler', world.plane, { schedulerName: theirs });
    let sets = await startSubject('kube-controller-manager', world.plane, ['--leader-elect=false'], 'statefulset');
    try {
      const s = await fullCluster(world, 'shown', { update: 'OnDelete', deployedBy: theirs });
      const places = placesOf(s);
      await s.image('app:2', 'web');
      await s.until('there is another revision', () => {
        const { currentRevision, updateRevision } = s.set('web').status ?? {};
        return updateRevision !== undefined && updateRevision !== currentRevision;
      });
      // Nobody makes the pod anew, and nobody is there to take its place, until something stands for it.
      await sets.stop();
      await native.stop();
      await s.cluster.deletePod(s.pod('web-2'));
      await s.until('a pod stands for its room', () => mirrors(s).length === 1);
      assert.deepEqual(mirrors(s).map(nodeOf), [places[2]]);
      native = await startScheduler('kube-scheduler', world.plane, { schedulerName: theirs });
      await s.create('late', { spec: { schedulerName: theirs } });
      assert.match(await s.refused('late'), new RegExp(`\\b${NODES} Insufficient cpu`));
      const had = boundIn(s);
      assert.equal(had.size, FIT);
      // Between the end of what stands for it and its own binding, the room is whoever's is quicker. Here nobody is.
      await native.stop();
      sets = await startSubject('kube-controller-manager', world.plane, ['--leader-elect=false'], 'statefulset');
      await s.until('the pod is back', () => s.find('web-2')?.spec?.containers[0]?.image === 'app:2' && nodeOf(s.find('web-2')) !== '');
      assert.deepEqual(placesOf(s), places, 'in place');
      assert.deepEqual(mirrors(s), []);
      native = await startScheduler('kube-scheduler', world.plane, { schedulerName: theirs });
      await s.create('later', { spec: { schedulerName: theirs } });
      assert.match(await s.refused('later'), new RegExp(`\\b${NODES} Insufficient cpu`));
      assert.deepEqual(boundIn(s), had, 'the Deployment runs what it ran');
      await s.clear();
    } finally {
      await sets.stop();
      await native.stop();
    }
  };
  story('is kept from kube-scheduler that comes while a pod stands for it, until the set has it back', 'shown', fromUpstream, shown);

  for (const kind of ['kube-controller-manager', 'dkc'] as const) {
    const title = `is kept for the first pod of ${ROUNDS} rollouts, of which ${kind} has not told yet when it deletes it`;
    story(title, `first-${kind}`, async (world) => {
      await using _sets = await startSubject(kind, world.plane, ['--leader-elect=false'], 'statefulset');
      const s = await fullCluster(world, `first-${kind}`, { update: SET - 1 });
      const [places, had] = [placesOf(s), boundIn(s)];
      for (let tag = 2; tag < 2 + ROUNDS; tag++) {
        await s.image(`app:${tag}`, 'web');
        await s.until(`round ${tag} is over`, () => s.hasRolled('web', `app:${tag}`, SET - 1));
        assert.deepEqual(placesOf(s), places, `round ${tag}`);
        assert.deepEqual(boundIn(s), had, `round ${tag}`);
      }
      await s.clear();
    });
  }
});

/** The set runs, the Deployment runs where there is room, and every other pod of it was refused. */
async function fullCluster(
  world: RealWorld,
  name: string,
  { update = 0, deployedBy = name }: { update?: number | 'OnDelete'; deployedBy?: string } = {},
): Promise<Stage> {
  const s = await Stage.open(world, name, NODES, ROOM);
  await s.statefulSet('web', { schedulerName: name, replicas: SET }, update);
  await s.until('the set runs', () => s.hasRolled('web', 'app:1'));
  await s.deployment('deploy', { schedulerName: deployedBy, replicas: DEPLOYMENT });
  await s.until('the Deployment has all the room that is left', () => isFull(s));
  return s;
}

function isFull(s: Stage): boolean {
  const own = s.ofApp('deploy');
  return (
    own.length === DEPLOYMENT && own.filter(isBound).length === FIT && own.every((pod) => isBound(pod) || refusalOf(pod) !== undefined)
  );
}

const isBound = (pod: Parameters<typeof nodeOf>[0]): boolean => nodeOf(pod) !== '';

/** Pods that stand for kept room. */
const mirrors = (s: Stage): Readonly<Pod>[] => s.pods().filter(({ metadata }) => metadata.labels?.['dkc.dev/room'] === 'kept');

/** Nodes by ordinal. */
const placesOf = (s: Stage): string[] => Array.from({ length: SET }, (_, n) => nodeOf(s.find(`web-${n}`)));

const boundIn = (s: Stage): Set<string> =>
  new Set(s.ofApp('deploy').flatMap((pod) => (isBound(pod) ? [`${pod.metadata.name} on ${nodeOf(pod)}`] : [])));
