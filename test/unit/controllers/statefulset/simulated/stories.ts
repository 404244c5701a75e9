import { pods } from '../../../../../kube/api/object.ts';
import type { StoryOn } from '../../../../support/simulated/sweeping.ts';
import type { Stage } from './stage.ts';
import { NODE, template } from './world.ts';

export type Story = StoryOn<Stage>;

const nodes = [NODE];
const parallel = { podManagementPolicy: 'Parallel' };

export const stories: readonly Story[] = [
  {
    why: 'a set grows from none to three, each with its claim',
    nodes,
    before: (stage) => stage.settledWith({ replicas: 0 }),
    act: (stage) => scale(stage, 3),
  },
  { why: 'a set is made, all at once', nodes, act: async (stage) => stage.make({ ...parallel, replicas: 4 }) },
  {
    why: 'a set shrinks from three to one',
    nodes,
    before: (stage) => stage.settledWith(),
    act: (stage) => scale(stage, 1),
  },
  {
    why: 'a set of pods that must be ready for a while is updated in order, down to its partition',
    nodes,
    before: (stage) =>
      stage.settledWith({ minReadySeconds: 2, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } }),
    act: async (stage) => {
      await stage.turnTo('v2');
      await stage.settled();
    },
  },
  {
    why: 'a set of pods without order is updated, two at a time',
    nodes,
    before: (stage) => stage.settledWith({ ...parallel, replicas: 4 }, { 'dkc.dev/max-unavailable': '2' }),
    act: async (stage) => {
      await stage.turnTo('v2');
      await stage.settled();
    },
  },
  {
    why: 'an update is taken back',
    nodes,
    before: async (stage) => {
      await stage.settledWith({ replicas: 2 });
      await stage.turnTo('v2');
      await stage.settled();
    },
    act: async (stage) => {
      await stage.turnTo('v1');
      await stage.settled();
    },
  },
  {
    why: 'pods and revisions that a set left are adopted by the next one',
    nodes,
    // A revision that is not yet seen to be an orphan has a name that is taken, and its pods are old.
    late: { pods: 3, collisions: true },
    before: async (stage) => {
      await stage.settledWith({ replicas: 2 });
      await stage.remove('Orphan');
      await stage.pass(2_000);
    },
    act: async (stage) => stage.make({ replicas: 2 }),
  },
  {
    why: 'an orphan gets its labels and is replaced',
    nodes,
    before: async (stage) => {
      stage.world.api.add({ apiVersion: 'v1', kind: 'Pod', ...orphan('web-0') });
      await stage.pass(1_000);
    },
    act: async (stage) => stage.make({ replicas: 2, volumeClaimTemplates: [] }),
  },
  {
    why: 'a pod is let go, for its labels changed',
    nodes,
    before: (stage) => stage.settledWith({ replicas: 2 }),
    act: async (stage) => {
      const pod = { name: 'web-1', namespace: 'default' };
      await stage.world.user.patch(pods, pod, { metadata: { labels: { app: 'other' } } }, { type: 'merge' });
      await stage.pass(1_000);
      await stage.world.user.delete(pods, pod, { body: { gracePeriodSeconds: 0 } }).catch(() => {});
    },
  },
  {
    why: 'claims go with the pods that a smaller set has no place for, and come back',
    nodes,
    before: (stage) =>
      stage.settledWith({ replicas: 2, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' } }),
    act: async (stage) => {
      await scale(stage, 1);
      await stage.settled();
      await stage.pass(1_000);
      await scale(stage, 2);
    },
  },
  {
    why: 'the set owns claims, and does not any more',
    nodes,
    before: (stage) => stage.settledWith({ replicas: 2 }),
    act: async (stage) => {
      await stage.patch({ spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' } } });
      await stage.pass(2_000);
      await stage.patch({ spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' } } });
    },
  },
  {
    why: 'a set goes in the midst of an update, and another takes its name',
    nodes,
    late: { pods: 3, collisions: true },
    before: (stage) => stage.settledWith(),
    act: async (stage) => {
      await stage.turnTo('v2');
      await stage.pass(350);
      await stage.remove();
      await stage.pass(0);
      stage.make({ replicas: 2, template: template('web', 'v3') });
    },
  },
  {
    why: 'a set is made when the name of its revision is taken',
    nodes,
    mayForgetCollisions: true,
    before: async (stage) => {
      await stage.settledWith({ replicas: 1 });
      const [mine] = stage.world.revisions();
      await stage.clear();
      stage.begin(nodes);
      const metadata = { name: mine?.metadata.name, namespace: 'default' };
      stage.world.api.add({
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata,
        revision: 1,
        data: { spec: { template: { spec: {} } } },
      });
    },
    act: async (stage) => stage.make({ replicas: 1 }),
  },
  {
    why: 'pods fail and are made again; old revisions are forgotten',
    nodes,
    before: (stage) => stage.settledWith({ replicas: 2, revisionHistoryLimit: 0 }),
    act: async (stage) => {
      await stage.fail(0);
      await stage.fail(1);
      await stage.pass(3_000);
      await stage.turnTo('v2');
      await stage.settled();
    },
  },
];

async function scale(stage: Stage, replicas: number): Promise<void> {
  await stage.patch({ spec: { replicas } });
}

function orphan(name: string): object {
  const { metadata, spec } = template('web', 'v0');
  return { metadata: { ...metadata, name, namespace: 'default' }, spec };
}
