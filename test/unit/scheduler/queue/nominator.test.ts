import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { Nominator } from '../../../../scheduler/queue/nominator.ts';
import { pod } from '../builders.ts';

/** `a`, or `a>n`: its status says that it goes to n. @param on - the node that it is on. @default none */
function info(text: string, on = ''): PodInfo {
  const [name = '', nominatedNodeName] = text.split('>');
  return podInfoOf(pod(name).uid(`uid-${name}`).on(on).status({ nominatedNodeName }).build());
}

const picture = (nominator: Nominator) => {
  const names = (node: string) => nominator.on(node).map(({ name }) => name);
  return [...nominator.nodes].map((node) => `${node}: ${names(node).join(' ')}`).toSorted();
};

test('pods are nominated by their status or by the scheduler, and listed oldest nomination first', () => {
  const nominator = new Nominator();
  nominator.add(info('a>n'));
  nominator.add(info('b'), 'n');
  nominator.add(info('c>m'));
  nominator.add(info('d'));
  assert.deepEqual(picture(nominator), ['m: c', 'n: a b']);
  assert.deepEqual([nominator.size, nominator.nodeOf('uid-b'), nominator.nodeOf('uid-d')], [3, 'n', undefined]);
  assert.equal(nominator.delete('uid-a'), 'n');
  assert.equal(nominator.delete('uid-a'), undefined);
  nominator.add(info('b'), 'm');
  assert.deepEqual(picture(nominator), ['m: c b']);
  nominator.add(info('c'), '');
  nominator.delete('uid-b');
  assert.deepEqual([picture(nominator), nominator.size], [[], 0]);
});

test('a pod that is on a node is nominated for none', () => {
  const nominator = new Nominator();
  nominator.add(info('a>n', 'n'));
  nominator.add(info('b'), 'n');
  nominator.add(info('b', 'n'), 'n');
  assert.deepEqual(picture(nominator), []);
});

const updates = [
  { why: 'that was removed here is not restored by the status', here: '', before: 'a>n', after: 'a>n', left: [] },
  { why: 'moves with the status', here: 'n', before: 'a>n', after: 'a>m', left: ['m: a'] },
  { why: 'ends with the status', here: 'n', before: 'a>n', after: 'a', left: [] },
];
for (const { why, here, before, after, left } of updates)
  test(`a nomination ${why}`, () => {
    const nominator = new Nominator();
    nominator.add(info(before), here);
    const now = info(after);
    nominator.update(info(before), now);
    assert.deepEqual(picture(nominator), left);
    for (const node of nominator.nodes) assert.equal(nominator.on(node)[0], now, 'the newest of the pod');
  });
