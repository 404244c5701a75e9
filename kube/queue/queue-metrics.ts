import type { Millis } from '../../base/clock.ts';

/** Who counts what queues do. @see kube/metrics/queue-metrics.ts for the one that Prometheus reads */
export interface QueueMetrics {
  /**
   * A queue begins.
   * @param name - label of everything that is counted: `daemonset`
   * @param gauges - read whenever someone looks
   */
  open(name: string, gauges: QueueGauges): QueueCounts;
}

/** What a queue can be asked at any time. */
export interface QueueGauges {
  /** Visits owed: keys in the line, and keys with a worker that were added again. */
  depth(): number;
  /** How long each key that is with a worker has been there. */
  running(): Iterable<Millis>;
}

/** What a queue tells as it happens. Nothing here may throw. */
export interface QueueCounts {
  /** One visit more is owed. */
  added(): void;
  /** A worker took a key that was added `waited` ago. */
  taken(waited: Millis): void;
  /** A worker is done with a key after `worked`. */
  finished(worked: Millis): void;
  /** A key was asked to come later: a failure or a delayed add. */
  retried(): void;
}

export const noQueueMetrics: QueueMetrics = {
  open: () => ({ added() {}, taken() {}, finished() {}, retried() {} }),
};
