import type { Millis } from '../../base/clock.ts';

/** One file of the bundle, redacted already, or one that was left out and why. */
export type Found =
  | {
      /** Below the bundle's own folder, parts separated by `/`. */
      path: string;
      text: string;
      /** What a reader should know of it. */
      note?: string;
      /** Which end of a text that is too long stays: logs keep their newest lines. @default start */
      keep?: 'start' | 'end';
    }
  | { path: string; leftOut: string };

export interface Collector {
  name: string;
  /** What it puts in, for `--dry-run`. */
  what: string;
  /** Errors are one line in the bundle; the others go on. */
  collect(signal: AbortSignal): Promise<readonly Found[]>;
}

export interface Failure {
  collector: string;
  why: string;
}

export interface BundleFile {
  path: string;
  text: string;
  bytes: number;
  note?: string;
}

export interface Contents {
  files: BundleFile[];
  leftOut: { path: string; why: string }[];
  errors: Failure[];
}

export interface Bounds {
  /** All files together, in bytes. */
  total: number;
  /** One file, in bytes. */
  file: number;
  /** Files. */
  count: number;
  /** One collector, in ms. */
  time: Millis;
}

export const MIB = 1024 * 1024;
export const defaultBounds: Bounds = { total: 50 * MIB, file: 4 * MIB, count: 5_000, time: 30_000 };
