import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { contentRef, digestFiles, sameContent } from '../../../../agent/store/content.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const files = (of: Record<string, string>) => new Map(Object.entries(of).map(([key, text]) => [key, new TextEncoder().encode(text)]));
const content = (of: Record<string, string>, key = 'kubelet') => contentRef(digestFiles(files(of)), key);

test('the content hash is what an admin computes with the tools of the node', async (t) => {
  const of = { kubelet: 'maxPods: 5\n', 'ca.crt': 'CA', B: '', a_1: 'ä', '.x': 'y' };
  const dir = await tempDir(t);
  for (const [key, text] of Object.entries(of)) writeFileSync(`${dir}/${key}`, text);
  const command = "sha256sum kubelet ca.crt B a_1 .x | sed 's/  / /' | LC_ALL=C sort | sha256sum";
  const [hash] = execFileSync('sh', ['-c', command], { cwd: dir, encoding: 'utf8' }).split(' ');
  assert.equal(content(of).contentSha256, hash);
});

test('content is the same in any order, and another one with any other key or byte', () => {
  const base = content({ a: '1', b: '2' });
  assert.ok(sameContent(base, content({ b: '2', a: '1' })));
  for (const other of [
    content({ a: '2', b: '1' }),
    content({ a: '1' }),
    content({ a: '1', b: '2', c: '' }),
    content({ a: '1', b: '2' }, 'a'),
  ]) {
    assert.ok(!sameContent(base, other));
  }
});
