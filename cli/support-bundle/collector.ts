import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { printableLines, jsonText } from '../output/printable.ts';
import { withinBounds } from './bounds.ts';
import { redactText } from './redact/text.ts';
import type { KnownValues } from './redact/known-values.ts';
import { dispatch } from '../dispatch.ts';
import { commands } from '../commands.ts';
import { redactObject } from './redact/objects.ts';
import type { Context } from '../command.ts';

/** One redacted file of the bundle, or a file that was left out, with the reason. */
export type Found =
  | {
      /** Path in the bundle's folder, separated by `/`. */
      path: string;
      text: string;
      /** Remark for the reader. */
      note?: string;
      /** Which end of a text is kept if it is too long: logs keep their newest lines. @default start */
      keep?: 'start' | 'end';
    }
  | { path: string; leftOut: string };

export interface Collector {
  name: string;
  /** What the collector adds, for `--dry-run`. */
  what: string;
  /** An error becomes one line in the bundle; other collectors continue. */
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
  /** Time of one collector, in ms. */
  time: Millis;
}

export const MIB = 1024 * 1024;
export const defaultBounds: Bounds = { total: 50 * MIB, file: 4 * MIB, count: 5_000, time: 30_000 };

/** Concurrent collectors. */
const AT_ONCE = 4;

/** Runs every collector. A collector that fails or times out becomes an entry of `errors`, and stops no other. */
export async function collectAll(
  { clock, signal }: { clock: Pick<Clock, 'after'>; signal: AbortSignal },
  collectors: readonly Collector[],
  known: KnownValues,
  bounds: Bounds,
): Promise<Contents> {
  const found: Found[][] = collectors.map(() => []);
  const errors: Failure[] = [];
  const queue = [...collectors.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [at, collector] = next;
      signal.throwIfAborted();
      try {
        found[at] = [...(await inTime(clock, signal, bounds.time, (until) => collector.collect(until)))];
      } catch (error) {
        signal.throwIfAborted();
        errors.push({ collector: collector.name, why: redactText(describeError(error)) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const swept = found.flat().map((one): Found => {
    const path = known.sweep(one.path);
    if ('leftOut' in one) return { path, leftOut: known.sweep(one.leftOut) };
    const text = printableLines(known.sweep(one.text));
    return { ...one, path, text, ...(one.note === undefined ? {} : { note: known.sweep(one.note) }) };
  });
  return withinBounds(
    swept,
    errors.map(({ collector, why }) => ({ collector, why: known.sweep(why) })),
    bounds,
  );
}

async function inTime<T>(
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
  ms: number,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  // Avoids an unhandled rejection if the timeout fires after the work is done.
  promise.catch(() => undefined);
  const stop = clock.after(ms, () => late.abort(new Error(`no result within ${ms / 1000} s`)));
  const until = AbortSignal.any([signal, late.signal]);
  until.addEventListener('abort', () => reject(until.reason as Error), { once: true });
  try {
    return await Promise.race([work(until), promise]);
  } finally {
    stop();
  }
}

/** Whether this dkc has a command of this name. */
export const hasCommand = (name: string): boolean => commands.some((entry) => entry.name === name);

/**
 * Redacted output of a command of dkc with `-o json`. A failed check (exit 1) is a valid result: bundles are made to analyze failures.
 * @throws {Error} with the line on stderr for other exit codes
 */
export async function ownCommand(context: Context, argv: readonly string[], path: string): Promise<Found> {
  let [out, errors] = ['', ''];
  const quiet = { isTTY: false, columns: undefined };
  const stdout = { ...quiet, write: (text: string) => void (out += text) };
  const stderr = { ...quiet, write: (text: string) => void (errors += text) };
  const code = await dispatch(commands, [...argv, '--output=json'], { ...context, stdout, stderr });
  if (code > 1) throw new Error(errors.trim().replace(/^dkc: /, ''));
  return { path, text: jsonText(redactObject(JSON.parse(out))), ...(code === 0 ? {} : { note: redactText(`exit code 1: ${errors.trim().replace(/^dkc: /, '')}`) }) }; // prettier-ignore
}
