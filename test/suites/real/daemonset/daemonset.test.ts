import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSets } from '../../../../kube/api/object.ts';
import { settled, undoneAndRestarted, withSets, writesOf } from '../cluster/sets.ts';
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
      await upstream.stop();
      await subject.start();
      await settled(s, (name) => s.create({ name }));
      assert.deepEqual(writes(s), left, 'taken over');

      await subject.stop();
      await upstream.start();
      await settled(s, (name) => s.create({ name }));
      assert.deepEqual(writes(s), left, 'handed back');
    });
  },
);

const writes = (s: Stage): string[] => writesOf([...s.pods(), ...s.revisions()]);
