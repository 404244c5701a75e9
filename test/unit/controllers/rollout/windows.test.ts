import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { windowProblems, windowState, type Window, type WindowState } from '../../../../controllers/rollout/windows.ts';

const window = (text: string): Window => {
  const [schedule = '', duration = '', timeZone] = text.split('; ');
  return { schedule, duration, ...(timeZone === undefined ? {} : { timeZone }) };
};
const at = (text: string): number => Date.parse(`${text}:00Z`);
const time = (ms: number): string => (ms === Infinity ? 'ever' : new Date(ms).toISOString().slice(0, 16));
const text = (state: WindowState): string => {
  if (state.open) return `until ${time(state.until)}`;
  return state.next === undefined ? 'closed' : `next ${time(state.next.from)} to ${time(state.next.until)}`;
};

// A window is its schedule; its duration; its zone. They are open until a time, or open next from one time to another, or never.
const states = table('now | windows | are | why')(`
  # A Friday in winter: Berlin is an hour ahead.
  2026-01-09T12:00 |                                  | until ever                                | is always open without windows
  2026-01-09T01:00 | 0 2 * * 1-5; 3h; Europe/Berlin   | until 2026-01-09T04:00                    | opens on the minute
  2026-01-09T04:00 | 0 2 * * 1-5; 3h; Europe/Berlin   | next 2026-01-12T01:00 to 2026-01-12T04:00 | is closed when its duration has passed
  2026-01-09T02:30 | 0 2 * * *; 1h                    | until 2026-01-09T03:00                    | reads UTC without a zone
  2026-01-09T23:00 | 30 22 * JAN-mar Fri; 90m         | until 2026-01-10T00:00                    | reads names of days and months
  2026-01-13T00:30 | 0 0 13 * 5; 1h | until 2026-01-13T01:00 | needs one of day of month and weekday, as crontab does
  2026-01-09T02:00 | 0 2 * * *; 2h + 30 3 * * *; 2h   | until 2026-01-09T05:30                    | counts overlapping windows as one
  2026-01-09T01:00 | 0 2 * * *; 2h + 0 4 * * *; 1h    | next 2026-01-09T02:00 to 2026-01-09T05:00 | counts adjoining windows as one
  2026-01-01T00:00 | 0 */4 1 1 *; 5h | until 2026-01-02T01:00 | follows starts of one window while it is open
  2026-01-01T00:00 | * * * * *; 1m                    | until 2026-01-01T00:17                    | looks ahead so far and no further
  2026-03-01T00:00 | 0 0 29 2 *; 1h                   | next 2028-02-29T00:00 to 2028-02-29T01:00 | finds a leap day
  2026-01-01T00:00 | 0 0 30 2 *; 1h                   | closed                                    | never opens on a day that does not exist
  2026-01-01T00:00 | x; 1h + 0 0 30 2 *; 1h + 0 2 * * *; 1h | next 2026-01-01T02:00 to 2026-01-01T03:00
    | never opens for a window with problems, beside one without

  # Berlin, 29 March 2026: 01:00Z is 03:00, and there is no 02:00 to 03:00. 25 October: 00:00Z and 01:00Z are both 02:00.
  2026-03-29T00:59 | 30 2 * * *; 1h; Europe/Berlin    | next 2026-03-29T01:00 to 2026-03-29T02:00 | opens at the end of the gap in spring
  2026-03-29T00:59 | 30 2,5 * * *; 1h; Europe/Berlin  | next 2026-03-29T01:00 to 2026-03-29T02:00 | opens there too where the hour is a list
  2026-03-29T00:00 | 30 */2 * * *; 10m; Europe/Berlin | next 2026-03-29T02:30 to 2026-03-29T02:40 | skips the gap where the hour has a step
  2026-10-25T00:30 | 30 2 * * *; 30m; Europe/Berlin   | until 2026-10-25T01:00                    | opens at the first 02:30 in autumn
  2026-10-25T01:30 | 30 2 * * *; 30m; Europe/Berlin   | next 2026-10-26T01:30 to 2026-10-26T02:00 | does not open at the second
  2026-10-25T01:30 | 30 * * * *; 10m; Europe/Berlin | until 2026-10-25T01:40 | opens in both hours where the hour is any
  # Lord Howe, 5 April 2026: 14:30Z and 15:00Z are both 01:30. 4 October: 15:30Z is 02:30, and there is no 02:00 to 02:30.
  2026-10-03T15:00 | 15 2 * * *; 1h; Australia/Lord_Howe | next 2026-10-03T15:30 to 2026-10-03T16:30
    | opens at the end of a gap of half an hour
  2026-04-04T15:15 | 45 1 * * *; 10m; Australia/Lord_Howe | next 2026-04-05T15:15 to 2026-04-05T15:25
    | opens once in half an hour that occurs twice
  # Cairo, 24 April 2026: at midnight it is 01:00 (22:00Z).
  2026-04-23T21:59 | 0 0 24 4 *; 1h; Africa/Cairo     | next 2026-04-23T22:00 to 2026-04-23T23:00 | opens on a day that has no midnight
  # Nuuk, 26 March 2028: at 23:00 on Saturday it is midnight (01:00Z).
  2028-03-26T00:59 | 30 23 * * *; 1h; America/Nuuk | next 2028-03-27T00:30 to 2028-03-27T01:30
    | is left out in a gap that ends at midnight, which croner does not look into
`);
for (const { now, windows, are, why } of states)
  test(`a window ${why}`, () => assert.equal(text(windowState(windows.split(' + ').filter(Boolean).map(window), at(now))), are));

