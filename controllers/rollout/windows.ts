import type { Millis } from '../../base/clock.ts';
import { goDuration } from '../../base/go-duration.ts';
import { Cron } from 'croner';

/** When nodes may be touched: from each start of `schedule` on, for `duration`. */
export interface Window {
  /** Minute, hour, day of month, month, day of week, as in crontab; names of months and days in English, three letters. */
  schedule: string;
  /** A Go duration of elapsed time, such as `3h`: more than 0, at most 168h. A fraction of a millisecond counts as one. */
  duration: string;
  /** Name of the IANA database. @default UTC */
  timeZone?: string;
}

/** A span of time: `from` belongs to it, `until` does not. In ms since 1970. */
interface Span {
  from: Millis;
  until: Millis;
}

/** Whether nodes may be touched, and until or from when. `next` is undefined where no window opens any more. */
export type WindowState = { open: true; until: Millis } | { open: false; next: Span | undefined };

/** Max lookups in the schedules of all windows to find the end of adjoining windows. */
const MAX_LOOKUPS = 16;

/**
 * What is wrong with the windows of a rollout.
 * @param path - the field they are in, such as `spec.windows`
 * @returns a sentence each, with the field first and the remedy last; none when they can be used
 */
export function windowProblems(windows: readonly Window[], path: string): string[] {
  if (windows.length > MAX_WINDOWS) return [`${path}: has ${windows.length} windows; at most ${MAX_WINDOWS} are allowed`];
  return windows.flatMap((window, index) => {
    const read = parseWindow(window);
    return 'starts' in read ? [] : read.map(({ field, problem }) => `${path}[${index}].${field}: ${problem}`);
  });
}

/**
 * Whether a window is open at `now`. Without windows it always is. A window is open from its start until `duration` of elapsed time has passed; windows
 * that overlap or adjoin count as one. One with problems never opens.
 * @param now - ms since 1970
 * @returns with `until`, when it closes: Infinity without windows. Where windows follow each other for long, it is an earlier moment, up to which it
 * is certainly open
 */
export function windowState(windows: readonly Window[], now: Millis): WindowState {
  if (windows.length === 0) return { open: true, until: Infinity };
  const usable = windows.slice(0, MAX_WINDOWS).flatMap((window) => {
    const read = parseWindow(window);
    return 'starts' in read ? [read] : [];
  });
  const until = endOf(usable, now);
  if (until > now) return { open: true, until };
  const starts = usable.flatMap(({ starts }) => starts.around(now).next ?? []);
  if (starts.length === 0) return { open: false, next: undefined };
  const from = Math.min(...starts);
  return { open: false, next: { from, until: endOf(usable, from) } };
}

/** @returns until when windows are open that follow each other from `moment` on; `moment` when none is open then */
function endOf(windows: readonly ParsedWindow[], moment: Millis): Millis {
  let until = Math.max(moment, ...windows.map(({ starts, durationMs }) => (starts.around(moment).last ?? -Infinity) + durationMs));
  if (until === moment) return moment;
  for (let lookups = 0; lookups < MAX_LOOKUPS;) {
    const starting = windows.filter(({ starts }) => (starts.around(moment).next ?? Infinity) <= until);
    lookups += starting.length;
    const later = Math.max(until, ...starting.map(({ starts, durationMs }) => (starts.around(until).last ?? -Infinity) + durationMs));
    if (later === until) break;
    until = later;
  }
  return until;
}

/** A window without problems. */
interface ParsedWindow {
  starts: Starts;
  durationMs: Millis;
}

/** What is wrong with one field, in words that follow its path. */
interface FieldProblem {
  field: keyof Window;
  problem: string;
}

const MAX_WINDOWS = 32;
/** Longest text of a field, in characters. */
const MAX_TEXT = 253;
const MAX_DURATION_MS: Millis = 7 * 24 * 3_600_000;
const EXAMPLE = 'write minute, hour, day of month, month and day of week, such as "0 2 * * 1-5"';

/** Parsed windows, by their text. Parsing one costs as much as two lookups. */
const parsed = new Map<string, ParsedWindow | readonly FieldProblem[]>();
const MAX_PARSED = 256;

function parseWindow(window: Window): ParsedWindow | readonly FieldProblem[] {
  const key = JSON.stringify([window.schedule, window.duration, window.timeZone]);
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const read = readWindow(window);
  if (parsed.size >= MAX_PARSED) parsed.clear();
  if (key.length <= 4 * MAX_TEXT) parsed.set(key, read);
  return read;
}

function readWindow({ schedule, duration, timeZone = 'UTC' }: Window): ParsedWindow | readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const found = (field: keyof Window, problem: string): undefined => void problems.push({ field, problem });
  for (const [field, text] of Object.entries({ schedule, duration, timeZone }) as [keyof Window, unknown][])
    if (typeof text !== 'string') found(field, 'must be a string');
    else if (text.length > MAX_TEXT) found(field, `has ${text.length} characters; at most ${MAX_TEXT} are allowed`);
  if (problems.length > 0) return problems;

  const inZone = zoneProblem(timeZone);
  if (inZone !== undefined) found('timeZone', `${JSON.stringify(timeZone)} ${inZone}`);
  const starts = parseSchedule(schedule, inZone === undefined ? timeZone : 'UTC');
  if (typeof starts === 'string') found('schedule', `${JSON.stringify(schedule)} ${starts}; ${EXAMPLE}`);
  const durationMs = millisOf(duration);
  if (durationMs === undefined || durationMs <= 0 || durationMs > MAX_DURATION_MS)
    found('duration', `${JSON.stringify(duration)} must be a duration of more than 0 and at most 168h, such as "3h"`);

  if (problems.length > 0 || typeof starts === 'string' || durationMs === undefined) return problems;
  return { starts, durationMs };
}

function millisOf(duration: string): Millis | undefined {
  const nanoseconds = goDuration(duration);
  return nanoseconds === undefined ? undefined : Math.ceil(Number(nanoseconds) / 1_000_000);
}

const MINUTE: Millis = 60_000;
/** More than one call of `windowState` needs. */
const MAX_KNOWN = 20;
const NAMES = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat';
/** Lists, ranges and steps of numbers and names. croner also reads `L`, `W`, `#`, `?` and `+`, which mean something else in every cron. */
const FIELD = new RegExp(`^(?:[\\d*,/-]|${NAMES})+$`, 'i');
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** A name of the IANA database. `Intl` also accepts offsets such as `+01:00`, which have no daylight saving. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/** The starts around a moment; undefined: there is none, ever. */
interface Around {
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
class Starts {
  readonly #cron: Cron;
  // Between two starts the result is the same, and croner takes a tenth of a millisecond for each lookup.
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
function zoneProblem(zone: string): string | undefined {
  const remedy = 'is not a time zone that is known here; write a name of the IANA database such as Europe/Berlin';
  if (!ZONE.test(zone)) return remedy;
  try {
    new Date(0).toLocaleDateString('en-US', { timeZone: zone }); // Intl throws for a zone that it does not know.
    return undefined;
  } catch {
    return remedy;
  }
}

/** @param zone - valid by `zoneProblem` @returns the starts, or why the text is no schedule */
function parseSchedule(schedule: string, zone: string): Starts | string {
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
