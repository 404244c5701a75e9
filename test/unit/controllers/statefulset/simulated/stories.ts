import type { StoryOn } from '../../../../support/simulated/sweeping.ts';
import type { Stage } from './stage.ts';
import { template } from './world.ts';

export type Story = StoryOn<Stage>;

const parallel = { podManagementPolicy: 'Parallel' };

export const stories: readonly Story[] = [
  {
    why: 'a set grows from none to three, each with its claim',
    before: (stage) => stage.settledWith({ replicas: 0 }),
    act: (stage) => stage.scale(3),
  },
  { why: 'a set is made, all at once', act: async (stage) => stage.make({ ...parallel, replicas: 4 }) },
  { why: 'a set shrinks from three to one', before: (stage) => stage.settledWith(), act: (stage) => stage.scale(1) },
  {
    why: 'a set of pods that must be ready for a while is updated in order, down to its partition',
    before: (stage) =>
      stage.settledWith({ minReadySeconds: 2, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } }),
    act: (stage) => stage.turnTo('v2'),
  },
  {
    why: 'a set of pods without order is updated, two at a time',
    before: (stage) => stage.settledWith({ ...parallel, replicas: 4 }, { 'dkc.dev/max-unavailable': '2' }),
    act: (stage) => stage.turnTo('v2'),
  },
  {
    why: 'an update is taken back',
    before: async (stage) => {
      await stage.settledWith({ replicas: 2 });
      await stage.turnTo('v2');
    },
    act: (stage) => stage.turnTo('v1'),
  },
  {
    why: 'pods and revisions that a set left are adopted by the next one',
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
    why: 'claims go with the pods that a smaller set has no place for, and come back',
    before: (stage) =>
      stage.settledWith({ replicas: 2, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' } }),
    act: async (stage) => {
      await stage.scale(1);
      await stage.settled();
      await stage.pass(1_000);
      await stage.scale(2);
    },
  },
  {
    why: 'a set goes in the midst of an update, and another takes its name',
    late: { pods: 3, collisions: true },
    before: (stage) => stage.settledWith(),
    act: async (stage) => {
      await stage.image('v2');
      await stage.pass(350);
      await stage.remove();
      await stage.pass(0);
      stage.make({ replicas: 2, template: template('web', 'v3') });
    },
  },
  {
    why: 'pods fail and are made again; old revisions are forgotten',
    before: (stage) => stage.settledWith({ replicas: 2, revisionHistoryLimit: 0 }),
    act: async (stage) => {
      await stage.fail(0);
      await stage.fail(1);
      await stage.pass(3_000);
      await stage.turnTo('v2');
    },
  },
];
