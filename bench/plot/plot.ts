import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bars } from './bars.ts';
import { charts } from './charts.ts';
import { readResults } from './results.ts';

export const PLOTS = join(import.meta.dirname, '../../docs/plots');

/** `npm run bench -- --plot`: draws the charts of bench/results. @returns the pictures, by file name */
export function plotted(): Map<string, string> {
  return new Map(Object.entries(charts(readResults())).map(([name, chart]) => [`${name}.svg`, bars(chart)]));
}

export function writePlots(): void {
  mkdirSync(PLOTS, { recursive: true });
  for (const [name, svg] of plotted()) {
    writeFileSync(join(PLOTS, name), svg);
    console.log(`docs/plots/${name}`);
  }
}
