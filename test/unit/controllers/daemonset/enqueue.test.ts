import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueueOnNode, SuspendedSets } from '../../../../controllers/daemonset/enqueue.ts';
import type { Placement, Node } from '../../../../controllers/common/types.ts';
import { rulesOf } from '../../../../controllers/daemonset/rules.ts';
import type { Change } from '../../../../kube/cache/change.ts';
import { daemonSet, node, type SetOptions } from './notation.ts';

interface Case {
  why: string;
  /** `before -> after` of a node, where one side may be missing. */
  change: string;
  set?: SetOptions;
  hasPods?: boolean;
  wakes: boolean;
}

const canary = { spec: { nodeSelector: { pool: 'canary' } } };
const chosen = { annotations: { 'dkc.dev/rollout-node-selector': 'pool=canary' } };
const cases: Case[] = [
  { why: 'a node comes where it should run', change: '-> a', wakes: true },
  { why: 'a node comes where it should not run', change: '-> a~', wakes: false },
  { why: 'a node comes back where it has pods', change: '-> a!', hasPods: true, wakes: true },
  { why: 'a node goes where it should run', change: 'a ->', wakes: true },
  { why: 'a node goes where it should not run and has pods', change: 'a~ ->', hasPods: true, wakes: true },
  { why: 'a taint keeps new pods away', change: 'a -> a~', wakes: true },
  { why: 'a taint evicts', change: 'a -> a!', wakes: true },
  { why: 'a taint comes that merely asks', change: 'a -> a^', wakes: false },
  { why: 'a label goes that it selects', change: 'a:canary -> a', set: canary, hasPods: true, wakes: true },
  { why: 'a label changes that is nothing to it', change: 'a -> a:canary', hasPods: true, wakes: false },
  { why: 'a label changes that may choose whom to update', change: 'a -> a:canary', set: chosen, wakes: true },
  { why: 'nothing changes', change: 'a -> a', set: chosen, hasPods: true, wakes: false },
];

function changeOf(text: string): Change<Node> {
  const [before = '', after = ''] = text.split('->').map((side) => side.trim());
  if (before === '') return { do: 'add', object: node(after) };
  return after === '' ? { do: 'delete', last: node(before), unseen: false } : { do: 'update', before: node(before), after: node(after) };
}

function wakes(change: Change<Node>, set: SetOptions = {}, hasPods = false, placement: Placement = 'scheduler'): string[] {
  return enqueueOnNode(change, { sets: [daemonSet(set)], rules: (of) => rulesOf(of, placement), hasPods: () => hasPods });
}

for (const { why, change, set, hasPods, wakes: expected } of cases)
  test(`a set is ${expected ? '' : 'not '}looked at when ${why}`, () =>
    assert.deepEqual(wakes(changeOf(change), set, hasPods), expected ? ['ns/ds'] : []));

test('a heartbeat wakes nobody, even where whatever changes may make room', () => {
  const before = node('a');
  const after = { ...before, metadata: { ...before.metadata, resourceVersion: '2', annotations: { beat: '1' } } };
  for (const placement of ['scheduler', 'controller'] as const)
    assert.deepEqual(wakes({ do: 'update', before, after }, {}, true, placement), []);
});

test('where the controller places pods, more room wakes every set', () => {
  const before = node('a!');
  const after = { ...before, status: { allocatable: { cpu: '2' } } };
  assert.deepEqual(wakes({ do: 'update', before, after }, {}, false, 'controller'), ['ns/ds']);
  assert.deepEqual(wakes({ do: 'update', before, after }), []);
});

/** `set@node` waits there, `!set` is gone. */
function after(story: string): SuspendedSets {
  const sets = new SuspendedSets();
  for (const step of story.split(' ').filter((one) => one !== '')) {
    const [, sign, set = '', node] = /^(!?)([^@]*)@?(.*)$/.exec(step) ?? [];
    if (sign === '!') sets.forgetSet(set);
    else sets.add(set, node ?? '');
  }
  return sets;
}

const suspensions = [
  { why: 'sets wait in the order in which they came', story: 'b@n1 a@n1 a@n2', n1: ['b', 'a'], n2: ['a'] },
  { why: 'a set waits once', story: 'a@n1 a@n1', n1: ['a'], n2: [] },
  { why: 'a set is gone', story: 'a@n1 b@n1 a@n2 !a', n1: ['b'], n2: [] },
  { why: 'the last set of a node is gone before another', story: 'a@n1 a@n2 b@n2 !a !b', n1: [], n2: [] },
];
for (const { why, story, n1, n2 } of suspensions)
  test(`suspended: ${why}`, () => {
    const sets = after(story);
    assert.deepEqual(sets.freed('n1'), n1);
    assert.deepEqual(sets.freed('n2'), n2);
    assert.equal(sets.size, n1.length + n2.length);
  });
