import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SuspendedSets } from '../../../../controllers/daemonset/enqueue.ts';

/** `set@node` waits there, `-set@node` was looked at and does not, `!set` is gone. */
function after(story: string): SuspendedSets {
  const sets = new SuspendedSets();
  for (const step of story.split(' ').filter((one) => one !== '')) {
    const [, sign, set = '', node] = /^([-!]?)([^@]*)@?(.*)$/.exec(step) ?? [];
    if (sign === '!') sets.forgetSet(set);
    else sets.evaluated(set, node ?? '', sign === '');
  }
  return sets;
}

const cases = [
  { why: 'nobody waits', story: '', n1: [], n2: [] },
  { why: 'sets wait in the order in which they came', story: 'b@n1 a@n1 a@n2', n1: ['b', 'a'], n2: ['a'] },
  { why: 'a set waits once', story: 'a@n1 a@n1', n1: ['a'], n2: [] },
  { why: 'a look that finds room ends it', story: 'a@n1 b@n1 -a@n1', n1: ['b'], n2: [] },
  { why: 'a look at another node does not', story: 'a@n1 a@n2 -a@n2', n1: ['a'], n2: [] },
  { why: 'a look at one that never waited changes nothing', story: 'a@n1 -b@n1', n1: ['a'], n2: [] },
  { why: 'a set may wait again', story: 'a@n1 -a@n1 a@n1', n1: ['a'], n2: [] },
  { why: 'a set is gone', story: 'a@n1 b@n1 a@n2 !a', n1: ['b'], n2: [] },
  { why: 'the last set of a node is gone before another', story: 'a@n1 a@n2 b@n2 !a !b', n1: [], n2: [] },
  { why: 'a set that nobody knows is gone', story: 'a@n1 !b', n1: ['a'], n2: [] },
];
for (const { why, story, n1, n2 } of cases) {
  test(`suspended: ${why}`, () => {
    const sets = after(story);
    assert.deepEqual(sets.freed('n1'), n1);
    assert.deepEqual(sets.freed('n2'), n2);
    assert.equal(sets.size, n1.length + n2.length);
  });
}

test('a set that was woken stays until it has been looked at, and may be looked at while it is woken', () => {
  const sets = after('a@n1 b@n1');
  for (const set of sets.freed('n1')) sets.evaluated(set, 'n1', set === 'b');
  assert.deepEqual(sets.freed('n1'), ['b']);
});
