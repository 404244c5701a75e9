import { Cron } from 'croner';
import type { Millis } from '../../../base/clock.ts';

const MINUTE: Millis = 60_000;
/** More than one question of `windowState` asks. */
const MAX_KNOWN = 20;
const NAMES = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat';
/** Lists, ranges and steps of numbers and names. croner also reads `L`, `W`, `#`, `?` and `+`, which mean something else in every cron. */
const FIELD = new RegExp(`^(?:[\\d*,/-]|${NAMES})+$`, 'i');
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** A name of the IANA database. `Intl` also takes offsets such as `+01:00`, which know no daylight saving. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/** The starts around a moment; undefined: there is none, ever. */
export interface Around {
  /** The last one that is not after the moment. */
  last: Millis | undefined;
  /** The first one after it. */
  next: Millis | undefined;
}

/**
 * When a schedule starts. Daylight saving as in Vixie cron: a schedule whose minute and hour are numbers alone (also lists and ranges) starts at the
 * first minute after a gap for each start that lies in the gap, and once for a time that occurs twice, at the first. One with `*` or a step in minute or
 * hour follows the wall clock: nothing starts in a gap, and what occurs twice starts twice. croner 11 finds no start in a gap that ends at midnight; of
 * the zones of today only Nuuk and Scoresbysund have one, on a Saturday in March.
 */
export class Starts {
  readonly #cron: Cron;
  // Between two starts the answer is the same, and croner takes a tenth of a millisecond for each.
  #known: { from: Millis; to: Millis; around: Around }[] = [];

  constructor(cron: Cron) {
    this.#cron = cron;
  }

  around(moment: Millis): Around {
    const known = this.#known.find(({ from, to }) => from <= moment && moment < to);
    if (known !== undefined) return known.around;
    // Starts are whole minutes, and croner looks for one before, and after, the moment that it is given.
    const minute = Math.floor(moment / MINUTE) * MINUTE;
    const last = this.#cron.previousRuns(1, new Date(minute + MINUTE))[0]?.getTime();
    const next = this.#cron.nextRun(new Date(minute))?.getTime();
    const around = { last, next };
    this.#known = [...this.#known.slice(1 - MAX_KNOWN), { from: last ?? moment, to: next ?? Infinity, around }];
    return around;
  }
}

/** @returns why it is no time zone; undefined: it is one */
export function zoneProblem(zone: string): string | undefined {
  const remedy = 'is not a time zone that is known here; write a name of the IANA database such as Europe/Berlin';
  if (!ZONE.test(zone)) return remedy;
  try {
    new Date(0).toLocaleDateString('en-US', { timeZone: zone }); // Intl throws for a zone that it does not know.
    return undefined;
  } catch {
    return remedy;
  }
}

/** @param zone - one of which `zoneProblem` has nothing to say @returns the starts, or why the text is no schedule */
export function parseSchedule(schedule: string, zone: string): Starts | string {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return `has ${fields.length === 1 ? '1 field' : `${fields.length} fields`}, not five`;
  const wrong = fields.find((field) => !FIELD.test(field));
  if (wrong !== undefined) return `has ${JSON.stringify(wrong)}, which is not a number, name, list, range or step`;
  try {
    const cron = new Cron(fields.join(' '), { timezone: zone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
    // Asked for a day that does not exist, such as 30 February, croner searches a thousand years.
    return isNever(fields) ? 'never starts: none of its months has that day' : new Starts(cron);
  } catch (error) {
    return `cannot be read (${(error as Error).message.replace(/^CronPattern: /, '')})`;
  }
}

/** @param fields - that croner has accepted @returns whether none of the months has the day of the month, and no weekday is asked for */
function isNever([, , day = '*', month = '*', weekday = '*']: readonly string[]): boolean {
  if (weekday !== '*') return false; // Either of the two is enough.
  const firstDay = Math.min(...day.split(',').map((item) => (item.startsWith('*') ? 1 : Number.parseInt(item, 10))));
  const longest = Math.max(
    ...month
      .split(',')
      .flatMap(monthsOf)
      .map((number) => MONTH_DAYS[number - 1] ?? 0),
  );
  return firstDay > longest;
}

function monthsOf(item: string): number[] {
  const [range = '', step = '1'] = item.split('/');
  const [from = 1, to = range === '*' ? 12 : from] = range === '*' ? [] : range.split('-').map(monthNumber);
  const months: number[] = [];
  for (let month = from; month <= to; month += Number(step)) months.push(month);
  return months;
}

function monthNumber(text: string): number {
  const named = MONTHS.indexOf(text.toLowerCase());
  return named < 0 ? Number.parseInt(text, 10) : named + 1;
}
