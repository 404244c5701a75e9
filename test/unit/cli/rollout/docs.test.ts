import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const root = new URL('../../../../', import.meta.url);
const page = await readFile(new URL('docs/rollouts.md', root), 'utf8');

test('docs/rollouts.md shows every command of rollouts', () => {
  const shown = new Set([...page.matchAll(/^(?:\$ )?dkc rollout (\w+)/gm)].map(([, verb = '']) => verb));
  const all = ['abort', 'approve', 'create', 'diff', 'history', 'pause', 'resume', 'status', 'undo', 'watch'];
  assert.deepEqual([...shown].toSorted(), all);
});

const rows = [...page.matchAll(/^\|.* \| `(test\/[\w/-]+\.test\.ts)`: (.+) \|$/gm)].map(([, file = '', title = '']) => ({ file, title }));

test('docs/rollouts.md compares with ten tools, row by row with a test', () => {
  const table = /\| feature \| MCO .*?\n\n/s.exec(page)?.[0].trimEnd().split('\n') ?? [];
  assert.equal(table[0]?.split('|').length, 14, 'a feature, ten tools, a test');
  assert.ok(rows.length >= 20);
  assert.equal(table.length - 2, rows.length, 'a row names no test');
});

for (const { file, title } of new Map(rows.map((row) => [`${row.file} ${row.title}`, row])).values())
  test(`docs/rollouts.md names a test that is there: ${title}`, async () => {
    const text = await readFile(new URL(file, root), 'utf8');
    const titles = [...text.matchAll(/\btest\(\s*(['"`])(.*?)\1,/gs)].map(([, , given = '']) => given.replace(/^\$\{\w+\} /, ''));
    assert.ok(titles.includes(title), `${file} has: ${titles.join('; ')}`);
  });