const good = { schedule: '0 2 * * 1-5', duration: '3h' };
const FIELDS = 'write minute, hour, day of month, month and day of week, such as "0 2 * * 1-5"';
/** Fields over those of a good one, and what each problem says. */
// prettier-ignore
const problems: { why: string; window: object; finds: string[] }[] = [
  { why: 'a window with all fields', window: { timeZone: 'America/Argentina/Buenos_Aires' }, finds: [] },
  { why: 'the longest duration', window: { duration: '168h' }, finds: [] },
  { why: 'seconds', window: { schedule: '0 0 2 * * *' }, finds: ['schedule: "0 0 2 * * *" has 6 fields, not five'] },
  { why: 'an hour that does not exist', window: { schedule: '0 24 * * *' }, finds: ['(Invalid value for hour: 24); '] },
  { why: 'the last day', window: { schedule: '0 2 L * *' }, finds: ['has "L", which is not a number, name, list, range or step'] },
  { why: 'a day that does not exist', window: { schedule: '0 0 31 feb,4-11/5 *' }, finds: ['never starts: none of its months has that day'] },
  { why: 'a 31st of a month among others', window: { schedule: '0 0 31 */6 *' }, finds: [] },
  { why: 'a day that does not exist, or a weekday', window: { schedule: '0 0 31 2 1' }, finds: [] },
  { why: 'a zone that does not exist', window: { timeZone: 'Europe/Nowhere' }, finds: ['timeZone: "Europe/Nowhere" is not a time zone'] },
  { why: 'an offset', window: { timeZone: '+01:00' }, finds: ['timeZone: '] },
  { why: 'no duration', window: { duration: '0s' }, finds: ['duration: "0s" must be a duration of more than 0 and at most 168h'] },
  { why: 'a duration without a unit', window: { duration: '3' }, finds: ['duration: '] },
  { why: 'a duration that is too long', window: { duration: '168h0m1s' }, finds: ['duration: '] },
  { why: 'text that is too long', window: { schedule: '0,'.repeat(127) }, finds: ['schedule: has 254 characters; at most 253 are allowed'] },
  { why: 'no text', window: { schedule: 7, duration: undefined }, finds: ['schedule: must be a string', 'duration: must be a string'] },
];
for (const { why, window, finds } of problems)
  test(`problems of a window with ${why}`, () => {
    const found = windowProblems([good, { ...good, ...window }], 'spec.windows');
    assert.equal(found.length, finds.length, found.join('\n'));
    for (const [index, part] of finds.entries())
      assert.ok(found[index]?.startsWith('spec.windows[1].') && found[index].includes(part), found[index]);
    if (found.some((problem) => problem.includes('.schedule: "'))) assert.ok(found.some((problem) => problem.endsWith(FIELDS)));
  });

test('33 windows are one too many', () => {
  const all = Array.from({ length: 33 }, () => good);
  assert.deepEqual(windowProblems(all.slice(1), 'spec.windows'), []);
  assert.deepEqual(windowProblems(all, 'spec.windows'), ['spec.windows: has 33 windows; at most 32 are allowed']);
});
