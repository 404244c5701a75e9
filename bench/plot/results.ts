import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantile, valueOf, type Figure, type Sample } from '../figure.ts';

/** Stored summary of a sample. */
export interface Summary {
  name: string;
  unit: string;
  /** The median, or the quantile that the benchmark judges. */
  value: number;
  /** Lowest and highest of `n` values; absent if there was only one. */
  low?: number;
  high?: number;
  n?: number;
}

export interface StoredFigure {
  what: string;
  ours: Summary;
  against?: Summary;
}

/** A file of bench/results: the results of one run of a benchmark. */
export interface StoredResult {
  /** The command line. */
  command: string;
  /** For a run that was stored by hand, without its date: the page with its table. */
  takenFrom?: string;
  /** End of the run, RFC 3339. */
  date?: string;
  /** The machine: text from the page, or values from Node. */
  machine: string | { cores: number; processor: string | undefined; memoryGb: number; node: string };
  /** Version and commit of dkc. */
  version?: string;
  figures: readonly StoredFigure[];
}

export const RESULTS = join(import.meta.dirname, '../results');

export const resultNames = [
  'agent',
  'daemonset',
  'daemonset-growth',
  'statefulset',
  'scheduler',
  'scheduler-core',
  'rollout-growth',
] as const;
export type ResultName = (typeof resultNames)[number];
export type Results = Readonly<Record<ResultName, StoredResult>>;

export function readResults(): Results {
  const read = (name: string): StoredResult => JSON.parse(readFileSync(join(RESULTS, `${name}.json`), 'utf8')) as StoredResult;
  return Object.fromEntries(resultNames.map((name) => [name, read(name)])) as unknown as Results;
}

function summaryOf(sample: Sample): Summary {
  const { name, unit, values } = sample;
  const spread = values.length > 1 ? { low: quantile(values, 0), high: quantile(values, 1), n: values.length } : {};
  return { name, unit, value: valueOf(sample), ...spread };
}

export const storedFigure = ({ what, ours, against }: Figure): StoredFigure => ({
  what,
  ours: summaryOf(ours),
  ...(against === undefined ? {} : { against: summaryOf(against) }),
});

/** The rows of all tables of figures on a page, in order. */
export function pageFigures(page: string): StoredFigure[] {
  return page.split('\n').flatMap((line) => {
    const [, what = '', , , , ours = '', against = ''] = line.split('|').map((cell) => cell.trim());
    const shown = summaryIn(ours, 'dkc');
    if (shown === undefined) return [];
    const [, name = '', rest = ''] = /^([^:]+): (.*)$/.exec(against) ?? [];
    const other = summaryIn(rest, name);
    return [{ what, ours: shown, ...(other === undefined ? {} : { against: other }) }];
  });
}

/** `60.2 MB (59.8..60.3, n=5)`. */
function summaryIn(text: string, name: string): Summary | undefined {
  const found = /^([\d.]+) ([^\s(]+)(?: \(([\d.]+?)\.\.([\d.]+), n=(\d+)\))?$/.exec(text);
  if (found === null) return undefined;
  const [, value, unit = '', low, high, n] = found;
  const spread = low === undefined ? {} : { low: Number(low), high: Number(high), n: Number(n) };
  return { name, unit, value: Number(value), ...spread };
}
