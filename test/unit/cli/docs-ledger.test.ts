import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readPage, writePage, type Command } from '../../support/console.ts';
import { commandsOn, keyOf, ledger } from '../../support/docs-ledger.ts';

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md')];
const told = ({ line, command }: Command): string => `line ${line}: ${command}`;

describe('every command of a page is played by a test, or the ledger says why not', () => {
  for (const page of pages) {
    const commands = commandsOn(page);
    test(page, () => {
      assert.deepEqual(commands.filter((part) => keyOf(page, part) === undefined).map(told), []);
      const used = new Set(commands.map((part) => keyOf(page, part)));
      assert.deepEqual(Object.keys(ledger[page] ?? {}).filter((key) => !used.has(key)), [], 'no command begins so'); // prettier-ignore
      for (const file of Object.values(ledger[page] ?? {}).filter((fate) => fate.startsWith('test/'))) {
        assert.ok(existsSync(file), file);
        assert.ok(readFileSync(file, 'utf8').includes(page.replace(/^docs\//, '')), `${file} does not name ${page}`);
      }
      assert.equal(writePage(readPage(readFileSync(page, 'utf8'))), readFileSync(page, 'utf8'));
    });
  }
  test('and no page is gone', () => assert.deepEqual(Object.keys(ledger).filter((page) => !pages.includes(page)), [])); // prettier-ignore
});
