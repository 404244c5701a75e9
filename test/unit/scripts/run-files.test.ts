import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { closingLines } from '../../../scripts/closing-lines.ts';
import { runFiles, SHARED } from '../../../scripts/run-files.ts';

const wait = 'await new Promise((resolve) => setTimeout(resolve, 20));';
const files: [string, string, number][] = [
  ['passes', wait, 0],
  ['fails', "throw new Error('wrong');", 1],
  ['leaves a rejection that nobody catches', `void Promise.reject(new Error('unhandled')); ${wait}`, 1],
  ['throws in a timer', `setTimeout(() => { throw new Error('late'); }, 1); ${wait}`, 1],
];

for (const options of [[SHARED], []])
  for (const [what, body, code] of files)
    test(`a file that ${what} ends the run with ${code}, ${options.length > 0 ? 'shared' : 'alone'}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'dkc-run-files-'));
      try {
        // Named as a file that runs without the hook where it does not share a process.
        const file = join(folder, 'agent/stories.test.ts');
        mkdirSync(dirname(file));
        writeFileSync(file, `import { test } from 'node:test';\ntest('one', async () => { ${body} });\n`);
        const ended = await runFiles([file], options, false);
        assert.equal(ended.code, code, ended.text);
        assert.ok(ended.cpuMs > 0, 'no processor time');
        assert.ok((closingLines(ended.text).get('tests') ?? 0) >= 1, ended.text);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
