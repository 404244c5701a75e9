import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, type PodBuilder } from '../builders.ts';
import { clusterOf, engineDiffers, near, required, wishing, type Around } from './examples.ts';
import { budget } from '../preempt/budget.ts';
import { preempt } from './preempt.ts';
import { plainProfile } from './profile.ts';

/*
 * Worked examples: who would have to go for a pod of priority 10 that wants 2 of a node's 4 cpus. examples.ts says how nodes and pods are written; victims are written
 * NODE violations: names, most important first.
 */

const now = '2026-01-01T12:00:00Z';
const boss = () => pod('boss').cpu('2').priority(10);

/** On its way out of node a, for this reason. */
const leaving = (reason: string): PodBuilder => {
  const status = { phase: 'Running', conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] };
  return pod('x').cpu('4').priority(1).on('a').terminating().status(status);
};
const promised = () => boss().status({ nominatedNodeName: 'a' });

interface More extends Around {
  /** All that may be chosen. @default the one candidate */
  readonly equals?: readonly string[];
  readonly message?: string;
}
type Pods = Parameters<typeof clusterOf>[1];

function takes(why: string, nodes: string, pods: Pods, asking: PodBuilder, victims: readonly string[], more: More = {}): void {
  test(`preemption takes ${why}`, () => {
    const { equals, message = '', ...around } = more;
    const cluster = clusterOf(nodes, pods, around);
    const found = preempt(cluster, asking.build(), plainProfile, now);
    assert.deepEqual(
      found.candidates.map(({ node, victims, violations }) => `${node} ${violations}: ${victims.join(' ')}`),
      victims,
    );
    assert.deepEqual(found.equals, equals ?? found.candidates.map(({ node }) => node));
    assert.equal(found.message, message);
    assert.equal(engineDiffers(cluster, asking.build(), plainProfile), undefined);
    // Of candidates that are alike, the first in the order of the cluster.
    assert.equal(found.chosen, found.candidates.find(({ node }) => found.equals.includes(node))?.node);
  });
}

const nobody = '0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.';
takes('nobody where nobody is less important', 'a, b cordoned', 'x@a cpu=4 priority=10', boss(), [], { message: nobody });
const short = '0/1 nodes are available: 1 Insufficient cpu.';
takes('nobody where it would not be enough', 'a', 'x@a cpu=3 priority=10, y@a cpu=1 priority=1', boss(), [], { message: short });
const hating = boss().affinity({ podAntiAffinity: required(near('foe')) });
takes('also foes', 'a', 'foe@a, y@a cpu=1 priority=1', hating, ['a 0: foe']);
const objecting = [wishing('x', 'a', { podAntiAffinity: required(near('boss')) }), pod('y').cpu('1').priority(1).on('a')];
takes('also who objects', 'a', objecting, boss().labels({ app: 'boss' }), ['a 0: x']);
const two = 'x@a cpu=2 priority=1, y@a cpu=2 priority=2';
takes('more of them where a place is promised to no less important ones', 'a', two, boss(), ['a 0: y x'], {
  nominated: 'n@a cpu=2 priority=10',
});

// Whom to spare.
takes('the less important', 'a', 'x@a cpu=2 priority=5, y@a cpu=2 priority=1', boss(), ['a 0: y']);
takes('the more important alone, where it has to go anyway', 'a', 'x@a cpu=3 priority=5, y@a cpu=1', boss().cpu('3'), ['a 0: x']);
const ofY = { matchLabels: { app: 'y' } };
const beside = (...budgets: ReturnType<typeof budget>[]): More => ({ budgets });
const pair = 'x@a cpu=2 priority=5, y@a cpu=2 priority=1';
takes('who is not protected, though it is more important', 'a', pair, boss(), ['a 0: x'], beside(budget('y', 0, ofY)));
takes('who is protected where nothing else helps', 'a', 'y@a cpu=4', boss(), ['a 1: y'], beside(budget('y', 0, ofY)));
takes('as many as a budget allows', 'a', pair, boss(), ['a 0: y'], beside(budget('y', 1, ofY)));

takes('who is counted as disrupted already', 'a', pair, boss(), ['a 0: y'], beside(budget('y', 0, ofY, ['y'])));

const without = { ...budget('y', 1, ofY), status: undefined } as unknown as ReturnType<typeof budget>;
takes('none of a budget that nobody has looked at', 'a', pair, boss(), ['a 0: x'], beside(without));

// Where.
const nodesOf = (why: string, pods: string, victims: string[], best: string, more: More = {}): void =>
  takes(`victims ${why}`, 'a, b', pods, boss().cpu('4'), victims, { equals: [best], ...more });
const broken = beside(budget('y', 0, ofY));
nodesOf('where they break fewer budgets', 'y@a cpu=1, x@b cpu=1 priority=9', ['a 1: y', 'b 0: x'], 'b', broken);
const lesser = 'x@a priority=5 cpu=1, y@b priority=4 cpu=2, z@b priority=4 cpu=2';
nodesOf('where the most important is the least', lesser, ['a 0: x', 'b 0: y z'], 'b');
const lighter = 'x@a priority=5 cpu=1, y@a priority=4 cpu=1, x@b priority=5 cpu=1, y@b priority=3 cpu=1';
nodesOf('where the sum of priorities is the least', lighter, ['a 0: x y', 'b 0: x-1 y-1'], 'b');
nodesOf('where they are the fewest', 'x@a priority=5 cpu=1, y@a priority=-5 cpu=1, z@b priority=5 cpu=1', ['a 0: x y', 'b 0: z'], 'b');
takes('nobody for a pod that may not preempt', 'a', 'x@a cpu=4', boss().spec({ preemptionPolicy: 'Never' }), [], {
  message: 'not eligible due to preemptionPolicy=Never.',
});

// Waiting for who goes already.
const waits = 'not eligible due to a terminating pod on the nominated node.';
const preempted = leaving('PreemptionByScheduler');
takes('nobody while somebody goes on the node that is promised', 'a', [preempted], promised(), [], { message: waits });
takes('somebody more, when the one who goes goes for another reason', 'a', [leaving('EvictionByEvictionAPI')], promised(), ['a 0: x']);
