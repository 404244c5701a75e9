import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { bars } from '../../../../bench/plot/bars.ts';
import { charts } from '../../../../bench/plot/charts.ts';
import { plotted, PLOTS } from '../../../../bench/plot/plot.ts';
import { pageFigures, readResults, resultNames, storedFigure } from '../../../../bench/plot/results.ts';
import { table, type Figure } from '../../../../bench/figure.ts';

const page = readFileSync(new URL('../../../../docs/benchmarks.md', import.meta.url), 'utf8');
const results = readResults();

describe('docs/plots', () => {
  test('holds what the stored results give; npm run bench -- --plot draws it anew', () => {
    const there = new Map(readdirSync(PLOTS).filter((name) => name.endsWith('.svg')).map((name) => [name, readFileSync(join(PLOTS, name), 'utf8')])); // prettier-ignore
    assert.deepEqual(there, new Map([...plotted()].toSorted(([a], [b]) => a.localeCompare(b))));
  });

  test('is shown on the page, each with a text for those who see none', () => {
    for (const name of plotted().keys()) assert.match(page, new RegExp(`!\\[[^\\]]{10,}\\]\\(plots/${name}\\)`));
  });

  test('says title, description and values without its picture', () => {
    const [chart] = Object.values(charts(results));
    assert.ok(chart);
    const svg = bars({ ...chart, title: 'A < B & "C"' });
    assert.match(svg, /role="img" aria-labelledby="title desc"/);
    assert.match(
      svg,
      /<title id="title">A &lt; B &amp; &quot;C&quot;<\/title>\n {2}<desc id="desc">.*memory, idle with two watches: 62\.2 MB, empty Node 41\.8 MB;/,
    );
    assert.match(svg, /prefers-color-scheme: dark/);
  });
});

describe('bench/results', () => {
  const shown = new Set(pageFigures(page).map((figure) => JSON.stringify(figure)));
  for (const name of resultNames)
    test(`${name}: figures that were taken from the page are the page's, and a run says when and where it was`, () => {
      const { takenFrom, date, figures, command } = results[name];
      assert.ok(figures.length > 0);
      assert.match(command, /npm run bench/);
      if (takenFrom === undefined) assert.match(date ?? '', /^\d{4}-\d\d-\d\dT/);
      else assert.deepEqual(figures.filter((figure) => !shown.has(JSON.stringify(figure))), []); // prettier-ignore
    });

  test('a figure is read from the page as it is stored from a run', () => {
    const figure: Figure = {
      what: 'memory',
      ours: { name: 'dkc', unit: 'MB', values: [60.2, 59.8, 60.3] },
      against: { name: 'empty Node', unit: 'MB', values: [41.8] },
      reach: { atMost: 1.25 },
    };
    assert.deepEqual(pageFigures(table([figure])), [storedFigure(figure)]);
    assert.deepEqual(storedFigure(figure).ours, { name: 'dkc', unit: 'MB', value: 60.2, low: 59.8, high: 60.3, n: 3 });
  });

  test('a chart of a figure that nobody stored says so', () => {
    const without = { ...results, agent: { ...results.agent, figures: [] } };
    assert.throws(() => charts(without), /bench\/results\/agent\.json has no ratio "agent memory/);
  });
});
