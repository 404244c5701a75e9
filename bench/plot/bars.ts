import type { StoredFigure, Summary } from './results.ts';
import { element, picture, textElement } from './svg.ts';

export interface Row {
  label: string;
  figure: StoredFigure & { against: Summary };
}

export interface Chart {
  title: string;
  /** Below the title. */
  subtitle: string;
  /** Names of the two bars of a row. */
  ours: string;
  against: string;
  rows: readonly Row[];
}

const WIDTH = 800;
const LABELS = 330;
const BARS = 300;
const TOP = 92;
const ROW = 46;
const BAR = 13;

const style = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-size: 16px; font-weight: 600 }
    .quiet { fill: #59636e }
    .ours { fill: #1f6feb }
    .against { fill: #afb8c1 }
    .spread { stroke: #1f2328; stroke-opacity: .55 }
    .ground { fill: #fff }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .quiet { fill: #9198a1 }
      .ours { fill: #4493f8 }
      .against { fill: #656c76 }
      .spread { stroke: #e6edf3 }
      .ground { fill: #0d1117 }
    }
  `;

/** Two bars per row, ours above the other. Each row has a separate scale from 0, since units differ. A thin line marks lowest to highest. */
export function bars({ title, subtitle, ours, against, rows }: Chart): string {
  const height = TOP + rows.length * ROW + 8;
  const legend = [
    element('rect', { class: 'ours', x: LABELS, y: 61, width: BAR, height: BAR, rx: 2 }),
    textElement(LABELS + 20, 72, ours),
    element('rect', { class: 'against', x: LABELS + 150, y: 61, width: BAR, height: BAR, rx: 2 }),
    textElement(LABELS + 170, 72, against),
  ];
  const lines = [
    element('rect', { class: 'ground', width: WIDTH, height, rx: 6 }),
    textElement(16, 28, title, { class: 'title' }),
    textElement(16, 48, subtitle, { class: 'quiet' }),
    ...legend,
    ...rows.flatMap((row, at) => rowLines(row, TOP + at * ROW)),
  ];
  const told = rows.map(({ label, figure }) => `${label}: ${amount(figure.ours)}, ${against} ${amount(figure.against)}`);
  return picture({ width: WIDTH, height }, { title, desc: `${subtitle} ${told.join('; ')}.`, style }, lines);
}

function rowLines({ label, figure: { ours, against } }: Row, y: number): string[] {
  const most = Math.max(...[ours, against].flatMap(({ value, high = value }) => [value, high]));
  const scale = (value: number): number => Math.round((value / most) * BARS * 10) / 10;
  const bar = (summary: Summary, kind: 'ours' | 'against', top: number): string[] => {
    const { value, low, high } = summary;
    const end = LABELS + scale(Math.max(value, high ?? value));
    const middle = top + BAR / 2;
    return [
      element('rect', { class: kind, x: LABELS, y: top, width: Math.max(1, scale(value)), height: BAR, rx: 2 }),
      ...(low === undefined || high === undefined
        ? []
        : [element('line', { class: 'spread', x1: LABELS + scale(low), x2: LABELS + scale(high), y1: middle, y2: middle })]),
      textElement(end + 8, top + 11, amount(summary), kind === 'ours' ? {} : { class: 'quiet' }),
    ];
  };
  const ratio = textElement(LABELS - 16, y + 20, `${Number((ours.value / against.value).toPrecision(2))}x`, {
    class: 'quiet',
    'text-anchor': 'end',
  });
  return [textElement(16, y + 20, label), ratio, ...bar(ours, 'ours', y), ...bar(against, 'against', y + BAR + 3)];
}

/** Three digits, as on the page. */
const short = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

const amount = ({ value, unit }: Summary): string => `${short(value)} ${unit}`;
