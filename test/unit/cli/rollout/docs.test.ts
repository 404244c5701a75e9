import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const root = new URL('../../../../', import.meta.url);
const page = await readFile(new URL('docs/rollouts.md', root), 'utf8');

const rows = [...page.matchAll(/^\|.* \| `(test\/[\w/-]+\.test\.ts)`: (.+) \|$/gm)].map(([, file = '', title = '']) => ({ file, title }));

for (const { file, title } of new Map(rows.map((row) => [`${row.file} ${row.title}`, row])).values())
  test(`docs/rollouts.md names a test that is there: ${title}`, async () => {
    const text = await readFile(new URL(file, root), 'utf8');
    const titles = [...text.matchAll(/\btest\(\s*(['"`])(.*?)\1,/gs)].map(([, , given = '']) => given.replace(/^\$\{\w+\} /, ''));
    assert.ok(titles.includes(title), `${file} has: ${titles.join('; ')}`);
  });
