import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { plotted, PLOTS } from '../../../bench/plot/plot.ts';
import { pageFigures, readResults, resultNames } from '../../../bench/plot/results.ts';

const page = readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8');
const results = readResults();

test('docs/plots holds what the stored results give, and the page shows each; npm run bench -- --plot draws it anew', () => {
  const svgs = readdirSync(PLOTS).filter((name) => name.endsWith('.svg'));
  const there = new Map(svgs.map((name) => [name, readFileSync(join(PLOTS, name), 'utf8')]));
  assert.deepEqual(there, new Map([...plotted()].toSorted(([a], [b]) => a.localeCompare(b))));
  for (const name of plotted().keys()) assert.match(page, new RegExp(`!\\[[^\\]]{10,}\\]\\(plots/${name}\\)`));
});

test('figures of bench/results that were taken from the page are figures of the page', () => {
  const shown = new Set(pageFigures(page).map((figure) => JSON.stringify(figure)));
  for (const name of resultNames) {
    const { takenFrom, date, figures } = results[name];
    assert.ok(figures.length > 0, name);
    if (takenFrom === undefined) assert.match(date ?? '', /^\d{4}-\d\d-\d\dT/);
    else assert.deepEqual(figures.filter((figure) => !shown.has(JSON.stringify(figure))), [], name); // prettier-ignore
  }
});
