import type { OwnWritesMetrics } from '../controller/own-writes.ts';

export type Labels = Record<string, string | number>;

/** What a controller counts by itself, without knowing who reads it. Each name once in a process: the second time throws. */
export interface Meters {
  /** @param subsystem - the controller, as the field spells it: `daemonset_controller` */
  ownWrites(subsystem: string): OwnWritesMetrics;
  /** @returns adds `by`, 1 by default */
  counter(name: string, help: string, labelNames?: readonly string[]): (labels?: Labels, by?: number) => void;
  /** @param read - asked at each scrape; cheap */
  gauge(name: string, help: string, read: () => number): void;
  /** One gauge with a value for each value of a label. @param read - asked at each scrape; cheap */
  gauges(name: string, help: string, labelName: string, read: () => Readonly<Record<string, number>>): void;
  /** @returns takes one more value */
  histogram(
    name: string,
    help: string,
    shape: { labelNames?: readonly string[]; buckets: readonly number[] },
  ): (value: number, labels?: Labels) => void;
}
