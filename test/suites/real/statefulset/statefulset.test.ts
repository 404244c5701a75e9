import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startKeeper, startWorld } from '../cluster/set-world.ts';
import { settled, undoneAndRestarted, withSets, writesOf } from '../cluster/sets.ts';
import { Stage } from '../../../support/stories/statefulset/stage.ts';

await withSets(
  'StatefulSets',
  startWorld,
  ({ plane }) => startKeeper('dkc', plane),
  (here) => {
    const stage = (name: string): Promise<Stage> => Stage.open(here().world, name);

    test('kubectl waits for a rollout, shows its history, undoes and restarts', async () => {
      const { kubectl } = here();
      const s = await stage('kubectl');
      const rollout = (words: string) => kubectl.good(`rollout ${words} -n ${s.name}`);
      await s.create({ annotations: { 'kubernetes.io/change-cause': 'the first' } });
      assert.match(await rollout('status sts/web --timeout=90s'), /roll out complete: 3 new pods have been updated/);
      await s.rolledOut();
      const first = s.pod(0);
      await kubectl.good(`set image sts/web main=app:2 -n ${s.name}`);
      assert.match(await rollout('status sts/web --timeout=90s'), /roll out complete: 3 new pods have been updated/);
      await s.rolledOut();
      assert.ok(s.isGone(first));
      await undoneAndRestarted(kubectl, s, 'sts/web', (n) => s.pod(n));

      await kubectl.good(`scale sts/web --replicas=2 -n ${s.name}`);
      await s.rolledOut();
      assert.equal(s.pods().length, 2);
      await s.partition(2);
      await s.image('hollow/unready:9');
      await s.shows({ updated: 0, ready: 2 });
      assert.match(await rollout('status sts/web --timeout=90s'), /partitioned roll out complete: 0 new pods/);
      await s.partition(0);
      await s.shows({ updated: 1, ready: 1 });
      assert.match(await rollout('status sts/web --watch=false'), /Waiting for .*1 pods to be ready|1 out of 2 new pods have been updated/);
    });

    test('the API server restarts in the middle of a rollout, and the rollout goes on', async () => {
      const s = await stage('restarts');
      await s.create({ replicas: 4 });
      await s.rolledOut();
      const before = s.pods();
      await s.image('app:2');
      await s.until('the rollout has begun', () => before.some((pod) => s.isGone(pod)));
      await here().world.plane.restartApiServer();
      await s.rolledOut();
      assert.ok(before.every((pod) => s.isGone(pod)));
      assert.deepEqual(s.revisionNumbers(), [1, 2]);
    });

    test('sets go from kube-controller-manager to us and back, and nothing is written', async () => {
      const { world, subject } = here();
      await subject.stop();
      const s = await stage('handed-over');
      await using upstream = await startKeeper('kube-controller-manager', world.plane);
      const command = ['sh', '-c', 'test 1 \\< 2 && echo "<>" > /dev/null'];
      await s.create({ claims: ['data'] });
      await s.create({ name: 'hand', replicas: 2, spec: { updateStrategy: { type: 'OnDelete' } } });
      await s.create({
        name: 'part',
        parallel: true,
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } },
      });
      for (const name of ['web', 'hand', 'part']) await s.rolledOut(name);
      await s.patch({ spec: { template: { spec: { containers: [{ name: 'main', command }] } } } });
      await s.image('app:2', 'hand');
      await s.image('app:2', 'part');
      await s.rolledOut();
      await s.shows({ updated: 2, current: 1, ready: 3 }, 'part');
      await s.shows({ updated: 0, ready: 2 }, 'hand');
      await s.deletePod(s.pod(1, 'hand'));
      await s.shows({ updated: 1, ready: 2 }, 'hand');
      const left = writes(s);
      await upstream.stop();
      await subject.start();
      await settled(s, (name) => s.create({ name, replicas: 1 }));
      assert.deepEqual(writes(s), left, 'taken over');

      await subject.stop();
      await upstream.start();
      await settled(s, (name) => s.create({ name, replicas: 1 }));
      assert.deepEqual(writes(s), left, 'handed back');
    });
  },
);

const writes = (s: Stage): string[] =>
  writesOf([...s.pods(), ...s.revisions(), ...s.claims(), ...['web', 'hand', 'part'].map((name) => s.set(name))]);
