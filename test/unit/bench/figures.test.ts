import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { judged, table, type Figure } from '../../../bench/figure.ts';
import { plotted, PLOTS } from '../../../bench/plot/plot.ts';
import { pageFigures, readResults, resultNames, storedFigure } from '../../../bench/plot/results.ts';

const page = readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8');
const results = readResults();

const memory: Figure = {
  what: 'memory',
  ours: { name: 'agent', unit: 'MB', values: [60, 62, 61] },
  against: { name: 'empty', unit: 'MB', values: [40, 40, 40] },
  reach: { atMost: 1.25 },
};
const rate: Figure = { what: 'rate', ours: { name: 'ours', unit: '/s', values: [5] }, reach: { atLeast: 5 } };

test('an aim is judged on the ratio of the medians, or on the value where nothing is compared', () => {
  assert.deepEqual(judged(memory), { value: 1.525, met: false });
  assert.deepEqual(judged({ ...memory, reach: { atMost: 1.525 } }), { value: 1.525, met: true });
  assert.deepEqual([judged(rate).met, judged({ ...rate, reach: { atLeast: 6 } }).met], [true, false]);
  const { reach: _, ...shown } = memory;
  assert.deepEqual(judged(shown), { value: 1.525 });
});

test('the table says plainly what is not reached, and is read back as a run stores it', () => {
  const [, , first] = table([memory, rate]).split('\n');
  const cells = (first ?? '').split('|').map((cell) => cell.trim());
  const of = '61.0 MB (60.0..62.0, n=3)';
  assert.deepEqual(cells, ['', 'memory', '<= 1.25x', '1.52x', '**no**', of, 'empty: 40.0 MB (40.0..40.0, n=3)', '']);
  const ours = { name: 'dkc', unit: 'MB', values: [60.2, 59.8, 60.3] };
  const one = { ...memory, ours, against: { name: 'empty', unit: 'MB', values: [41.8] } };
  assert.deepEqual(pageFigures(table([one])), [storedFigure(one)]);
});

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
