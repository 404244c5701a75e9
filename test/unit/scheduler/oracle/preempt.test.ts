import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../scheduler/types.ts';
import { node, pod } from '../builders.ts';
import type { OracleCluster } from './cluster.ts';
import { clusterOf, engineDiffers, near, required } from './examples.ts';
import { preempt } from './preempt.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: who would have to go for a pod of priority 10 that wants 2 of a node's 4 cpus. */

interface Example {
  readonly why: string;
  readonly cluster: OracleCluster;
  readonly pod?: Pod;
  /** By node: `violations: victims`, most important first. */
  readonly victims: Readonly<Record<string, string>>;
  /** All that may be chosen; by default the one candidate. */
  readonly equals?: readonly string[];
  readonly message?: string;
}

const now = '2026-01-01T12:00:00Z';
const at = (hour: number) => `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z`;
const preemptor = () => pod('boss').cpu('2').priority(10);
/** A pod of an app of its own name. */
const on = (name: string, where: string, cpu: string, priority: number, hour = 1) =>
  pod(name).labels({ app: name }).on(where).cpu(cpu).priority(priority).started(at(hour));
const taken = 'preempted';

const examples: readonly Example[] = [
  {
    why: 'nobody where nobody is less important',
    cluster: clusterOf([node('a'), node('b').cordoned()], [on('x', 'a', '4', 10)]),
    victims: {},
    equals: [],
    message: '0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
  },
  {
    why: 'nobody where it would not be enough',
    cluster: clusterOf([node('a')], [on('x', 'a', '3', 10), on('y', 'a', '1', 1)]),
    victims: {},
    equals: [],
    message: '0/1 nodes are available: 1 Insufficient cpu.',
  },
  {
    why: 'also foes',
    cluster: clusterOf([node('a')], [pod('x').labels({ app: 'foe' }).on('a').started(at(1)), on('y', 'a', '1', 1)]),
    pod: preemptor().affinity({ podAntiAffinity: required(near('foe')) }).build(), // prettier-ignore
    victims: { a: '0: x' },
  },
  {
    why: 'also who objects',
    cluster: clusterOf([node('a')], [pod('x').affinity({ podAntiAffinity: required(near('boss')) }).on('a').started(at(1)), on('y', 'a', '1', 1)]), // prettier-ignore
    pod: preemptor().labels({ app: 'boss' }).build(),
    victims: { a: '0: x' },
  },
  {
    why: 'more of them where a place is promised to no less important ones',
    cluster: {
      ...clusterOf([node('a')], [on('x', 'a', '2', 1), on('y', 'a', '2', 2)]),
      nominated: [{ node: 'a', pod: pod('n').cpu('2').priority(10).build() }],
    },
    victims: { a: '0: y x' },
  },
  {
    why: 'whichever, when all are alike',
    cluster: clusterOf([node('b'), node('a')], [on('x', 'a', '4', 1), on('y', 'b', '4', 1)]),
    victims: { a: '0: x', b: '0: y' },
    equals: ['a', 'b'],
  },
  // Waiting for who goes already.
  {
    why: 'nobody while somebody goes on the node that is promised',
    cluster: clusterOf([node('a')], [leaving(taken)]),
    pod: promised().build(),
    victims: {},
    equals: [],
    message: 'not eligible due to a terminating pod on the nominated node.',
  },
  {
    why: 'somebody more, when the one who goes goes for another reason',
    cluster: clusterOf([node('a')], [leaving('other')]),
    pod: promised().build(),
    victims: { a: '0: x' },
  },
  {
    why: 'somebody elsewhere, when the node that is promised can not be any more',
    cluster: clusterOf([node('a').cordoned(), node('b')], [leaving(taken), on('y', 'b', '4', 1)]),
    pod: promised().build(),
    victims: { b: '0: y' },
  },
];

function leaving(why: string) {
  const one = on('x', 'a', '4', 1).terminating();
  const built = one.build();
  const reason = why === taken ? 'PreemptionByScheduler' : 'EvictionByEvictionAPI';
  Object.assign(built, { status: { ...built.status, conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] } });
  return one;
}

function promised() {
  const one = preemptor();
  Object.assign(one.build(), { status: { phase: 'Pending', nominatedNodeName: 'a' } });
  return one;
}

for (const { why, cluster, pod = preemptor().build(), victims, equals, message = '' } of examples)
  test(`preemption takes ${why}`, () => {
    const found = preempt(cluster, pod, plainProfile, { now });
    const said = found.candidates.map(({ node, victims, violations }) => [node, `${violations}: ${victims.join(' ')}`] as const);
    assert.deepEqual(Object.fromEntries(said), victims);
    assert.deepEqual(found.equals, equals ?? said.map(([name]) => name));
    assert.equal(found.message, message);
    assert.equal(engineDiffers(cluster, pod, plainProfile), undefined);
    if (found.candidates.length > 0) assert.ok(found.equals.includes(found.chosen ?? ''));
  });

test('of candidates that are alike the first in the order of the cluster is chosen', () => {
  const cluster = clusterOf([node('b'), node('a')], [on('x', 'a', '4', 1), on('y', 'b', '4', 1)]);
  assert.equal(preempt(cluster, preemptor().build(), plainProfile, { now }).chosen, 'b');
});
