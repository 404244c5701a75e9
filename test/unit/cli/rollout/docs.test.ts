import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const root = new URL('../../../../', import.meta.url);
const page = await readFile(new URL('docs/rollouts.md', root), 'utf8');

const rows = [...page.matchAll(/^\|.* \| `(test\/[\w/-]+\.test\.ts)`: (.+) \|$/gm)].map(([, file = '', title = '']) => ({ file, title }));

test('docs/rollouts.md names every event of a rollout', async () => {
  const planned = await Promise.all(['plan', 'forward', 'back'].map((name) => readFile(new URL(`controllers/rollout/${name}.ts`, root), 'utf8')));
  const quiet = new Set(/QUIET = new Set\(\[(.*)\]\)/.exec(planned.join())?.[1]?.match(/\w+/g));
  const said = planned.flatMap((text) => [...text.matchAll(/\b(reason: |say\((?:'[A-Z]\w+', (?='))?)'([A-Z]\w+)'/g)]);
  const reasons = new Set(said.flatMap(([, before, name = '']) => (before?.startsWith('say') || !quiet.has(name) ? [name] : [])));
  assert.ok(reasons.size > 18 && reasons.has('RevisionCreated') && reasons.has('Resume'), [...reasons].join());
  const events = /^Events on the rollout: .*$/m.exec(page)?.[0] ?? '';
  assert.deepEqual([...reasons].filter((name) => !events.includes(`\`${name}\``)), []);
}); // prettier-ignore

for (const { file, title } of new Map(rows.map((row) => [`${row.file} ${row.title}`, row])).values())
  test(`docs/rollouts.md names a test that is there: ${title}`, async () => {
    const text = await readFile(new URL(file, root), 'utf8');
    const titles = [...text.matchAll(/\btest\(\s*(['"`])(.*?)\1,/gs)].map(([, , given = '']) => given.replace(/^\$\{\w+\} /, ''));
    assert.ok(titles.includes(title), `${file} has: ${titles.join('; ')}`);
  });
