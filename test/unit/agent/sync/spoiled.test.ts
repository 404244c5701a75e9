import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDue, SAVED_AGAIN, spoiled } from '../../../../agent/sync/observe.ts';
import type { JournalEvent, JournalLine } from '../../../../agent/store/store.ts';
import { source } from '../../../support/builders.ts';

/** `damaged web@7`, one a minute. */
function journal(...lines: string[]): JournalLine[] {
  return lines.map((text, minute) => {
    const [event = '', name = '', ...more] = text.split(' ');
    const detail = event === 'damaged' ? SAVED_AGAIN : more.join(' ');
    return { at: new Date(minute * 60_000).toISOString(), event: event as JournalEvent, source: source(name), detail };
  });
}

// prettier-ignore
const cases: { why: string; lines: string[]; times: number }[] = [
  { why: 'one saved again', lines: ['assigned web@7', 'damaged web@7'], times: 1 },
  { why: 'falls back in between', lines: ['assigned web@7', 'damaged web@7', 'booted web@3 using last-known-good: x', 'damaged web@7'], times: 2 },
  { why: 'others that are saved again', lines: ['damaged web@7', 'damaged db@9', 'damaged web@8'], times: 1 },
  { why: 'a boot that could use it', lines: ['damaged web@7', 'booted web@7 using assigned', 'damaged web@7'], times: 1 },
  { why: 'a new assignment of it', lines: ['damaged web@7', 'damaged web@7', 'assigned web@7'], times: 0 },
];
for (const { why, lines, times } of cases)
  test(`${why}: saved again in vain ${times} times`, () => assert.equal(spoiled(journal(...lines), source('web@7'))?.times ?? 0, times));

test('the wait doubles from 30 s to an hour, and ends at once when the clock was set back', () => {
  const waits = [1, 2, 3, 7, 8, 500].map((times) => {
    for (const seconds of [30, 60, 120, 1920, 3600]) if (isDue({ times, lastMs: 0 }, seconds * 1000)) return seconds;
    return undefined;
  });
  assert.deepEqual(waits, [30, 60, 120, 1920, 3600, 3600]);
  assert.equal(isDue({ times: 1, lastMs: 0 }, 29_999), false);
  assert.equal(isDue({ times: 8, lastMs: 1_000_000 }, 0), true);
});
