import type { Millis } from '../../base/clock.ts';

/** Clock skew that is ignored, in s: a time ahead by less is shown as now. */
const CLOCKS_APART = 300;

/**
 * `5s`, `12m`, `3h`, `9d`: one unit is enough for ages. `?` for an invalid time, `now` for a time ahead by no more than {@link CLOCKS_APART}, `in 9d` for
 * a later one, written under a clock that was far ahead.
 */
export function age(at: string | null | undefined, now: Millis): string {
  const then = at === null || at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(then)) return '?';
  const seconds = Math.floor((now - then) / 1000);
  if (seconds < -CLOCKS_APART) return `in ${unit(-seconds)}`;
  return seconds < 1 ? 'now' : unit(seconds);
}

function unit(seconds: number): string {
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `12m ago`, `just now`, `in 9d`. */
export function ago(at: string | null | undefined, now: Millis): string {
  const text = age(at, now);
  if (text.startsWith('in ')) return text;
  return text === 'now' ? 'just now' : `${text} ago`;
}

/** `7m20s of 10m`: a duration in at most two units. */
export function span(ms: Millis): string {
  const seconds = Math.floor(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  if (h > 0) return m > 0 ? `${h}h${m}m` : `${h}h`;
  if (m > 0) return s > 0 ? `${m}m${s}s` : `${m}m`;
  return `${s}s`;
}

/** `812 B`, `4.2 KiB`, `1.0 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
