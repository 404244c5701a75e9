import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSets } from '../../../../kube/api/object.ts';
import { undoneAndRestarted, withSets, writesOf } from '../cluster/sets.ts';
import { Stage } from '../../../support/stories/daemonset/stage.ts';
import { startSubject } from '../cluster/controllers.ts';
import { RealWorld } from '../cluster/real-world.ts';

await withSets(
  'DaemonSets',
  (release) => RealWorld.begin({ release, more: [daemonSets], fence: daemonSets }),
  ({ plane }) => startSubject('dkc', plane),
  (here) => {
    const stage = (name: string): Promise<Stage> => Stage.open(here().world, name);

    test('kubectl waits for a rollout, shows its history, undoes and restarts', async () => {
      const { kubectl } = here();
      const s = await stage('kubectl');
      const rollout = (words: string) => kubectl.good(`rollout ${words} -n ${s.name}`);
      await s.nodes(3);
      await s.create({ annotations: { 'kubernetes.io/change-cause': 'the first' }, spec: { minReadySeconds: 2 } });
      assert.match(await rollout('status ds/web --timeout=90s'), /successfully rolled out/);
      const first = s.podOn(0);
      // So that it is not over when kubectl looks.
      const stuck = s.podOn(2);
      await s.kubelet(2, 'dead');
      await kubectl.good(`set image ds/web main=app:2 -n ${s.name}`);
      await kubectl.good(`annotate ds/web kubernetes.io/change-cause=second --overwrite -n ${s.name}`);
      await s.until('one pod ends and does not go', () =>
        s.pods().some(({ metadata }) => metadata.uid === stuck.metadata.uid && metadata.deletionTimestamp !== undefined),
      );
      await s.quiet();
      assert.match(
        await rollout('status ds/web --watch=false'),
        /Waiting for daemon set "web" rollout to finish: \d (out )?of 3 (new|updated) pods/,
      );
      await s.kubelet(2, 'alive');
      assert.match(await rollout('status ds/web --timeout=90s'), /successfully rolled out/);
      await s.quiet();
      assert.ok(s.isGone(first));
      await undoneAndRestarted(kubectl, s, 'ds/web', (n) => s.podOn(n));
    });

    test('the API server restarts in the middle of a rollout, and the rollout goes on', async () => {
      const s = await stage('restarts');
      await s.nodes(4);
      await s.create();
      await s.rolledOut();
      const before = s.pods();
      // It begins, and comes to no end before this one is back.
      await s.kubelet(3, 'dead');
      await s.image('app:2');
      const isEnding = () => s.pods().some(({ metadata }) => metadata.deletionTimestamp !== undefined);
      await s.until('the rollout has begun', () => isEnding() || before.some((pod) => s.isGone(pod)));
      await here().world.plane.restartApiServer();
      assert.ok(!before.every((pod) => s.isGone(pod)), 'the rollout is not over');
      await s.kubelet(3, 'alive');
      await s.rolledOut();
      assert.ok(before.every((pod) => s.isGone(pod)));
      assert.deepEqual(s.revisionNumbers(), [1, 2]);
    });

    test('sets go from kube-controller-manager to us and back, and no pod or revision is touched', async () => {
      const { world, subject } = here();
      await subject.stop();
      const s = await stage('handed-over');
      await s.nodes(3);
      await using upstream = await startSubject('kube-controller-manager', world.plane);
      const onDelete = { spec: { updateStrategy: { type: 'OnDelete' } } };
      const command = ['sh', '-c', 'test 1 \\< 2 && echo "<>" > /dev/null'];
      await Promise.all([s.create(), s.create({ name: 'hand', ...onDelete }), s.create({ name: 'tiny', pod: { hostNetwork: true } })]);
      for (const name of ['web', 'hand', 'tiny']) await s.rolledOut(name);
      await s.image('app:2');
      await s.rolledOut();
      await s.patch({ spec: { template: { spec: { containers: [{ name: 'main', command }] } } } });
      await s.rolledOut();
      await s.image('app:2', 'hand');
      await s.shows({ desired: 3, updated: 0 }, 'hand');
      await s.deletePod(s.podOn(1, 'hand'));
      await s.shows({ desired: 3, updated: 1, available: 3 }, 'hand');
      const left = writes(s);

      /** They have looked at every set when they are through with a new one, and nothing changes any more. */
      const settled = async (probe: string): Promise<void> => {
        await s.create({ name: probe });
        await s.rolledOut(probe);
        await s.remove('Background', probe);
        await s.until('it goes', () => s.pods().every(({ metadata }) => metadata.labels?.['app'] !== probe));
        await s.until('its revision goes', () => s.revisions().every(({ metadata }) => metadata.labels?.['app'] !== probe));
        await s.quiet();
      };
      await upstream.stop();
      await subject.start();
      await settled('probe');
      assert.deepEqual(writes(s), left, 'taken over');

      await subject.stop();
      await upstream.start();
      await settled('probe');
      assert.deepEqual(writes(s), left, 'handed back');

      // Back and forth in the middle of a rollout: the old revisions are theirs, the new one ours.
      await upstream.stop();
      await subject.start();
      const first = s.revisions().find(({ metadata }) => metadata.labels?.['app'] === 'web');
      await s.image('hollow/unready:4');
      await s.shows({ desired: 3, updated: 1, available: 2 });
      const half = writes(s);
      await subject.stop();
      await upstream.start();
      await settled('probe');
      assert.deepEqual(writes(s), half, 'handed back half way');
      await upstream.stop();
      await subject.start();
      await s.patch(first?.data);
      await s.rolledOut();
      const revisions = s.revisions().filter(({ metadata }) => metadata.labels?.['app'] === 'web');
      assert.deepEqual(
        revisions.map(({ revision }) => revision),
        [2, 3, 4, 5],
      );
      assert.equal(revisions.at(-1)?.metadata.uid, first?.metadata.uid, 'back at what kube-controller-manager made');
    });

    test('a set in a namespace that ends is left alone without an error', async () => {
      const s = await stage('ends');
      await s.nodes(2);
      await s.create();
      await s.rolledOut();
      await here().kubectl.good(`delete namespace ${s.name} --wait=false`);
      await s.until('all that it made goes', () => s.pods().length + s.revisions().length === 0);
      // The namespace controller empties one kind after the other, in no order: the set itself may be the last to go.
      const sets = here().world.more.get(daemonSets.resource);
      await s.until('the set goes', () => sets?.list(s.name).length === 0);
    });
  },
);

const writes = (s: Stage): string[] => writesOf([...s.pods(), ...s.revisions()]);
