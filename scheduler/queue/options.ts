import type { Millis } from '../../base/clock.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Hints } from './hints.ts';

export interface QueueOptions {
  /** Wall clock. */
  now: () => Millis;
  /** Wait after the first failure; it doubles with each. */
  initialBackoffMs: Millis;
  maxBackoffMs: Millis;
  /** After so long without an attempt a refused pod is tried again, though nothing is known to have happened. */
  flushMs: Millis;
  hints: Hints;
  /** Whether it goes before others of its priority. When this changes, {@link SchedulingQueue.reorder}. */
  favoured(info: PodInfo): boolean;
  /**
   * Pods with the same text get the same answer of every hint: they have the same namespace, requests, ports, tolerations, node selector, affinity,
   * spread constraints (with the labels these take values from) and volumes. Their own labels are told apart here. @default each its own
   */
  classOf?(info: PodInfo): string;
}
