import type { Millis } from '../../base/clock.ts';

/** What a reflector tells of itself. */
export interface ReflectorMetrics {
  /** A list that was complete, also one that came as events of a watch. */
  listed(items: number, tookMs: Millis): void;
  /** A watch that ended, however it did. */
  watched(events: number, lastedMs: Millis): void;
  /** The version up to which everything is known. */
  reached(version: string): void;
  failed(): void;
}

export const noReflectorMetrics: ReflectorMetrics = { listed() {}, watched() {}, reached() {}, failed() {} };
