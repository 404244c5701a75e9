import type { Millis } from '../../../base/clock.ts';
import { goDuration } from '../../../base/go-duration.ts';
import { parseSchedule, zoneProblem, type Starts } from './starts.ts';

/** When nodes may be touched: from each start of `schedule` on, for `duration`. */
export interface Window {
  /** Minute, hour, day of month, month, day of week, as in crontab; names of months and days in English, three letters. */
  schedule: string;
  /** A Go duration of elapsed time, such as `3h`: more than 0, at most 168h. A fraction of a millisecond counts as one. */
  duration: string;
  /** Name of the IANA database. @default UTC */
  timeZone?: string;
}

/** A window without problems. */
export interface ParsedWindow {
  starts: Starts;
  durationMs: Millis;
}

/** What is wrong with one field, in words that follow its path. */
export interface FieldProblem {
  field: keyof Window;
  problem: string;
}

export const MAX_WINDOWS = 32;
/** Longest text of a field, in characters. */
export const MAX_TEXT = 253;
const MAX_DURATION_MS: Millis = 7 * 24 * 3_600_000;
const EXAMPLE = 'write minute, hour, day of month, month and day of week, such as "0 2 * * 1-5"';

/** Windows that were read, by their text. Reading one costs as much as asking it twice. */
const parsed = new Map<string, ParsedWindow | readonly FieldProblem[]>();
const MAX_PARSED = 256;

export function parseWindow(window: Window): ParsedWindow | readonly FieldProblem[] {
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
    if (typeof text !== 'string') found(field, 'must be text');
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
