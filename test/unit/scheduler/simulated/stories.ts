import type { StoryOn } from '../../../support/simulated/sweeping.ts';
import { pod } from '../builders.ts';
import type { Stage } from './stage.ts';

export type Story = StoryOn<Stage>;

const some = (name: string, count: number): ReturnType<typeof pod>[] =>
  Array.from({ length: count }, (_, n) => pod(`${name}-${n}`).cpu('1'));

/** Nodes have 4 cpus. */
export const stories: readonly Story[] = [
  {
    why: 'pods are bound, and what is left of the nodes is filled',
    nodes: ['a', 'b', 'c'],
    act: async (stage) => {
      stage.add(...some('large', 3).map((one) => one.cpu('3')));
      await stage.pass(2_000);
      stage.add(...some('small', 5));
      await stage.pass(1_000);
    },
  },
  {
    why: 'a set is rolled beside pods that wait for its capacity',
    nodes: ['a', 'b', 'c'],
    before: async (stage) => {
      // Where a set's pods are is told apart below: each may go to one node only at first.
      for (const node of ['a', 'b', 'c'])
        stage.addSet(`on-${node}`, '3', { replicas: 1 }, { nodeSelector: { 'kubernetes.io/hostname': node } });
      await stage.pass(3_000);
      stage.add(...some('small', 6));
      await stage.pass(10_000);
    },
    act: async (stage) => {
      for (const node of ['a', 'b', 'c']) {
        await stage.roll(`on-${node}`, { image: 'v2' });
        await stage.pass(1_000);
      }
    },
  },
  {
    why: 'a pod preempts others',
    nodes: ['a', 'b', 'c'],
    before: async (stage) => {
      stage.add(...some('small', 12));
      await stage.pass(5_000);
    },
    act: async (stage) => {
      stage.add(pod('large').cpu('3').priority(10));
      await stage.pass(5_000);
      stage.add(...some('late', 2));
      await stage.pass(1_000);
    },
  },
  {
    why: 'pods go while they are being bound, or wait',
    nodes: ['a', 'b', 'c'],
    act: async (stage) => {
      stage.add(...some('small', 14));
      await stage.delete('small-1');
      await stage.pass(2_000);
      await stage.delete('small-12');
      await stage.delete('small-2');
      stage.add(...some('late', 3));
      // What goes wrong does so before anybody looks.
      await stage.pass(1_000);
    },
  },
];
