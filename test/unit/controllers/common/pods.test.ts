import assert from 'node:assert/strict';
import { test } from 'node:test';
import { availableIn, batchOf, namePrefix, podFromTemplate } from '../../../../controllers/common/pods.ts';
import { daemonSets } from '../../../../kube/api/object.ts';
import type { PodCondition } from 'kubernetes-types/core/v1.js';

const owner = { metadata: { name: 'ds', namespace: 'ns', uid: 'ds-uid' } };
const spec = { containers: [{ name: 'c', image: 'x' }] };

test('a pod without labels is not made: nobody would find it', () => {
  for (const more of [{}, { metadata: { labels: {} } }])
    assert.throws(() => podFromTemplate({ spec, ...more }, owner, daemonSets), { message: 'unable to create pods, no labels' });
});

const names = [
  { why: 'ends in a dash', name: 'web', is: 'web-' },
  { why: 'may hold dots and digits', name: '0.web.1', is: '0.web.1-' },
  { why: 'is the name alone where a dash would make none', name: 'web.', is: 'web.' },
  { why: 'is the name alone where it is none by itself', name: 'Web', is: 'Web' },
];
for (const { why, name, is } of names) test(`the prefix of a pod's name ${why}`, () => assert.equal(namePrefix(name), is));

const NOW = Date.parse('2026-03-01T12:00:00Z');
const ready = (status: string, lastTransitionTime?: string): PodCondition => ({
  type: 'Ready',
  status,
  ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
});

const cases: { why: string; conditions: PodCondition[] | undefined; minReadyMs?: number; is: number | undefined }[] = [
  { why: 'not without the condition', conditions: [{ type: 'ContainersReady', status: 'True' }], is: undefined },
  { why: 'not while it is False', conditions: [ready('False', '2026-03-01T10:00:00Z')], is: undefined },
  { why: 'at once where no time is asked for', conditions: [ready('True', '2026-03-01T12:00:00Z')], is: 0 },
  { why: 'not a moment earlier', conditions: [ready('True', '2026-03-01T11:59:51Z')], minReadyMs: 10_000, is: 1_000 },
  { why: 'after the whole time', conditions: [ready('True', '2026-03-01T12:00:00Z')], minReadyMs: 10_000, is: 10_000 },
  {
    why: 'by the clock of now, where its node is ahead',
    conditions: [ready('True', '2026-03-01T12:00:05Z')],
    minReadyMs: 10_000,
    is: 15_000,
  },
  { why: 'never where a time is asked for and none is known', conditions: [ready('True')], minReadyMs: 10_000, is: undefined },
];
for (const { why, conditions, minReadyMs = 0, is } of cases)
  test(`a pod is available ${why}`, () =>
    assert.equal(availableIn({ status: conditions === undefined ? {} : { conditions } }, minReadyMs, NOW), is));

test('of large pods fewer are written at once than of small ones, and one at least', () => {
  const of = (letters: number): number => batchOf({ text: 'x'.repeat(letters) }, 500);
  assert.deepEqual([of(10), of(2 ** 20), of(9 * 2 ** 20)], [500, 3, 1]);
});
