import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { alerts } from '../../../deploy/monitoring.ts';
import { rows } from '../../../deploy/board.ts';
import { asked, codeMetrics } from '../../support/code-metrics.ts';

const metrics = await codeMetrics();
const queries = rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)));

/** What Prometheus adds to each series. */
const ADDED = ['job', 'instance', 'namespace', 'pod'];

/** What is wrong with a query, by what the code counts. */
function problems(expr: string): string[] {
  const found = asked(expr);
  const labelsOf = (name: string): Set<string> | undefined => {
    if (name === 'up') return new Set(ADDED);
    const bare = name.replace(/_(bucket|sum|count)$/, '');
    const metric = metrics.find((one) => one.name === name || (one.type === 'histogram' && one.name === bare));
    return metric && new Set([...metric.labels, ...ADDED, ...(name.endsWith('_bucket') ? ['le'] : [])]);
  };
  if (found.length === 0) return [`${expr} names no metric`];
  return found.flatMap(({ metric, labels }) => {
    const has = labelsOf(metric);
    return has === undefined
      ? [`there is no ${metric}`]
      : labels.filter((label) => !has.has(label)).map((label) => `${metric} has no ${label}`);
  });
}

for (const { alert, expr } of alerts) test(`${alert} asks for what the code counts`, () => assert.deepEqual(problems(expr), []));
for (const expr of queries) test(`the board asks for what the code counts: ${expr}`, () => assert.deepEqual(problems(expr), []));

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

test('docs/metrics.md has every alert and every metric: RECORD=1 writes its tables', async () => {
  const path = new URL('../../../docs/metrics.md', import.meta.url);
  const page = await readFile(path, 'utf8');
  const alertRows = alerts.map(
    (one) => `| \`${one.alert}\` | ${one.severity} | ${code(one.expr)} for ${one.for} | ${cell(one.summary)} | ${cell(one.description)} |`,
  );
  const sorted = metrics.toSorted((a, b) => a.of.localeCompare(b.of) || a.name.localeCompare(b.name));
  const metricRows = sorted.map(({ name, labels, type, help, of }) => `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(', ')} | ${type} | ${of} | ${cell(help)} |`); // prettier-ignore
  const table = (head: string, body: readonly string[]): string =>
    `| ${head} |\n|${head.replaceAll(/[^|]+/g, ' --- ')}|\n${body.join('\n')}\n`;
  const tables = [
    { under: '## Alerts\n', text: table('alert | severity | fires when | what it means | what to do', alertRows) },
    { under: '## Metrics\n', text: table('metric | labels | type | of | what it is', metricRows) },
  ];
  let wanted = page;
  for (const { under, text } of tables) {
    const from = wanted.indexOf('\n| ', wanted.indexOf(under)) + 1;
    const to = wanted.indexOf('\n\n', from) + 1;
    wanted = wanted.slice(0, from) + text + wanted.slice(to === 0 ? wanted.length : to);
  }
  if (process.env['RECORD'] !== undefined) await writeFile(path, wanted);
  assert.equal(await readFile(path, 'utf8'), wanted);
});
