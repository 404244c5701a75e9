import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantile, valueOf, type Figure, type Sample } from '../figure.ts';

/** What is kept of a sample. */
export interface Summary {
  name: string;
  unit: string;
  /** The median, or the quantile that the benchmark judges. */
  value: number;
  /** Lowest and highest of `n`; absent where there was one. */
  low?: number;
  high?: number;
  n?: number;
}

export interface StoredFigure {
  what: string;
  ours: Summary;
  against?: Summary;
}

/** A file of bench/results: what one run of a benchmark gave. */
export interface StoredResult {
  /** As it was typed. */
  command: string;
  /** Of a run that was stored by hand: the page whose table it is. Its date was not kept. */
  takenFrom?: string;
  /** RFC 3339, of the end of the run. */
  date?: string;
  /** What it ran on: in words, as the page has it, or as Node tells it. */
  machine: string | { cores: number; processor: string | undefined; memoryGb: number; node: string };
  /** Of dkc, with its commit. */
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

/** The rows of all tables of figures on a page, in their order. */
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
