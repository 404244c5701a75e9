/** One line of docs/benchmarks.md: two things measured alternately in one run, and their ratio. */
export interface Figure {
  what: string;
  ours: Sample;
  /** The other measurement; absent if the aim is a plain number. */
  against?: Sample;
  /** The aim: for the ratio if there is another measurement, else for ours. Absent: the figure has no aim. */
  reach?: { atMost: number } | { atLeast: number };
}

export interface Sample {
  name: string;
  unit: string;
  values: readonly number[];
  /** The quantile that represents the sample. @default 0.5, the median */
  quantile?: number;
}

/** The `q` quantile of values. @throws RangeError without values */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const found = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))];
  if (found === undefined) throw new RangeError('there is nothing to take a quantile of');
  return found;
}

export const valueOf = ({ values, quantile: q = 0.5 }: Sample): number => quantile(values, q);

/** The ratio of our median to the other's, or our median alone. `met` is absent without an aim. */
export function judged({ ours, against, reach }: Figure): { value: number; met?: boolean } {
  const value = against ? valueOf(ours) / valueOf(against) : valueOf(ours);
  if (reach === undefined) return { value };
  return { value, met: 'atMost' in reach ? value <= reach.atMost : value >= reach.atLeast };
}

const short = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

function sampleText(sample: Sample): string {
  const { unit, values } = sample;
  const spread = values.length > 1 ? ` (${short(Math.min(...values))}..${short(Math.max(...values))}, n=${values.length})` : '';
  return `${short(valueOf(sample))} ${unit}${spread}`;
}

/** A Markdown table, as in docs/benchmarks.md. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { value, met } = judged(figure);
    const { what, ours, against, reach } = figure;
    const factor = against ? 'x' : ` ${ours.unit}`;
    const aim = reach === undefined ? '-' : 'atMost' in reach ? `<= ${reach.atMost}${factor}` : `>= ${reach.atLeast}${factor}`;
    const reached = met === undefined ? '-' : met ? 'yes' : '**no**';
    const result = against ? `${short(value)}x` : `${short(value)}${factor}`;
    return [what, aim, result, reached, sampleText(ours), against ? `${against.name}: ${sampleText(against)}` : '-'];
  });
  const head = ['what', 'reach', 'result', 'reached', 'ours: median (spread)', 'against'];
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
