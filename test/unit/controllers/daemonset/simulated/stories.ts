import { pinnedTo } from '../../../../../controllers/daemonset/pods.ts';
import { pods } from '../../../../../kube/api/object.ts';
import { isNotFound } from '../../../../../kube/client/errors.ts';
import { daemonSet } from '../../../../support/simulated/sets.ts';
import type { Stage } from './stage.ts';
import type { StoryOn } from '../../../../support/simulated/sweeping.ts';

export type Story = StoryOn<Stage>;

const four = ['a', 'b', 'c', 'd'];
const three = ['a', 'b', 'c'];
const two = ['a', 'b'];

const updated = (rollingUpdate: object, more: object = {}): Record<string, unknown> =>
  daemonSet('web', { updateStrategy: { type: 'RollingUpdate', rollingUpdate }, ...more });

export const stories: readonly Story[] = [
  { why: 'a set is made on four nodes', nodes: four, act: async (stage) => stage.add(daemonSet('web')) },
  {
    why: 'an update, two at a time',
    nodes: three,
    before: (stage) => stage.settledWith(updated({ maxUnavailable: 2 })),
    act: (stage) => stage.turnTo('v2'),
  },
  {
    why: 'an update that surges',
    nodes: two,
    before: (stage) => stage.settledWith(updated({ maxSurge: 1, maxUnavailable: 0 })),
    act: (stage) => stage.turnTo('v2'),
  },
  {
    why: 'orphans are adopted, and replaced',
    nodes: two,
    before: async (stage) => {
      for (const node of two) stage.add(orphan(node));
      await stage.pass(1_000);
    },
    act: async (stage) => stage.add(updated({ maxUnavailable: 2 })),
  },
  {
    why: 'a pod is let go, for its labels changed',
    nodes: two,
    before: (stage) => stage.settledWith(daemonSet('web')),
    act: async (stage) => {
      const { user } = stage.world;
      const pod = stage.podOn('b');
      await user.patch(pods, pod, { metadata: { labels: { app: 'other' } } }, { type: 'merge' });
      await stage.settled();
      // It runs on, beside its successor, unless somebody took it away before.
      await user.delete(pods, pod).catch(unlessGone);
    },
  },
  {
    why: 'old revisions are forgotten',
    nodes: ['a'],
    before: (stage) => stage.settledWith(daemonSet('web', { revisionHistoryLimit: 0 })),
    act: async (stage) => {
      await stage.turnTo('v2');
      await stage.turnTo('v3');
    },
  },
  {
    why: 'pods fail and are made again',
    nodes: two,
    before: (stage) => stage.settledWith(daemonSet('web')),
    act: async (stage) => {
      for (const node of ['a', 'b']) await stage.fail(node);
    },
  },
  {
    why: 'a set goes in the midst of an update, and another takes its name',
    nodes: two,
    // Pods for a set that is gone; and the name of its revision is still taken when the next one wants it.
    late: { pods: 2, collisions: true },
    before: (stage) => stage.settledWith(updated({ maxUnavailable: 2 })),
    act: async (stage) => {
      await stage.image('v2');
      await stage.pass(350);
      await stage.remove();
      await stage.pass(0);
      stage.add(updated({ maxUnavailable: 2 }));
    },
  },
  {
    why: 'a set is made when the name of its revision is taken',
    nodes: ['a'],
    before: async (stage) => {
      await stage.settledWith(daemonSet('web'));
      await stage.leaveRevisionName(['a']);
    },
    act: async (stage) => stage.add(daemonSet('web')),
  },
];

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function orphan(node: string): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `orphan-${node}`, namespace: 'default', labels: { app: 'web' } },
    spec: {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pinnedTo(node) } },
      containers: [{ name: 'c', image: 'v0' }],
    },
  };
}
