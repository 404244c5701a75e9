import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition } from 'kubernetes-types/core/v1.js';
import { availableIn, isReady } from '../../../../controllers/common/availability.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const ready = (status: string, lastTransitionTime?: string): PodCondition => ({
  type: 'Ready',
  status,
  ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
});

const cases: { why: string; conditions: PodCondition[] | undefined; minReadyMs?: number; is: number | undefined }[] = [
  { why: 'not without conditions', conditions: undefined, is: undefined },
  { why: 'not without the condition', conditions: [{ type: 'ContainersReady', status: 'True' }], is: undefined },
  { why: 'not while it is False', conditions: [ready('False', '2026-03-01T10:00:00Z')], is: undefined },
  { why: 'not while it is Unknown', conditions: [ready('Unknown', '2026-03-01T10:00:00Z')], is: undefined },
  { why: 'at once where no time is asked for', conditions: [ready('True', '2026-03-01T12:00:00Z')], is: 0 },
  { why: 'at once where no time is asked for, since whenever', conditions: [ready('True')], is: 0 },
  { why: 'at once where no time is asked for, since a time to come', conditions: [ready('True', '2026-03-01T13:00:00Z')], is: 0 },
  { why: 'when the time is over', conditions: [ready('True', '2026-03-01T11:59:50Z')], minReadyMs: 10_000, is: 0 },
  { why: 'not a moment earlier', conditions: [ready('True', '2026-03-01T11:59:51Z')], minReadyMs: 10_000, is: 1_000 },
  { why: 'after the whole time', conditions: [ready('True', '2026-03-01T12:00:00Z')], minReadyMs: 10_000, is: 10_000 },
  {
    why: 'by the clock of now, where its node is ahead',
    conditions: [ready('True', '2026-03-01T12:00:05Z')],
    minReadyMs: 10_000,
    is: 15_000,
  },
  { why: 'never where a time is asked for and none is known', conditions: [ready('True')], minReadyMs: 10_000, is: undefined },
  { why: 'never where the time cannot be read', conditions: [ready('True', 'noon')], minReadyMs: 10_000, is: undefined },
  {
    why: 'never while it is not ready, whatever the time',
    conditions: [ready('False', '2026-03-01T10:00:00Z')],
    minReadyMs: 10_000,
    is: undefined,
  },
];
for (const { why, conditions, minReadyMs = 0, is } of cases)
  test(`a pod is available ${why}`, () =>
    assert.equal(availableIn({ status: conditions === undefined ? {} : { conditions } }, minReadyMs, NOW), is));

test('a pod without status is neither ready nor available', () => {
  assert.equal(isReady({}), false);
  assert.equal(availableIn({}, 0, NOW), undefined);
});

test('a pod is ready when its condition is True', () => {
  assert.equal(isReady({ status: { conditions: [{ type: 'Initialized', status: 'False' }, ready('True')] } }), true);
  assert.equal(isReady({ status: { conditions: [ready('False')] } }), false);
});
