import type { Millis } from '../../../base/clock.ts';
import { MAX_WINDOWS, parseWindow, type ParsedWindow, type Window } from './window.ts';

export type { Window } from './window.ts';

/** A span of time: `from` belongs to it, `until` does not. In ms since 1970. */
export interface Span {
  from: Millis;
  until: Millis;
}

/** Whether nodes may be touched, and until or from when. `next` is undefined where no window opens any more. */
export type WindowState = { open: true; until: Millis } | { open: false; next: Span | undefined };

/** How often the schedules of all windows are asked, at most, for the end of a span that windows make together. */
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
