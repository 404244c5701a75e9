import { isJsonObject } from '../../kube/api/json.ts';
import type { Millis } from '../../base/clock.ts';

/** Corrections of the effective file within {@link WINDOW_MS}; each may cost a restart of the kubelet. */
export const MAX_CORRECTIONS = 3;
/** In ms. */
const WINDOW_MS: Millis = 3_600_000;

/**
 * `D/drift.json`: when policy had the effective file corrected. On disk, since each correction ends the agent.
 * @returns RFC 3339, oldest first; none where the text is not such a record
 */
export function parseCorrections(text: string): string[] {
  try {
    const json: unknown = JSON.parse(text);
    const times = isJsonObject(json) ? json['corrections'] : undefined;
    return Array.isArray(times) ? times.filter((time) => typeof time === 'string').slice(-MAX_CORRECTIONS) : [];
  } catch {
    return [];
  }
}

export function printCorrections(times: readonly string[]): string {
  return `${JSON.stringify({ corrections: times.slice(-MAX_CORRECTIONS) })}\n`;
}

/** Those of the last hour. A time that lies ahead, since the clock was set back, counts for an hour as well. @param now - wall clock, ms */
export function recentCorrections(times: readonly string[], now: Millis): string[] {
  return times.filter((time) => Math.abs(now - Date.parse(time)) < WINDOW_MS);
}
